"""Knowledge from the command line: added, searched, asked, opened, learned, and wrong input said in a sentence."""

import asyncio
import io
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from gaby.app import Gaby, build
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.models import KnowledgeDocument as Document
from gaby.settings import load
from tests.knowledge.learning.resolutions import INVOICE, SCANNER
from tests.knowledge.scenes import PAGES
from tests.support.command import Finished, Shell

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

VPN = "the VPN says E-1042"


@pytest.fixture
def acme(shell: Shell) -> Shell:
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    return shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {**PAGES, "empty.md": ""}.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "docs"


@pytest.fixture
def filled(acme: Shell, folder: Path) -> Shell:
    assert acme("knowledge", "add", "docs", "folder", str(folder), "--json").json()["documents"] == len(PAGES)
    return acme


@pytest.fixture
def staged(acme: Shell, database_url: str, tmp_path: Path) -> list[str]:
    """Two candidates wait for a person."""

    async def work(gaby: Gaby, actor: Actor) -> list[str]:
        async with gaby.database.write(actor.workspace_id) as session:
            rows = [
                (await gaby.knowledge.components.candidates.stage(session, actor, each))[1]
                for each in (SCANNER, INVOICE)
            ]
        return [str(row.id) for row in rows if row is not None]

    return within(database_url, tmp_path, work)


def within(
    url: str, folder: Path, work: Callable[[Gaby, Actor], Awaitable[list[str]]], later: timedelta = timedelta(0)
) -> list[str]:
    """What something else than the command line does with the same database."""

    async def run() -> list[str]:
        settings = load({"GABY_DATABASE_URL": url, "GABY_HOME": str(folder / "home")}, env_file=None).settings
        gaby = build(settings, clock=ManualClock(datetime.now(UTC) + later))
        async with gaby.running(background=False):
            async with gaby.database.read(SYSTEM) as session:
                [place] = await gaby.identity.workspaces.all(session)
            return await work(gaby, system_actor("test", WorkspaceId(place.id)))

    return asyncio.run(run())


def refused(ended: Finished, complaint: str, codes: set[int]) -> None:
    assert ended.code in codes, ended
    assert complaint in ended.err, ended
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.promise("K1")
def test_a_folder_is_added_read_listed_and_read_again(
    acme: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    added = acme("knowledge", "add", "docs", "folder", "docs", "--every", "12h")
    assert added.code == 0, added.err
    assert "1 document has a problem: `gaby knowledge show docs`" in added.err
    [listed] = acme("knowledge", "list", "--json").json()
    assert (listed["name"], listed["state"], listed["documents"], listed["failed"]) == ("docs", "done", len(PAGES), 1)
    assert listed["location"] == str(folder), "a relative path means the same from anywhere"
    assert "docs" in acme("knowledge", "list").out
    (folder / "kitchen.txt").unlink()
    [synced] = acme("knowledge", "sync", "--json").json()
    assert (synced["documents"], synced["removed"]) == (len(PAGES) - 1, 1)
    assert acme("knowledge", "sync", "docs").code == 0


@pytest.mark.promise("K4")
def test_a_search_shows_passages_with_citations_and_reasons(filled: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    found = filled("knowledge", "search", VPN, "--explain")
    assert "[doc:docs/network.md#VPN#L1-L3]" in found.out
    assert "E-1042" in found.out
    assert " = " in found.out
    told = filled("knowledge", "search", VPN, "--limit", "1", "--json").json()
    [hit] = told["hits"]
    assert (hit["title"], hit["citation"]) == ("VPN", "doc:docs/network.md#VPN#L1-L3")
    assert hit["score"] == pytest.approx(sum(each["contribution"] for each in hit["reasons"]))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"Hello,\n{VPN}.\nAda"))
    assert "network.md" in filled("knowledge", "search", "-").out
    nothing = filled("knowledge", "search", "vaccinations of dogs in Iceland")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing fits" in nothing.err
    assert "--everything" in nothing.err
    assert filled("knowledge", "search", "vaccinations of dogs in Iceland", "--everything").out


@pytest.mark.promise("K5")
def test_an_answer_names_its_sources_and_they_open(filled: Shell) -> None:
    told = filled("knowledge", "ask", "the VPN says E-1042, what can I do?")
    assert "Renew the certificate" in told.out
    assert "[doc:docs/network.md#VPN#L1-L3]" in told.out
    assert "no model was used" in told.err
    answer = filled("knowledge", "ask", "the VPN says E-1042, what can I do?", "--json").json()
    assert all(claim["citations"] and claim["holds"] for claim in answer["claims"])
    for token in ("doc:docs/network.md#VPN#L1-L3", "[doc:docs/network.md#VPN#L1-L3]"):
        assert "certificate has expired" in filled("knowledge", "show", token).out
    opened = filled("knowledge", "show", "doc:docs/network.md#VPN#L1-L3", "--json").json()
    assert opened["state"] == "current"


def test_documents_and_sources_are_shown(filled: Shell) -> None:
    for address in ("docs/billing/refunds.md", "doc:docs/billing/refunds.md", "[doc:docs/billing/refunds.md]"):
        assert filled("knowledge", "show", address).out.startswith("# Refunds\n")
    assert filled("knowledge", "show", "docs/accounts.md", "--line", "3", "--lines", "1").out == "## Lock-outs\n"
    shown = filled("knowledge", "show", "docs")
    assert "empty.md" in shown.out
    [failure] = filled("knowledge", "show", "docs", "--json").json()["failures"]
    assert failure["uri"] == "empty.md"
    assert failure["reason"].endswith(".")


@pytest.mark.promise("K8")
def test_what_nobody_needs_is_listed(filled: Shell, database_url: str, tmp_path: Path) -> None:
    assert "Nothing is stale" in filled("knowledge", "documents", "--stale").err
    listed = filled("knowledge", "documents", "--source", "docs", "--json").json()
    assert {each["uri"] for each in listed} == set(PAGES)
    assert not any(each["stale"] for each in listed)
    assert "docs/network.md" in filled("knowledge", "documents").out

    async def age(gaby: Gaby, actor: Actor) -> list[str]:
        async with gaby.database.write(actor.workspace_id) as session:
            old = update(Document).where(Document.workspace_id == actor.workspace_id, Document.uri == "kitchen.txt")
            await session.execute(old.values(changed_at=gaby.clock.now() - timedelta(days=181)))
        return []

    within(database_url, tmp_path, age)
    [stale] = filled("knowledge", "documents", "--stale", "--json").json()
    assert (stale["uri"], stale["stale"]) == ("kitchen.txt", True)


def test_a_source_is_removed_when_a_person_says_so(filled: Shell) -> None:
    assert filled("knowledge", "remove", "docs", stdin="n\n").code == 1
    assert len(filled("knowledge", "list", "--json").json()) == 1
    removed = filled("knowledge", "remove", "docs", stdin="y\n")
    assert removed.code == 0
    assert f"its {len(PAGES)} documents are removed" in removed.err
    assert filled("knowledge", "list", "--json").json() == []
    assert filled("knowledge", "search", VPN, "--everything", "--json").json()["hits"] == []


def test_removing_without_being_asked_is_for_programs(filled: Shell) -> None:
    assert filled("knowledge", "remove", "docs", "--yes", "--json").json() == {
        "source": "docs",
        "documents": len(PAGES),
    }


def test_a_schedule_is_set_and_taken_back(filled: Shell) -> None:
    assert filled("knowledge", "schedule", "docs", "30m", "--json").json()["every_seconds"] == 1800
    never = filled("knowledge", "schedule", "docs", "never", "--json").json()
    assert (never["every_seconds"], never["due_at"]) == (None, None)


@pytest.mark.promise("S14")
def test_a_source_is_for_the_staff_unless_somebody_says_otherwise(acme: Shell, folder: Path) -> None:
    (folder / "prices.md").write_text("---\naudience: public\n---\n# Prices\n\nThe lamp costs 20 euros.\n")
    added = acme("knowledge", "add", "docs", "folder", str(folder))
    assert "Its audience is staff: only colleagues are shown its pages" in added.err
    assert acme("knowledge", "list", "--json").json()[0]["audience"] == "staff"
    told = {each["uri"]: each["audience"] for each in acme("knowledge", "documents", "--json").json()}
    assert told.pop("prices.md") == "public"
    assert set(told.values()) == {"staff"}


@pytest.mark.promise("S14")
def test_an_audience_is_given_changed_and_shown_everywhere(acme: Shell, folder: Path) -> None:
    given = acme("knowledge", "add", "docs", "folder", str(folder), "--audience", "public", "--json").json()
    assert given["audience"] == "public"
    changed = acme("knowledge", "audience", "docs", "customers")
    assert "Its audience is customers: every verified requester may be answered from it" in changed.err
    assert "customers" in acme("knowledge", "list").out
    assert "customers" in acme("knowledge", "show", "docs").out
    assert acme("knowledge", "show", "docs", "--json").json()["audience"] == "customers"
    assert {each["audience"] for each in acme("knowledge", "documents", "--json").json()} == {"customers"}
    refused(acme("knowledge", "audience", "docs", "everybody"), "everybody", {2})
    refused(acme("knowledge", "audience", "nothing", "staff"), "no source", {4})
    assert acme("knowledge", "list", "--json").json()[0]["audience"] == "customers"


@pytest.mark.promise("S14")
def test_in_a_terminal_the_audience_is_asked_for(acme: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.StringIO("everybody\ncustomers\n")
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)
    added = acme("knowledge", "add", "docs", "folder", str(folder))
    assert added.code == 0, added.err
    assert "public: anybody may be answered from it" in added.err
    assert "Its audience is customers" in added.err


@pytest.mark.promise("K8")
def test_gaps_are_shown_and_closed(filled: Shell) -> None:
    assert "found an answer" in filled("knowledge", "gaps").err
    for question in ("Which vaccinations does my dog need?", "Which vaccinations does a dog need?"):
        assert filled("knowledge", "ask", question).out == "Nothing was found that answers this.\n"
    [gap] = filled("knowledge", "gaps", "--json").json()
    assert gap["asked"] == 2
    assert "vaccinations" in filled("knowledge", "gaps").out
    assert filled("knowledge", "gaps", "--close", gap["id"], "--json").json() == []


@pytest.mark.promise("K7")
def test_a_candidate_is_accepted_and_found_at_once_and_taken_back(
    acme: Shell, staged: list[str], tmp_path: Path
) -> None:
    assert SCANNER.title in acme("knowledge", "learned").out
    edited = tmp_path / "edited.md"
    edited.write_text("Hold the trigger for ten seconds when a scanner beeps twice.\n")
    left = acme("knowledge", "learned", "--accept", staged[0], "--text-file", str(edited), "--json").json()
    assert [each["id"] for each in left] == [staged[1]]
    [accepted] = acme("knowledge", "learned", "--state", "accepted", "--json").json()
    assert (accepted["id"], accepted["text"]) == (staged[0], edited.read_text())
    question = "the scanner beeps twice"
    [hit] = acme("knowledge", "search", question, "--limit", "1", "--json").json()["hits"]
    assert hit["citation"].startswith(f"doc:learned/{staged[0]}.md#")
    again = acme("knowledge", "learned", "--accept", staged[0])
    assert again.code == 5
    assert "decided this already" in again.err
    assert acme("knowledge", "learned", "--unlearn", staged[0], "--reason", "It was wrong.").code == 0
    assert acme("knowledge", "search", question, "--everything", "--json").json()["hits"] == []


@pytest.mark.promise("K7")
def test_a_candidate_is_rejected_with_a_reason(acme: Shell, staged: list[str]) -> None:
    refused(acme("knowledge", "learned", "--reject", staged[0]), "Say why", {2})
    assert acme("knowledge", "learned", "--reject", staged[0], "--reason", "Only once.").code == 0
    [rejected] = acme("knowledge", "learned", "--state", "rejected", "--json").json()
    assert (rejected["id"], rejected["reason"]) == (staged[0], "Only once.")
    assert "Nothing is archived" in acme("knowledge", "learned", "--state", "archived").err
    empty = acme("knowledge", "learned", "--accept", staged[1], "--text-file", "/dev/null")
    refused(empty, "a title and a text", {2})


def test_where_there_is_nothing_the_commands_say_what_to_do(acme: Shell) -> None:
    for command in (("list",), ("sync",), ("search", VPN)):
        ended = acme("knowledge", *command)
        assert (ended.code, ended.out) == (0, "")
        assert "gaby knowledge add" in ended.err
    assert acme("knowledge", "ask", VPN).out == "Nothing was found that answers this.\n"
    assert "no document" in acme("knowledge", "documents").err
    assert "Nothing is staged" in acme("knowledge", "learned").err
    for command in ("list", "documents", "gaps", "learned"):
        if command != "gaps":
            assert acme("knowledge", command, "--json").json() == []


NOBODY = "01890000-0000-7000-8000-000000000000"


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("add", "Docs!", "folder", "."), "small letters"),
    (("add", "learned", "folder", "."), "taken"),
    (("add", "docs", "fax", "."), "no kind of source"),
    (("add", "docs", "folder", "nowhere"), "nowhere"),
    (("add", "docs", "folder", ".", "-o", "colour"), "NAME=VALUE"),
    (("add", "docs", "folder", ".", "-o", "colour=red"), "colour"),
    (("add", "docs", "folder", ".", "--every", "soon"), "no span of time"),
    (("add", "docs", "folder", ".", "--every", "1s"), "every minute"),
    (("add", "docs", "folder", ".", "--workspace", "globex"), "no workspace"),
    (("sync", "nothing"), "no source"),
    (("schedule", "nothing", "1h"), "no source"),
    (("remove", "nothing", "--yes"), "no source"),
    (("search", " "), "empty"),
    (("search", VPN, "--limit", "0"), "--limit"),
    (("ask", ""), "empty"),
    (("show", "nothing"), "no source"),
    (("show", "docs/nothing.md"), "no document"),
    (("show", "doc:docs/nothing.md#L1"), "no such document"),
    (("show", "tool:desk.find#1"), "result of a tool"),
    (("documents", "--source", "nothing"), "no source"),
    (("gaps", "--close", "nonsense"), "--close"),
    (("gaps", "--close", NOBODY), "no such gap"),
    (("learned", "--accept", NOBODY), "no such candidate"),
    (("learned", "--unlearn", NOBODY), "no such candidate"),
    (("learned", "--state", "lost"), "staged, accepted"),
    (("learned", "--accept", NOBODY, "--reject", NOBODY), "one candidate"),
    (("learned", "--text-file", "nowhere.md"), "--accept"),
    (("learned", "--accept", NOBODY, "--text-file", "nowhere.md"), "cannot be read"),
]


def test_wrong_input_gets_a_sentence(acme: Shell) -> None:
    for arguments, complaint in WRONG:
        refused(acme("knowledge", *arguments), complaint, {2, 4})
    assert acme("knowledge", "list", "--json").json() == []


def test_a_source_is_checked_before_its_audience_is_asked_for(acme: Shell, folder: Path) -> None:
    misspelt = acme("knowledge", "add", "docs", "foldr", str(folder))
    assert misspelt.code == 2
    assert "There is no kind of source 'foldr'. Did you mean folder?" in misspelt.err
    assert "learned" not in misspelt.err, "it cannot be added"
    for arguments, complaint in WRONG[:8]:
        told = acme("knowledge", *arguments).err
        assert complaint in told
        assert "--audience" not in told
    taken = acme("knowledge", "add", "docs", "folder", str(folder), "--no-sync")
    assert "--audience" in taken.err
    assert "--audience" not in acme("knowledge", "add", "docs", "folder", str(folder), "--no-sync").err


def test_a_name_that_is_taken_and_lines_that_are_not_there_are_refused(filled: Shell, folder: Path) -> None:
    refused(filled("knowledge", "add", "docs", "folder", str(folder)), "of that name already", {5})
    refused(filled("knowledge", "show", "docs/network.md", "--line", "99"), "lines", {4})


def test_a_folder_that_is_not_there_yet_may_be_added_for_later(acme: Shell, tmp_path: Path) -> None:
    later = str(tmp_path / "later")
    refused(acme("knowledge", "add", "docs", "folder", later), "--no-sync", {2})
    assert acme("knowledge", "list", "--json").json() == [], "a slip of the hand leaves nothing behind"
    assert acme("knowledge", "add", "docs", "folder", later, "--no-sync", "--json").json()["state"] == "new"


def test_a_folder_that_is_gone_fails_and_the_others_are_read(filled: Shell, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert filled("knowledge", "add", "other", "folder", str(other)).code == 0
    other.rmdir()
    (folder / "new.md").write_text("# New\n\nSomething new.\n")
    synced = filled("knowledge", "sync")
    assert synced.code == 1
    assert "other:" in synced.err
    assert "Traceback" not in synced.err
    listed = {each["name"]: each for each in filled("knowledge", "list", "--json").json()}
    assert (listed["docs"]["state"], listed["docs"]["documents"]) == ("done", len(PAGES) + 1)
    assert listed["other"]["state"] == "failed"


@pytest.mark.promise("S14")
def test_an_unknown_audience_in_a_front_matter_is_told_until_it_is_mended(acme: Shell, tmp_path: Path) -> None:
    page = tmp_path / "wiki" / "vpn.md"
    page.parent.mkdir()
    page.write_text("---\naudience: Publik\n---\n# VPN\n\nRestart it.\n")
    added = acme("knowledge", "add", "wiki", "folder", str(page.parent), "--audience", "public")
    assert "1 document has a problem: `gaby knowledge show wiki`" in added.err
    shown = acme("knowledge", "show", "wiki", "--json").json()
    assert (shown["documents"], len(shown["failures"])) == (1, 1)
    told = shown["failures"][0]["reason"]
    assert told.startswith("Its front matter says `audience: Publik`, which is unknown, so it is for staff only")
    assert told.endswith("did you mean public?")
    assert acme("knowledge", "sync", "wiki", "--json").json()[0]["failed"] == 1
    page.write_text("---\naudience: Public\n---\n# VPN\n\nRestart it.\n")
    assert acme("knowledge", "sync", "wiki", "--json").json()[0]["failed"] == 0


def test_an_empty_folder_is_said_to_hold_nothing(acme: Shell, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    added = acme("knowledge", "add", "wiki", "folder", str(empty))
    assert added.code == 0
    assert "done, nothing was found" in added.out
    assert "Nothing was found there." in added.err
    assert "done, nothing was found" in acme("knowledge", "sync").out
    (empty / "vpn.md").write_text("# VPN\n\nRestart it.\n")
    assert "nothing was found" not in acme("knowledge", "sync").out


@pytest.mark.promise("K1")
def test_files_of_kinds_that_are_not_read_are_counted_and_named(acme: Shell, tmp_path: Path) -> None:
    place = tmp_path / "handbook"
    place.mkdir()
    (place / "handbook.docx").write_bytes(b"PK")
    added = acme("knowledge", "add", "wiki", "folder", str(place))
    told = "1 file was skipped: handbook.docx (.docx is not read)."
    assert told in added.err
    assert "done, nothing could be read" in added.out
    assert "Nothing was found" not in added.err
    (place / "vpn.md").write_text("# VPN\n\nRestart it.\n")
    assert f"wiki: {told}" in acme("knowledge", "sync").err
    shown = acme("knowledge", "show", "wiki")
    assert told in shown.err
    assert "Every other file could be read." in shown.err
    assert "Every document" not in shown.err
    expected = {"count": 1, "kinds": {".docx": 1}, "files": ["handbook.docx"]}
    for command in (("show", "wiki"), ("sync",), ("list",)):
        found = acme("knowledge", *command, "--json").json()
        assert (found if isinstance(found, dict) else found[0])["skipped"] == expected
    for number in range(1, 8):
        (place / f"photo{number}.png").write_bytes(b"PNG")
    told = "8 files were skipped: handbook.docx (.docx is not read), photo1.png (.png is not read), "
    synced = acme("knowledge", "sync").err
    assert told in synced
    assert " and 3 more. In all: 7 .png, 1 .docx." in synced
    for file in (*place.glob("*.png"), *place.glob("*.docx")):
        file.unlink()
    assert "skipped" not in acme("knowledge", "sync").err
    assert "Every document could be read." in acme("knowledge", "show", "wiki").err
