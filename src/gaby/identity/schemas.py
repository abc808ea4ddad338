"""What the API takes and gives about people, sign-ins, groups and keys."""

from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from gaby.identity.groups import GroupWithMembers
from gaby.identity.models import ApiKey, Invitation, SignIn, Workspace
from gaby.identity.people import Member
from gaby.identity.roles import Role
from gaby.kernel.actors import Permission
from gaby.kernel.ids import ApiKeyId, GroupId, PersonId, SessionId, WorkspaceId
from gaby.kernel.text import CleanStr, CleanText

Email = Annotated[str, CleanText(max_length=320, min_length=3, one_line=True), Field(examples=["ada@acme.example"])]
Password = Annotated[str, CleanText(max_length=1024, min_length=1)]
Token = Annotated[str, CleanText(max_length=200, min_length=1, one_line=True)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be a time before the year 10000") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class _IdentityIn(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SignInIn(_IdentityIn):
    email: Email
    password: Password
    workspace: Annotated[
        str | None, Field(max_length=63, description="The workspace whose invitation made the account, if one did.")
    ] = None


class PasswordIn(_IdentityIn):
    current: Password
    new: Password


class ChooseWorkspaceIn(_IdentityIn):
    workspace_id: WorkspaceId


class WorkspaceIn(_IdentityIn):
    slug: Annotated[str, Field(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$")]
    name: CleanStr


class WorkspaceNameIn(_IdentityIn):
    name: CleanStr


class InviteIn(_IdentityIn):
    email: Email
    role: Role


class RoleIn(_IdentityIn):
    role: Role


class GroupIn(_IdentityIn):
    name: Annotated[str, CleanText(max_length=100, min_length=1, one_line=True)]


class ApiKeyIn(_IdentityIn):
    name: Annotated[str, CleanText(max_length=100, min_length=1, one_line=True)]
    scopes: Annotated[list[Permission], Field(min_length=1, max_length=len(Permission))]
    expires_at: Moment | None = None


class WorkspaceOut(BaseModel):
    id: WorkspaceId
    slug: str
    name: str

    @classmethod
    def from_domain(cls, workspace: Workspace) -> Self:
        return cls(id=WorkspaceId(workspace.id), slug=workspace.slug, name=workspace.name)


class MyWorkspaceOut(WorkspaceOut):
    role: Role


class MeOut(BaseModel):
    id: PersonId
    email: str
    name: str


class SessionOut(BaseModel):
    person: MeOut
    workspace_id: WorkspaceId | None
    workspaces: list[MyWorkspaceOut]
    permissions: list[Permission]
    csrf_token: Annotated[str, Field(description="Send it as X-CSRF-Token with every request that changes something.")]


class SignInOut(BaseModel):
    id: SessionId
    created_at: datetime
    last_seen_at: datetime
    user_agent: str
    address: str
    current: bool

    @classmethod
    def from_domain(cls, sign_in: SignIn, *, current: SessionId) -> Self:
        return cls(
            id=SessionId(sign_in.id),
            created_at=sign_in.created_at,
            last_seen_at=sign_in.last_seen_at,
            user_agent=sign_in.user_agent,
            address=sign_in.address,
            current=sign_in.id == current,
        )


class EndedSignInsOut(BaseModel):
    ended: int


class MemberOut(BaseModel):
    id: PersonId
    email: str
    name: str
    role: Role
    since: datetime

    @classmethod
    def from_domain(cls, member: Member) -> Self:
        return cls(id=member.id, email=member.email, name=member.name, role=member.role, since=member.since)


class InvitationOut(BaseModel):
    email: str
    role: Role
    expires_at: datetime
    url: Annotated[str, Field(description="Give it to the person. It is shown only here and works once.")]

    @classmethod
    def from_domain(cls, invitation: Invitation, url: str) -> Self:
        return cls(email=invitation.email, role=Role(invitation.role), expires_at=invitation.expires_at, url=url)


class GroupOut(BaseModel):
    id: GroupId
    name: str
    members: list[PersonId]

    @classmethod
    def from_domain(cls, group: GroupWithMembers) -> Self:
        return cls(id=group.id, name=group.name, members=group.members)


class ApiKeyOut(BaseModel):
    id: ApiKeyId
    name: str
    prefix: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def from_domain(cls, key: ApiKey) -> Self:
        return cls.model_validate(key, from_attributes=True)


class NewApiKeyOut(BaseModel):
    key: ApiKeyOut
    text: Annotated[str, Field(description="The whole key. It is shown only here.")]
