"""Where a repository is: a local path, https or ssh, and nothing that git would take for an order."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from gaby.knowledge.sources.source import BadSource

_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?"
_PATH = r"[A-Za-z0-9_~.+@%/-]{1,1000}"
_HTTPS = re.compile(rf"https://({_HOST})(?::(\d{{1,5}}))?/({_PATH})")
_SSH = re.compile(rf"ssh://(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?({_HOST})(?::(\d{{1,5}}))?/({_PATH})")
_SCP = re.compile(rf"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)({_HOST})()?:((?!-){_PATH})")
_REF = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[A-Za-z0-9_][A-Za-z0-9_.+/#-]{0,200}(?<![./])")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_WEB = {
    "github.com": "https://github.com/{path}/blob/{commit}/{file}",
    "gitlab.com": "https://gitlab.com/{path}/-/blob/{commit}/{file}",
    "bitbucket.org": "https://bitbucket.org/{path}/src/{commit}/{file}",
    "codeberg.org": "https://codeberg.org/{path}/src/commit/{commit}/{file}",
}


@dataclass(frozen=True)
class GitAddress:
    transport: Literal["file", "https", "ssh"]
    url: str
    """As git is told it."""
    host: str = ""
    port: int = 0
    path: str = ""

    def link(self, commit: str, file: str) -> str | None:
        """Where a person reads it, on the websites that are known."""
        form = _WEB.get(self.host)
        path = self.path.strip("/").removesuffix(".git")
        return None if form is None else form.format(path=path, commit=commit, file=quote(file))


def git_address(location: str) -> GitAddress:
    if location.startswith("/") and location.isprintable():
        return GitAddress("file", location)
    if re.match(r"https://[^/]*@", location):
        raise BadSource("The address has a password in it. Give the token as the secret, and the address without it.")
    for transport, form, usual in (("https", _HTTPS, 443), ("ssh", _SSH, 22), ("ssh", _SCP, 22)):
        match = form.fullmatch(location)
        port = int(match[2] or usual) if match is not None else 0
        if match is not None and port <= 65_535:
            return GitAddress("https" if transport == "https" else "ssh", location, match[1].lower(), port, match[3])
    raise BadSource(
        "This is no address of a repository. Give one such as `https://git.company.example/docs.git`, "
        "`git@git.company.example:docs.git`, or a local path that begins with `/`."
    )


def check_ref(ref: str) -> str:
    if ref and not _REF.fullmatch(ref):
        raise BadSource("`ref` must be the name of a branch or a tag, or the whole id of a commit.")
    return ref


def is_commit(ref: str) -> bool:
    return _COMMIT.fullmatch(ref) is not None
