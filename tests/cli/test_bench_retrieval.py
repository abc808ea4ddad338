"""`gaby bench retrieval`: anybody's own documents and questions, measured through the real pipeline."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gaby.knowledge.retrieval.metrics import ndcg, recall
from tests.support.command import Finished, Shell

pytestmark = pytest.mark.promise("K4")

TOPICS = {
    "lock": ("Locked accounts", "An account is locked after five failed sign-ins. An operator unlocks it."),
    "refund": ("Refunds", "A refund is paid to the card that was charged, within five working days."),
    "vpn": ("VPN certificates", "The VPN shows E-1042 when its certificate has expired. Renew it in the portal."),
    "scanner": ("Scanners", "A scanner that beeps twice has lost its dock. Hold the trigger for ten seconds."),
    "export": ("Exports", "An export of many rows is sent by mail as soon as the file is complete."),
    "invoice": ("Invoices", "Invoices show the number of the purchase order when the contract says so."),
    "printer": ("Label printers", "Blank labels come out when the ribbon is upside down. Turn the ribbon around."),
    "backup": ("Backups", "Backups run every night and are kept for ninety days in another region."),
    "seats": ("Seats", "The team plan has twenty-five seats; more of them are added in the settings."),
    "hook": ("Webhooks", "A webhook that answers with an error is tried again for one day."),
}
ASKED = {
    "lock": "my account is locked after failed sign-ins",
    "refund": "when is the refund paid to my card?",
    "vpn": "E-1042",
    "scanner": "the scanner beeps twice",
    "export": "how is an export with many rows sent?",
    "invoice": "the purchase order is missing on our invoices",
    "printer": "labels come out blank",
    "backup": "how long are backups kept?",
    "seats": "we need more seats on the team plan",
    "hook": "is a webhook tried again after an error?",
}
GROUPS = ("acme", "globex", "initech")

Row = dict[str, Any]


def corpus() -> list[Row]:
    """Thirty documents: every customer has a page on every topic, each in nearly the same words."""
    return [
        {"id": f"{group}-{topic}", "title": title, "text": f"{text} Thus it is at {group}.", "group": group}
        for group in GROUPS
        for topic, (title, text) in TOPICS.items()
    ]


def questions(group: str = "globex") -> list[Row]:
    return [
        {"id": topic, "query": query, "relevant": [f"{group}-{topic}"], "group": group}
        for topic, query in ASKED.items()
    ]


def lines(path: Path, rows: Sequence[Row | str]) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return str(path)


def bench(
    shell: Shell, folder: Path, documents: Sequence[Row | str], asked: Sequence[Row | str], *more: str
) -> Finished:
    files = ("--corpus", lines(folder / "corpus.jsonl", documents), "--queries", lines(folder / "queries.jsonl", asked))
    return shell("bench", "retrieval", *files, *more)


def test_the_figures_of_own_documents_stand_beside_those_of_plain_bm25(bare_shell: Shell, tmp_path: Path) -> None:
    told = bench(bare_shell, tmp_path, corpus(), questions(), "--group", "--json")
    assert told.code == 0, told.err
    figures = told.json()
    assert set(figures) == {
        "documents",
        "passages",
        "queries",
        "model",
        "recall@5",
        "recall@10",
        "nDCG@10",
        "plain BM25",
        "index_seconds",
        "index_cpu_seconds",
        "query_ms_p50",
        "query_ms_p95",
        "memory_mb",
    }
    assert (figures["documents"], figures["passages"], figures["queries"]) == (30, 30, 10)
    assert figures["model"] == "local/wordllama"
    assert figures["recall@5"] == figures["recall@10"] == 1.0
    assert figures["nDCG@10"] > 0.95
    assert set(figures["plain BM25"]) == {"recall@5", "recall@10", "nDCG@10"}
    assert 0 < figures["plain BM25"]["nDCG@10"] <= 1
    assert figures["query_ms_p50"] <= figures["query_ms_p95"]
    assert not (tmp_path / "home").exists(), "it measures in a place of its own"


def test_for_eyes_the_figures_are_a_table(bare_shell: Shell, tmp_path: Path) -> None:
    told = bench(bare_shell, tmp_path, corpus()[:3], questions("acme")[:3])
    assert told.code == 0, told.err
    assert "nDCG@10" in told.out
    assert "plain BM25" in told.out


def test_with_groups_only_the_own_group_is_searched(bare_shell: Shell, tmp_path: Path) -> None:
    """The same questions of acme, whose answers stand only in the pages of globex."""
    astray = [{**row, "group": "acme"} for row in questions("globex")]
    alone = bench(bare_shell, tmp_path, corpus(), astray, "--group", "--json").json()
    assert alone["recall@10"] == alone["nDCG@10"] == 0
    assert alone["plain BM25"]["recall@10"] == 0
    together = bench(bare_shell, tmp_path, corpus(), astray, "--json").json()
    assert together["recall@10"] == 1.0
    assert together["plain BM25"]["recall@10"] == 1.0


def test_a_group_that_does_not_exist_finds_nothing(bare_shell: Shell, tmp_path: Path) -> None:
    asked = questions()
    asked[0] = {**asked[0], "group": "hooli"}
    del asked[1]["group"]
    figures = bench(bare_shell, tmp_path, corpus(), asked, "--group", "--json").json()
    assert figures["recall@10"] == 0.8
    assert figures["plain BM25"]["recall@10"] <= 0.8


def test_what_shares_no_word_with_a_question_is_not_found_by_chance(bare_shell: Shell, tmp_path: Path) -> None:
    asked = [{"id": "1", "query": "zebra", "relevant": ["acme-lock"]}]
    figures = bench(bare_shell, tmp_path, corpus()[:3], asked, "--json").json()
    assert figures["plain BM25"]["recall@10"] == 0


def test_rows_may_hold_every_character_that_json_may(bare_shell: Shell, tmp_path: Path) -> None:
    zebra = "The zebra\u2028lives\u0085here, " + "in the grass " * 9
    texts = [zebra, "A lion sleeps there.", "# Head\n\n---\n\nThe tiger swims."]
    rows = [json.dumps({"id": f"d/{place}", "text": text}, ensure_ascii=False) for place, text in enumerate(texts)]
    asked = [{"id": "1", "query": "where does the zebra live?", "relevant": ["d/0"]}]
    told = bench(bare_shell, tmp_path, ["\ufeff" + rows[0], "", "  ", *rows[1:]], asked, "--json")
    assert told.code == 0, told.err
    assert (told.json()["documents"], told.json()["recall@5"]) == (3, 1.0)


BROKEN: list[tuple[list[Row | str], list[Row | str], tuple[str, ...]]] = [
    ([{"id": "a", "text": "A."}, "{broken"], [{}], ("corpus.jsonl, line 2",)),
    ([{"id": "a", "text": "A."}, "", {"id": "b"}], [{}], ("corpus.jsonl, line 3", "text")),
    ([{"id": "", "text": "A."}], [{}], ("corpus.jsonl, line 1", "id")),
    ([{"id": "a", "text": 7}], [{}], ("corpus.jsonl, line 1", "text")),
    (["[]"], [{}], ("corpus.jsonl, line 1",)),
    (
        [{"id": "a", "text": "A."}],
        [{"id": "1", "query": "", "relevant": ["a"]}],
        ("queries.jsonl, line 1", "query"),
    ),
    (
        [{"id": "a", "text": "A."}],
        [{"id": "1", "query": "q", "relevant": ["a"]}, {"id": "2", "query": "q", "relevant": []}],
        ("queries.jsonl, line 2", "relevant"),
    ),
    ([], [{}], ("corpus.jsonl has no rows", "one JSON object on each line")),
    ([{"id": "a", "text": "A."}], ["", " "], ("queries.jsonl has no rows",)),
    (
        [{"id": "a", "text": "A."}, {"id": "blank", "text": " "}],
        [{"id": "1", "query": "q", "relevant": ["a"]}],
        ("1 document cannot be read", "blank"),
    ),
]


@pytest.mark.parametrize(("documents", "asked", "complaints"), BROKEN)
def test_broken_rows_are_named_with_their_line(
    bare_shell: Shell, tmp_path: Path, documents: list[Row | str], asked: list[Row | str], complaints: tuple[str, ...]
) -> None:
    told = bench(bare_shell, tmp_path, documents, asked, "--json")
    assert (told.code, told.out) == (2, "")
    assert "Traceback" not in told.err
    for complaint in complaints:
        assert complaint in told.err


def test_files_that_cannot_be_read_are_named(bare_shell: Shell, tmp_path: Path) -> None:
    queries = lines(tmp_path / "queries.jsonl", questions())
    missing = bare_shell("bench", "retrieval", "--corpus", str(tmp_path / "none.jsonl"), "--queries", queries)
    assert missing.code == 2
    assert "none.jsonl cannot be read" in missing.err
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    binary = bare_shell("bench", "retrieval", "--corpus", str(tmp_path / "binary.jsonl"), "--queries", queries)
    assert binary.code == 2
    assert "binary.jsonl cannot be read" in binary.err


def test_the_figures_are_what_they_are_called() -> None:
    assert recall(["a", "b", "c"], ["b", "z"], 5) == 0.5
    assert recall(["a", "b", "c"], ["c"], 2) == 0
    assert ndcg(["a", "b"], ["a"], 10) == 1
    assert 0 < ndcg(["b", "a"], ["a"], 10) < 1
    assert ndcg([], ["a"], 10) == 0
