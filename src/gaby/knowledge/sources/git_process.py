"""Runs the system's git: without a shell, without anybody's configuration, hooks or helpers, and for a bounded time."""

import asyncio
import os
import shlex
import signal
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from gaby.knowledge.sources.git_address import GitAddress
from gaby.knowledge.sources.guard import Address
from gaby.knowledge.sources.source import SourceUnavailable

_MOST_OUTPUT = 256_000_000
_MOST_COMPLAINT = 4000
_LONGEST_REASON = 200
_PART = 1_000_000
_PATIENCE = 5.0
"""With a process that was ended, and does not go."""

_CONFIG: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.askPass": "",
    "credential.helper": "",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.ext.allow": "never",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "60",
    "gc.autoDetach": "false",
    "gc.autoPackLimit": "5",
    "gc.pruneExpire": "now",
    "maintenance.auto": "false",
}


_Stream = TypeVar("_Stream")


class GitFailed(Exception):
    """Its message is what git said, without secrets."""


class GitProcess:
    def __init__(self, repository: Path, environment: Mapping[str, str], *, seconds: float, secret: str | None) -> None:
        self.repository = repository
        self.environment = environment
        self._seconds = seconds
        self._secret = secret

    async def run(self, *arguments: str) -> bytes:
        """What it printed. Raises `GitFailed`."""
        process = await self.start(*arguments, stdin=asyncio.subprocess.DEVNULL)
        streams = piped(process.stdout), piped(process.stderr)
        reading = asyncio.gather(_output(process), _complaint(streams[1]))
        try:
            async with asyncio.timeout(self._seconds):
                output, complaint = await reading
                code = await process.wait()
        except TimeoutError:
            raise GitFailed(f"It took longer than {self._seconds:g} seconds.") from None
        finally:
            await end(process, *streams)
        if output is None:
            raise GitFailed("It has more files than Gaby reads.")
        if code != 0:
            raise GitFailed(self._reason(complaint))
        return output

    async def start(self, *arguments: str, stdin: int) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                f"--git-dir={self.repository}",
                *arguments,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self.environment),
                cwd=self.repository.parent,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise SourceUnavailable("The program `git` is not installed. Install it, version 2.37 or newer.") from None

    def _reason(self, complaint: bytes) -> str:
        text = complaint.decode("utf-8", "replace")
        if self._secret:
            text = text.replace(self._secret, "***").replace(_basic(self._secret), "***")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))] or lines or ["no reason"]
        shown = "".join(character for character in telling[0] if character.isprintable())
        return shown.partition(": ")[2][:_LONGEST_REASON] if ": " in shown else shown[:_LONGEST_REASON]


def environment(address: GitAddress, home: Path, pinned: Address | None, secret: str | None) -> Mapping[str, str]:
    """`pinned` is the address that was judged, which is then the one that is called."""
    config = dict(_CONFIG)
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_ALLOW_PROTOCOL": address.transport,
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    for inherited, name in (("SSL_CERT_FILE", "GIT_SSL_CAINFO"), ("SSH_AUTH_SOCK", "SSH_AUTH_SOCK")):
        if inherited in os.environ:
            variables[name] = os.environ[inherited]
    if address.transport == "https":
        config["http.curloptResolve"] = f"{address.host}:{address.port}:{pinned}"
        if secret:
            config[f"http.https://{address.host}:{address.port}/.extraHeader"] = (
                f"Authorization: Basic {_basic(secret)}"
            )
    if address.transport == "ssh":
        variables["GIT_SSH_COMMAND"] = _ssh(address, pinned)
        variables["GIT_SSH_VARIANT"] = "ssh"
    variables["GIT_CONFIG_COUNT"] = str(len(config))
    for number, (name, value) in enumerate(config.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


async def end(process: asyncio.subprocess.Process, *streams: asyncio.StreamReader) -> None:
    """With everything it started. What is left in its pipes is thrown away, since its end waits for theirs."""
    _kill(process)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            for stream in streams:
                while await stream.read(_PART):
                    pass
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _ssh(address: GitAddress, pinned: Address | None) -> str:
    name = address.host if address.port == 22 else f"[{address.host}]:{address.port}"
    options = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "ForwardAgent": "no",
        "PermitLocalCommand": "no",
        "ConnectTimeout": "20",
        "HostKeyAlias": name,
        "HostName": str(pinned),
    }
    return shlex.join(["ssh", "-F", "none", *(part for pair in options.items() for part in ("-o", "=".join(pair)))])


def _basic(secret: str) -> str:
    """A token goes with any name, except where `x-token-auth` is asked for."""
    return b64encode(f"x-token-auth:{secret}".encode()).decode()


def piped(stream: _Stream | None) -> _Stream:
    """A process that was started with pipes has them."""
    if stream is None:
        raise RuntimeError("A process has no pipe.")
    return stream


async def _output(process: asyncio.subprocess.Process) -> bytes | None:
    """None when it is more than a listing can be, and git has been ended for that."""
    output = bytearray()
    while part := await piped(process.stdout).read(_PART):
        output += part
        if len(output) > _MOST_OUTPUT:
            _kill(process)
            return None
    return bytes(output)


async def _complaint(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while part := await stream.read(_PART):
        kept = (kept + part)[-_MOST_COMPLAINT:]
    return kept
