"""Names that several tools take."""

from typing import Annotated

from pydantic import Field

UserId = Annotated[str, Field(min_length=1, max_length=200, description="A person's login, from find_users.")]
GroupName = Annotated[str, Field(min_length=1, max_length=200, description="The name (cn) of a group.")]
