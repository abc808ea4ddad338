"""Sources: who may add which, and what is refused with what to do."""

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from sqlalchemy import select

from gaby.audit.models import AuditRowRecord
from gaby.identity import Role
from gaby.kernel.errors import Invalid, NotFound
from gaby.knowledge.new_source import NewSource
from gaby.knowledge.source_service import ComesByItself, OnThisMachine, SourceExists
from tests.knowledge.scenes import KnowledgeScene

pytestmark = [
    pytest.mark.promise("K1"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


async def add(docs: KnowledgeScene, new: NewSource, *, role: Role | None = None) -> None:
    actor = docs.actor if role is None else replace(docs.actor, kind="user", permissions=role.permissions)
    async with docs.gaby.database.write(docs.workspace_id) as session:
        await docs.components.sources.add(session, actor, new)


@pytest.mark.parametrize(
    ("kind", "location"),
    [
        ("folder", "/srv/docs"),
        ("file", "/etc/hosts.txt"),
        ("tickets", "/srv/export.jsonl"),
        ("git", "/srv/repository"),
        ("git", "ssh://git@code.example/team/docs.git"),
    ],
)
async def test_what_uses_gabys_own_machine_needs_the_right_to_manage_it(
    docs: KnowledgeScene, kind: str, location: str
) -> None:
    with pytest.raises(OnThisMachine, match="gaby knowledge add"):
        await add(docs, NewSource("mine", kind, location), role=Role.OWNER)
    await add(docs, NewSource("mine", kind, location))


async def test_an_admin_adds_what_lies_elsewhere(docs: KnowledgeScene) -> None:
    await add(docs, NewSource("code", "git", "https://code.example/team/docs.git"), role=Role.ADMIN)
    await add(docs, NewSource("page", "url", "https://docs.example/guide"), role=Role.ADMIN)


async def test_a_token_is_sealed_and_shown_nowhere(docs: KnowledgeScene) -> None:
    await add(docs, NewSource("wiki", "notion", "https://api.notion.com", {}, "secret-token-4711"))
    async with docs.gaby.database.read(docs.workspace_id) as session:
        row = await docs.components.sources.named(session, "wiki")
    assert row.secret is not None
    assert "4711" not in row.secret
    assert "4711" not in repr(NewSource("wiki", "notion", "", {}, "secret-token-4711"))


@pytest.mark.promise("S14")
async def test_a_changed_audience_holds_at_once_and_is_audited(docs: KnowledgeScene) -> None:
    await add(docs, NewSource("docs", "folder", str(docs.folder), audience="public"))
    sources = docs.components.sources
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await sources.named(session, "docs")
        await sources.set_audience(session, docs.actor, row, "staff")
        with pytest.raises(Invalid, match="public, customers or staff"):
            await sources.set_audience(session, docs.actor, row, "everybody")
    query = select(AuditRowRecord).where(AuditRowRecord.workspace_id == docs.workspace_id)
    async with docs.gaby.database.read(docs.workspace_id) as session:
        assert (await sources.named(session, "docs")).audience == "staff"
        told = {row.event: orjson.loads(row.payload) for row in await session.scalars(query)}
    assert told["knowledge.source_added"]["audience"] == "public"
    changed = told["knowledge.audience_changed"]
    assert (changed["source"], changed["before"], changed["audience"]) == ("docs", "public", "staff")


async def test_bad_wishes_are_refused(docs: KnowledgeScene) -> None:
    await add(docs, NewSource("docs", "folder", str(docs.folder)))
    with pytest.raises(SourceExists):
        await add(docs, NewSource("docs", "folder", str(docs.folder)))
    with pytest.raises(Invalid, match="no kind of source"):
        await add(docs, NewSource("x", "telepathy", "/"))
    with pytest.raises(ComesByItself):
        await add(docs, NewSource("x", "learned", ""))
    for every in (timedelta(seconds=59), timedelta(days=367)):
        with pytest.raises(Invalid, match="every minute"):
            await add(docs, NewSource("x", "folder", str(docs.folder), every=every))
    async with docs.gaby.database.read(docs.workspace_id) as session:
        with pytest.raises(NotFound, match="gaby knowledge list"):
            await docs.components.sources.named(session, "nothing")
