"""`python -m tests.support.connector_forks.server SOCKET`: has imported what connectors need, and forks them off.

It stays single-threaded, and ends with its stdin.
"""

import fcntl
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

_FAILED = 1
_IMPORTED = ("gaby_connectors.sample_company.tools", "gaby_connectors.sdk.serve", "anyio._backends._asyncio")


def serve(listener: socket.socket) -> None:
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == 0:
                return
            connection, _ = listener.accept()
            header, fds = _receive(connection)
            if header and os.fork() == 0:
                selector.close()
                listener.close()
                _become(connection, header, fds)
            connection.close()
            for fd in fds:
                os.close(fd)


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    fds = array("i")
    header, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(3 * fds.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return header, list(fds)


def _become(connection: socket.socket, header: bytes, fds: list[int]) -> None:
    code = _FAILED
    try:
        size, asked = int.from_bytes(header, "big"), b""
        while len(asked) < size:
            asked += connection.recv(size - len(asked))
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _end_with_launcher(connection)
        for place, fd in enumerate(fds):
            os.dup2(fd, place)
            os.close(fd)
        code = _run(json.loads(asked))
    finally:
        if code == _FAILED:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(bytes([code & 0xFF]))
        os._exit(code)


def _end_with_launcher(connection: socket.socket) -> None:
    """Whoever kills the launcher kills the connector."""
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(connection, fcntl.F_SETFL, os.O_ASYNC)


_F_SETSIG = 10
"""Of Linux; the module `fcntl` does not name it."""


def _run(wanted: dict[str, Any]) -> int:
    os.setsid()
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    first, *more = wanted["words"]
    try:
        if first == "-m":
            sys.argv = more
            runpy.run_module(more[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [first, *more]
            sys.path.insert(0, str(Path(first).parent))
            runpy.run_path(first, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
            return 1
        return ended.code or 0
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        for name in _IMPORTED:
            import_module(name)
        # What was imported stays shared between the forked ones.
        gc.collect()
        gc.freeze()
        os.write(1, b"ready\n")
        serve(listener)
