"""`python -m tests.agent.chaos.zygote SOCKET`: a process that has read all of Gaby, and forks off whoever is killed.

It stays single-threaded. A line of JSON on its stdin starts a process; when that ends, a line on its stdout says how.
Connectors are forked from it as well: `launcher.py` asks for them over the socket and hands over its own pipes.
"""

import contextlib
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback
from array import array
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy.orm import configure_mappers

from gaby.llm.embeddings.local_embed import local_embed
from gaby.mind.triage import triage
from tests.agent.chaos.errand import run
from tests.support.shared_costs import share_costs

_FDS = 3
_NEEDED = (
    "gaby_connectors.sample_company.tools",
    "gaby_connectors.sdk.serve",
    "tests.agent.chaos.shop",
    "gaby.agent.tool_step",
    "gaby.agent.incident_grouping",
    "gaby.agent.verdict_step",
    "gaby.agent.loop",
    "gaby.agent.planning_step",
    "gaby.tickets.postings",
    "gaby.tickets.adapters.inbox.desk",
    "gaby.knowledge.collection",
    "gaby.llm.embeddings.reindex",
    "gaby.llm.embeddings.service",
    "gaby.mcp.stdio",
    "gaby.knowledge.components",
    "gaby.knowledge.index.sqlite",
    "gaby.knowledge.index.postgres",
    "gaby.knowledge.sync",
    "gaby.mcp.content",
    "gaby.mcp.connection",
    "gaby.mcp.http",
    "aiosqlite",
    "anyio._backends._asyncio",
    "httpcore2",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.dialects.postgresql.psycopg",
)


class Zygote:
    def __init__(self, door: Path) -> None:
        self._doorbell = socket.socket(socket.AF_UNIX)
        self._doorbell.bind(str(door))
        self._doorbell.listen()
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, "commands")
        self._selector.register(self._doorbell, selectors.EVENT_READ, "doorbell")
        self._told: dict[int, tuple[int, bytes]] = {}
        """By the pipe of each process: its id, and what it has said so far."""
        self._connectors: set[int] = set()
        self._asked = b""

    def serve(self) -> None:
        """Until stdin ends; then whoever is left is ended too."""
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.data == "commands" and not self._hear():
                        return
                    if key.data == "doorbell":
                        self._open_the_door()
                    if key.data == "process":
                        self._listen(key.fd)
                self._reap_connectors()
        finally:
            for pid in {pid for pid, _ in self._told.values()} | self._connectors:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _hear(self) -> bool:
        read = os.read(0, 65536)
        self._asked += read
        while b"\n" in self._asked:
            line, _, self._asked = self._asked.partition(b"\n")
            self._start(json.loads(line))
        return bool(read)

    def _start(self, errand: dict[str, Any]) -> None:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._become(errand, writer)
        os.close(writer)
        self._told[reader] = (pid, b"")
        self._selector.register(reader, selectors.EVENT_READ, "process")
        _say({"started": pid})

    def _become(self, errand: dict[str, Any], writer: int) -> None:
        """The forked process: does the errand, says how it went, and ends here."""
        code = 1
        try:
            self._let_go()
            log = os.open(errand["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            _stand_on(os.open(os.devnull, os.O_RDONLY), log, log)
            os.write(writer, json.dumps(run(errand)).encode())
            code = 0
        finally:
            _end(code)

    def _listen(self, reader: int) -> None:
        pid, said = self._told[reader]
        read = os.read(reader, 1 << 20)
        if read:
            self._told[reader] = (pid, said + read)
            return
        self._selector.unregister(reader)
        os.close(reader)
        del self._told[reader]
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        _say({"ended": pid, "code": code, "result": json.loads(said) if said else None})

    def _open_the_door(self) -> None:
        guest, _ = self._doorbell.accept()
        fds = array("i")
        told, ancillary, _, _ = guest.recvmsg(65536, socket.CMSG_SPACE(_FDS * fds.itemsize))
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        pid = os.fork()
        if pid == 0:
            self._become_connector(guest, json.loads(told), list(fds))
        self._connectors.add(pid)
        guest.close()
        for fd in fds:
            os.close(fd)

    def _become_connector(self, guest: socket.socket, wanted: dict[str, Any], fds: list[int]) -> None:
        code = 1
        try:
            self._let_go()
            _stand_on(*fds)
            os.environ.clear()
            os.environ.update(wanted["environment"])
            runpy.run_module(wanted["module"], run_name="__main__")
            code = 0
        except SystemExit:
            code = 0
        finally:
            guest.close()
            _end(code)

    def _let_go(self) -> None:
        self._selector.close()
        self._doorbell.close()
        for reader in self._told:
            os.close(reader)

    def _reap_connectors(self) -> None:
        for pid in list(self._connectors):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._connectors.discard(pid)


def _end(code: int) -> None:
    """Without a word to whoever forked this process: what it has open is not ours to tidy up."""
    if code:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _stand_on(*fds: int) -> None:
    """These become stdin, stdout and stderr."""
    kept = [os.dup(fd) for fd in fds]
    for place, fd in enumerate(kept):
        os.dup2(fd, place)
    for fd in {*fds, *kept}:
        if fd > 2:
            os.close(fd)


def _say(told: dict[str, Any]) -> None:
    os.write(1, json.dumps(told).encode() + b"\n")


def _read_everything() -> None:
    """What every investigation needs, so that a forked one begins at once."""
    for name in _NEEDED:
        import_module(name)
    configure_mappers()
    share_costs()
    httpx2.AsyncClient()
    triage("My invoice is wrong.", local_embed(None))
    # What was read stays shared between the forked ones.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _read_everything()
    _say({"ready": os.getpid()})
    Zygote(Path(sys.argv[1])).serve()
