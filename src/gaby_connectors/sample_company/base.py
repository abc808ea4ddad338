"""The connector of the sample company; the modules beside this one add its tools."""

from typing import Annotated, Any

from pydantic import Field

from gaby_connectors.sample_company.company import CompanyBackend
from gaby_connectors.sample_company.config import SampleCompanyConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ResultLabel

connector = Connector(
    "sample_company",
    version="1.0.0",
    instructions=(
        "The back office of Lanternfish, an invented company that watches over tills and signs in small shops. "
        "Begin with who is asking (search_users, get_account), then look at logins, billing, devices or integrations, "
        "and compare times with deploys, agent releases and incidents."
    ),
    config=SampleCompanyConfig,
    backend=CompanyBackend,
)

AccountId = Annotated[str, Field(description="An account's id, such as acc_01.", pattern=r"^acc_\d{2,}$")]
UserId = Annotated[str, Field(description="A user's id, such as usr_001.", pattern=r"^usr_\d{3,}$")]
TicketId = Annotated[str, Field(description="A ticket's id, such as tkt_201.", pattern=r"^tkt_\d{3,}$")]
Limit = Annotated[int, Field(ge=1, le=200, description="How many to give at most.")]


def minted(where: str, *names: str) -> dict[str, ResultLabel]:
    """Labels for fields that only the company itself can write."""
    return {f"{where}.{name}" if where else name: ResultLabel.SYSTEM for name in names}


def written(where: str, *names: str) -> dict[str, ResultLabel]:
    """Labels for fields that customers write."""
    return {f"{where}.{name}" if where else name: ResultLabel.EXTERNAL for name in names}


def listed(text: Any) -> list[str]:
    return [part.strip() for part in str(text).split(",") if part.strip()]
