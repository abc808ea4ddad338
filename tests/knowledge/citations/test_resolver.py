"""Citations that hold: they open at the exact lines, and still say what was cited when the document has changed."""

import asyncio

import pytest

from gaby.kernel.errors import Invalid, NotFound
from gaby.knowledge.citations.resolver import ResolvedCitation, shortened
from gaby.knowledge.models import KnowledgeDocument, KnowledgeSource
from tests.knowledge.scenes import KnowledgeScene

pytestmark = pytest.mark.promise("K5")

QUESTION = "the VPN says E-1042"


async def resolved(docs: KnowledgeScene, token: str) -> ResolvedCitation:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        return await docs.components.citations.resolve(session, token)


async def cited(docs: KnowledgeScene) -> tuple[KnowledgeSource, str, str]:
    source = await docs.filled()
    answer = await docs.components.answering.answer(docs.actor, QUESTION)
    token = answer.claims[0].citations[0]
    assert token.startswith("doc:docs/network.md#VPN#L")
    return source, token, (await resolved(docs, token)).text


async def test_every_hit_opens_at_its_exact_lines(docs: KnowledgeScene) -> None:
    await docs.filled()
    for question in ("unlock", "refund", QUESTION, "kitchen", "account deleted"):
        for hit in (await docs.search(question, everything=True)).hits:
            opened = await resolved(docs, f"[{hit.citation}]")
            assert opened.state == "current"
            assert hit.text.strip() in opened.text
            path = docs.folder / hit.uri
            lines = path.read_text().split("\n")[hit.first_line - 1 : hit.last_line]
            assert opened.text == "\n".join(lines)


async def test_a_kept_citation_says_when_its_document_has_not_changed(docs: KnowledgeScene) -> None:
    _, token, text = await cited(docs)
    now = await resolved(docs, token)
    assert (now.state, now.text) == ("current", text)
    assert now.cited_at is not None


async def test_lines_that_moved_are_found_where_they_are_now(docs: KnowledgeScene) -> None:
    source, token, text = await cited(docs)
    old = (docs.folder / "network.md").read_text()
    docs.write({"network.md": "# News\n\nSomething else stands here first.\n\n" + old})
    await docs.sync(source)
    now = await resolved(docs, token)
    assert (now.state, now.text) == ("moved", text)
    assert now.opened is not None
    assert now.opened.first_line == 5
    assert now.opened.text.strip() == text.strip()


async def test_a_changed_document_still_shows_what_was_cited(docs: KnowledgeScene) -> None:
    source, token, text = await cited(docs)
    docs.write({"network.md": "# VPN\n\nUse the new client.\n"})
    await docs.sync(source)
    now = await resolved(docs, token)
    assert (now.state, now.text) == ("changed", text)
    assert now.opened is not None
    assert "new client" in now.opened.text


async def test_a_document_that_is_gone_still_shows_what_was_cited(docs: KnowledgeScene) -> None:
    source, token, text = await cited(docs)
    (docs.folder / "network.md").unlink()
    await docs.sync(source)
    now = await resolved(docs, token)
    assert (now.state, now.text, now.opened) == ("gone", text, None)


async def test_a_removed_source_takes_its_citations_with_it(docs: KnowledgeScene) -> None:
    source, token, _ = await cited(docs)
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.sources.get(session, source.id)
        await docs.components.sources.remove(session, docs.actor, row)
    with pytest.raises(NotFound):
        await resolved(docs, token)


async def test_what_cannot_be_opened_says_what_to_do(docs: KnowledgeScene) -> None:
    await docs.filled()
    with pytest.raises(Invalid, match="look like doc:"):
        await resolved(docs, "page 3 of the manual")
    with pytest.raises(Invalid, match="result of a tool"):
        await resolved(docs, "tool:directory.find_user#1")
    with pytest.raises(NotFound):
        await resolved(docs, "doc:docs/nothing.md#L1")
    with pytest.raises(NotFound, match="only"):
        await resolved(docs, "doc:docs/network.md#L500-L501")


@pytest.mark.promise("M10")
async def test_a_large_document_is_shown_by_its_beginning_and_its_end(docs: KnowledgeScene) -> None:
    await docs.filled({"big.log": "".join(f"line {number}\n" for number in range(1, 20_001))})
    async with docs.gaby.database.read(docs.workspace_id) as session:
        whole = await docs.components.citations.open_named(session, "docs/big.log", 1, 100_000)
        short = shortened(whole, 100)
        some = await docs.components.citations.open(session, whole.document_id, 9_000, 3)
    assert short.text.startswith("line 1\nline 2\n")
    assert "line 20000" in short.text
    assert short.text.count("\n") < 110
    assert "doc:docs/big.log#L76-L" in short.text
    pointer = short.text.split("open ")[1].split(" ...")[0]
    assert (await resolved(docs, pointer)).text.startswith("line 76\n")
    assert (some.text, some.lines) == ("line 9000\nline 9001\nline 9002", whole.lines)


async def test_two_answers_may_cite_the_same_page_at_the_same_moment(docs: KnowledgeScene) -> None:
    """Two investigations that end together on two machines: neither may fail because of the other."""
    await docs.filled()
    [hit, *_] = (await docs.search(QUESTION)).hits
    cite = [(hit.citation, hit.document_id, hit.text)]
    began = asyncio.Event()

    async def other() -> None:
        await began.wait()
        async with docs.gaby.database.write(docs.workspace_id) as session:
            await docs.components.citations.store(session, cite)

    task = asyncio.create_task(other())
    async with docs.gaby.database.write(docs.workspace_id) as session:
        await docs.components.citations.store(session, cite)
        await session.flush()
        began.set()
        # The other has found that nobody has cited it yet, and waits for us.
        await asyncio.sleep(0.3)
    await task
    assert (await resolved(docs, hit.citation)).cited_at is not None
    async with docs.gaby.database.read(docs.workspace_id) as session:
        document = await session.get_one(KnowledgeDocument, (docs.workspace_id, hit.document_id))
        assert document.uses == 2
