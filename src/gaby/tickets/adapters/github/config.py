"""What an admin says of repositories on GitHub."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from gaby.tickets.adapters.web import checked_address
from gaby.tickets.canonical_ticket import Priority

REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
_PRIORITIES: dict[str, Priority] = {
    **dict.fromkeys(("critical", "urgent", "blocker", "p0", "sev1"), "critical"),
    **dict.fromkeys(("high", "p1", "sev2"), "high"),
    **dict.fromkeys(("medium", "normal", "p2", "sev3"), "medium"),
    **dict.fromkeys(("low", "minor", "p3", "p4", "sev4"), "low"),
}


def _repository(name: str) -> str:
    if not REPOSITORY.fullmatch(name) or name.endswith(("/.", "/..")):
        raise ValueError("must be written as owner/name")
    return name


class GitHubConfig(BaseModel):
    repositories: Annotated[
        list[Annotated[str, AfterValidator(_repository)]],
        Field(min_length=1, max_length=50, description="Whose issues are tickets, each as owner/name."),
    ]
    token: Annotated[
        SecretStr,
        Field(description="A token that may read and write issues; for webhooks it may manage those as well."),
    ]
    api_url: Annotated[
        str,
        AfterValidator(checked_address),
        Field(description="GitHub's interface. On an Enterprise Server: https://HOST/api/v3."),
    ] = "https://api.github.com"
    labels: Annotated[list[str], Field(description="Only issues with all of these labels are tickets. None: all.")] = []
    since: Annotated[
        datetime | None, Field(description="Issues that changed after this time are fetched. None: from now on.")
    ] = None
    priorities: Annotated[
        dict[str, Priority],
        Field(description="What labels mean, in small letters. `priority: high` and `priority/high` count as `high`."),
    ] = _PRIORITIES
    close_resolved: Annotated[bool, Field(description="Whether an issue that Gaby resolved by itself is closed.")] = (
        True
    )
    webhook_secret: Annotated[
        SecretStr, Field(description="The webhooks' secret. Gaby makes one when it sets them up and there is none.")
    ] = SecretStr("")
