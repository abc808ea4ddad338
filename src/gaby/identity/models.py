"""Tables of workspaces and people."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from gaby.kernel.database import Base, WorkspaceOwned


class Workspace(Base):
    __tablename__ = "workspaces"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(63), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime]


class Person(Base):
    """An account. It may belong to several workspaces; what it may do is said by each membership.

    An invitation's link proves the link and not the address, so an account that was made with one is known by the
    address only in the workspace that vouched for it, its home. Another workspace may have another account at the same
    address, and neither learns of the other. Accounts that were made on the machine itself have no home.
    """

    __tablename__ = "people"
    __table_args__ = (
        Index("ix_people_email_home_workspace_id", "email", "home_workspace_id", unique=True),
        Index(
            "ix_people_email_of_installation",
            "email",
            unique=True,
            sqlite_where=text("home_workspace_id IS NULL"),
            postgresql_where=text("home_workspace_id IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320))
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime]
    password_hash: Mapped[str | None] = mapped_column(String(200), default=None)
    manages_installation: Mapped[bool] = mapped_column(default=False)
    disabled_at: Mapped[datetime | None] = mapped_column(default=None)
    home_workspace_id: Mapped[UUID | None] = mapped_column(default=None)


class Membership(Base):
    __tablename__ = "memberships"
    __table_args__ = (
        CheckConstraint("role IN ('viewer', 'operator', 'curator', 'admin', 'owner')", name="role"),
        Index(None, "person_id"),
    )

    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id"), primary_key=True)
    person_id: Mapped[UUID] = mapped_column(ForeignKey("people.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime]


class Invitation(Base, WorkspaceOwned):
    """A link that lets somebody join. It says nothing about whether they are known in another workspace."""

    __tablename__ = "invitations"
    __table_args__ = (ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),)

    email: Mapped[str] = mapped_column(String(320))
    role: Mapped[str] = mapped_column(String(20))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None] = mapped_column(default=None)
    invited_by: Mapped[UUID | None] = mapped_column(default=None)
    """The person who invites. The link is worth no more than what they may give when it is used."""
    invited_by_key: Mapped[UUID | None] = mapped_column(default=None)


class Group(Base, WorkspaceOwned):
    __tablename__ = "groups"
    __table_args__ = (
        UniqueConstraint("workspace_id", "name"),
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
    )

    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime]


class GroupMember(Base):
    __tablename__ = "group_members"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "group_id"], ["groups.workspace_id", "groups.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "person_id"], ["memberships.workspace_id", "memberships.person_id"], ondelete="CASCADE"
        ),
    )

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    person_id: Mapped[UUID] = mapped_column(primary_key=True)


class SignIn(Base):
    """One browser that is signed in. The cookie holds a token; only its hash is kept."""

    __tablename__ = "sign_ins"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    person_id: Mapped[UUID] = mapped_column(ForeignKey("people.id"), index=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    created_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    current_workspace_id: Mapped[UUID | None] = mapped_column(ForeignKey("workspaces.id"), default=None)
    revoked_at: Mapped[datetime | None] = mapped_column(default=None)
    user_agent: Mapped[str] = mapped_column(String(300), default="")
    address: Mapped[str] = mapped_column(String(64), default="")


class ApiKey(Base, WorkspaceOwned):
    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id"], ["workspaces.id"]),
        Index("ix_api_keys_parent", "workspace_id", "parent_id"),
    )

    name: Mapped[str] = mapped_column(String(100))
    prefix: Mapped[str] = mapped_column(String(16), unique=True)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("people.id"), default=None)
    """The person whom the key follows; nobody for a key that was made on the machine itself."""
    parent_id: Mapped[UUID | None] = mapped_column(default=None)
    """The key that made this one."""
    expires_at: Mapped[datetime | None] = mapped_column(default=None)
    last_used_at: Mapped[datetime | None] = mapped_column(default=None)
    revoked_at: Mapped[datetime | None] = mapped_column(default=None)


class Bootstrap(Base):
    """The one-time link for the first admin. At most one row ever counts, and once used there is no other."""

    __tablename__ = "bootstrap"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    issued_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None] = mapped_column(default=None)


class SignInLimit(Base):
    """How often a password was tried in the present window. The bucket is a hash, so no address is kept here."""

    __tablename__ = "sign_in_limits"

    bucket: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(index=True)
    attempts: Mapped[int]


class KnownDevice(Base):
    """A browser in which somebody has given the right password before."""

    __tablename__ = "known_devices"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    person_id: Mapped[UUID] = mapped_column(ForeignKey("people.id"), index=True)
    created_at: Mapped[datetime]
