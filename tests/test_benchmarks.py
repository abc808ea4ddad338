"""Every benchmark still runs: at a tiny size, for what it prints and not for how fast it is."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.promise("X2")]

ROOT = Path(__file__).parents[1]
BENCHMARKS = {
    "audit": "--seconds 0.1 --rows 2000 --folder {folder}",
    "commands": "--runs 1",
    "embeddings": "--passages 4",
    "idle_connectors": "--connectors 2 --seconds 0.2",
    "kernel": "--statements 20",
    "knowledge": "--passages 20 --measure asking",
    "loop": "--runs 1 --no-peer",
    "queue": "--tickets 4 --workers 1",
    "redaction": "--data {folder}",
    "retrieval": "--data {folder}",
    "skills": "--calls 5",
    "startup": "--runs 1",
    "text_stalls": "--size 400",
    "tickets": "--tickets 1 --rounds 1 --closed 20 --engine sqlite",
    "tool_call": "--calls 2 --rounds 1 --no-proxy --folder {folder}",
}


def test_no_benchmark_is_left_out() -> None:
    programs = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in path.read_text()
    }
    assert programs == set(BENCHMARKS)
    assert set(re.findall(r"benchmarks\.(\w+)", (ROOT / "Makefile").read_text())) == programs


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_prints_figures(name: str, tmp_path: Path) -> None:
    run_benchmark(name, BENCHMARKS[name], tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knowledge", "--passages 20"),
        ("tickets", "--tickets 2 --rounds 1 --closed 0 20"),
        ("queue", "--tickets 16 --workers 1 2"),
    ],
)
def test_what_takes_longer_prints_figures_too(name: str, arguments: str, tmp_path: Path) -> None:
    run_benchmark(name, arguments, tmp_path)


def run_benchmark(name: str, options: str, tmp_path: Path) -> None:
    write_data_sets(tmp_path)
    arguments = options.format(folder=tmp_path).split()
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # An aim that is missed makes the exit code 1: so small, and beside other tests, that says nothing.
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads((done.stdout.splitlines() or [done.stderr])[-1])


def write_data_sets(folder: Path) -> None:
    """In the formats of the public sets, with a handful of rows each."""
    topics = ("cards", "loans", "transfers", "accounts")
    text = "Write to ada@acme.example about it."
    write_rows(folder / "synth.jsonl", [{"text": text, "spans": [["EMAIL_ADDRESS", 9, 25]]}])
    write_rows(
        folder / "banking_kb/documents.jsonl",
        [{"id": each, "title": each, "content": f"How {each} are opened, changed and closed."} for each in topics],
    )
    write_rows(
        folder / "banking_kb/queries.jsonl",
        [{"query": f"how are {each} closed?", "required_documents": [each]} for each in topics],
    )
    schema = {"properties": {"name": {"description": "whose it is"}}}
    tools = [
        {"server": "bank", "name": each, "description": f"List {each}.", "input_schema": schema} for each in topics
    ]
    write_rows(folder / "tools/livemcp_tools.jsonl", tools)
    requests = [{"query": f"list my {each}", "tools": [each]} for each in topics]
    write_rows(folder / "tools/livemcp_queries.jsonl", requests)
    write_rows(
        folder / "tools/ultratool_tools.jsonl",
        [{"id": each, "desc": f"List {each}.", "domain": ["bank"]} for each in topics],
    )
    write_rows(folder / "tools/ultratool_requests.jsonl", requests)
    (folder / "runbooks").mkdir()
    for each in topics:
        meaning = f"The service behind {each} answers slowly or not at all for some minutes."
        page = f"# {each}\n\n## Meaning\n\n{meaning}\n\n## Mitigation\n\nRestart the service of {each}.\n"
        (folder / "runbooks" / f"{each}.md").write_text(page)


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
