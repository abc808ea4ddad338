"""The host with servers that we did not write: they start, show their tools, answer, fail in words, and go."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from gaby.mcp import McpHost, ServerDefinitions, ServerKey, ServerState, StdioLaunch, ToolCallResult
from gaby.mcp.calls import call
from tests.mcp.scenes import ACME, BYTE, ask, is_running, path, until

pytestmark = pytest.mark.promise("M1", "M2")

EVERYTHING = ServerKey(ACME, "everything")
FILES = ServerKey(ACME, "files")
MEMORY = ServerKey(ACME, "memory")


def launch(servers: Path, name: str, *args: str, env: dict[str, str] | None = None) -> StdioLaunch:
    return StdioLaunch("node", (str(servers / name / "dist" / "index.js"), *args), env or {})


@pytest.fixture
async def everything(host: McpHost, foreign_servers: Path) -> McpHost:
    await host.configure(EVERYTHING, launch(foreign_servers, "server-everything", "stdio"))
    return host


@pytest.fixture
async def files(host: McpHost, foreign_servers: Path, tmp_path: Path) -> McpHost:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "note.txt").write_text("hello from acme")
    await host.configure(FILES, launch(foreign_servers, "server-filesystem", str(shared)))
    return host


async def test_everything_shows_its_tools_and_answers(everything: McpHost) -> None:
    definitions = await everything.definitions(EVERYTHING)
    assert len(definitions.tools) > 5
    assert "echo" in definitions.by_name
    # It says nothing about Gaby's manifest, so nothing is known about what its tools may do.
    assert definitions.manifest_version is None
    assert all(tool.manifest is None for tool in definitions.tools)
    assert ServerDefinitions.model_validate_json(definitions.model_dump_json()).fingerprint == definitions.fingerprint
    answered = await ask(everything, "echo", key=EVERYTHING, message="hello")
    assert "hello" in answered.text
    total = await ask(everything, "get-sum", key=EVERYTHING, a=19, b=23)
    assert "42" in total.text


async def test_everything_answers_fifty_calls_at_one_time(everything: McpHost) -> None:
    calls = [ask(everything, "get-sum", key=EVERYTHING, a=number, b=1) for number in range(50)]
    answers = await asyncio.gather(*calls)
    assert all(str(number + 1) in each.text for number, each in enumerate(answers))
    assert ServerState.CRASHED not in path(everything, EVERYTHING)


async def test_everything_sends_pictures_which_are_named_and_not_shown(everything: McpHost) -> None:
    answered = await ask(everything, "get-tiny-image", key=EVERYTHING)
    assert "[image image/png" in answered.text
    assert len(answered.text) < 1_000


async def test_everything_sends_a_structured_result_as_its_schema_says(everything: McpHost) -> None:
    answered = await ask(everything, "get-structured-content", key=EVERYTHING, location="New York")
    assert isinstance(answered.structured, dict)
    assert not answered.is_error


async def test_everything_refuses_wrong_arguments_in_words(everything: McpHost) -> None:
    answered = await ask(everything, "get-sum", key=EVERYTHING, a="not a number", b=1)
    assert answered.is_error
    assert answered.text


async def test_everything_does_not_see_the_environment_of_gaby(
    host: McpHost, foreign_servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GABY_MASTER_KEY", "of Gaby alone")
    await host.configure(
        EVERYTHING, launch(foreign_servers, "server-everything", "stdio", env={"TOKEN": "for the server"})
    )
    environment = json.loads((await ask(host, "get-env", key=EVERYTHING)).text)
    assert environment["TOKEN"] == "for the server"
    assert "GABY_MASTER_KEY" not in environment


async def test_files_are_read_and_a_path_outside_is_refused(files: McpHost, tmp_path: Path) -> None:
    answered = await ask(files, "read_text_file", key=FILES, path=str(tmp_path / "shared/note.txt"))
    assert answered.text == "hello from acme"
    refused = await ask(files, "read_text_file", key=FILES, path="/etc/hostname")
    assert refused.is_error
    assert "Access denied" in refused.text


async def test_a_file_is_written_once(files: McpHost, tmp_path: Path) -> None:
    target = tmp_path / "shared/new.txt"
    arguments = {"path": str(target), "content": "written"}
    outcome = await call(files, FILES, "write_file", arguments, repeatable=False)
    assert isinstance(outcome, ToolCallResult)
    assert not outcome.is_error
    assert target.read_text() == "written"


async def test_a_large_file_arrives_with_its_beginning_and_end(files: McpHost, tmp_path: Path) -> None:
    (tmp_path / "shared/large.txt").write_text("begin" + "x" * 3_000_000 + "end")
    answered = await ask(files, "read_text_file", key=FILES, path=str(tmp_path / "shared/large.txt"))
    assert answered.spilled is not None
    assert answered.spilled.head.startswith("begin")


async def test_memory_remembers_and_workspaces_do_not_share_it(
    host: McpHost, foreign_servers: Path, tmp_path: Path
) -> None:
    other = ServerKey(BYTE, "memory")
    for key in (MEMORY, other):
        env = {"MEMORY_FILE_PATH": str(tmp_path / f"{key.workspace_id}.jsonl")}
        await host.configure(key, launch(foreign_servers, "server-memory", env=env))
    entity = {"name": "Ada", "entityType": "person", "observations": ["works at Acme"]}
    await ask(host, "create_entities", key=MEMORY, entities=[entity], repeatable=False)
    assert "works at Acme" in (await ask(host, "read_graph", key=MEMORY)).text
    assert "Ada" not in (await ask(host, "read_graph", key=other)).text


async def test_a_foreign_server_that_is_killed_is_started_again(files: McpHost, tmp_path: Path) -> None:
    note = str(tmp_path / "shared/note.txt")
    await ask(files, "read_text_file", key=FILES, path=note)
    pid = files.status(FILES).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await until(lambda: ServerState.CRASHED in path(files, FILES))
    assert (await ask(files, "read_text_file", key=FILES, path=note)).text == "hello from acme"
    assert files.status(FILES).pid != pid


async def test_a_foreign_server_goes_when_it_is_removed(files: McpHost) -> None:
    await files.definitions(FILES)
    pid = files.status(FILES).pid
    assert pid is not None
    await files.remove(FILES)
    assert not is_running(pid)
