"""Makes a source of what an operator said."""

from collections.abc import Callable, Mapping
from pathlib import Path

from gaby.kernel.suggestions import unknown_name
from gaby.knowledge.new_source import DESK
from gaby.knowledge.sources.config import SourceConfig, SourceGround
from gaby.knowledge.sources.directory import Directory, OneFile
from gaby.knowledge.sources.git import Repository
from gaby.knowledge.sources.git_address import check_ref, git_address
from gaby.knowledge.sources.globs import check_glob, chooses
from gaby.knowledge.sources.guard import Guard
from gaby.knowledge.sources.hosted import confluence, notion, page, site
from gaby.knowledge.sources.limits import PathFilter
from gaby.knowledge.sources.made import Made
from gaby.knowledge.sources.options import Options, Plan, no_secret, usable_secret
from gaby.knowledge.sources.source import BadSource, Source
from gaby.knowledge.sources.tickets import DeskTickets, ExportedTickets


def check(config: SourceConfig) -> None:
    """Raises `BadSource` with what to do, for anything that can be seen without reaching the source."""
    _plan(config)


def make_source(config: SourceConfig, ground: SourceGround) -> Source:
    return _plan(config)(ground)


def _plan(config: SourceConfig) -> Plan:
    plan = _PLANS.get(config.kind)
    if plan is None:
        raise BadSource(unknown_name("kind of source", config.kind, _PLANS))
    return plan(config)


def _folder(config: SourceConfig) -> Plan:
    options = Options(config.options, ("include", "exclude"))
    no_secret(config)
    path = _path(config.location)
    include, exclude = _globs(options, "include"), _globs(options, "exclude")

    def make(ground: SourceGround) -> Source:
        return Directory(
            _allowed(path, ground),
            wanted=ground.wanted,
            include=include,
            exclude=exclude,
            max_bytes=ground.limits.document_bytes,
            max_files=ground.limits.files,
        )

    return make


def _file(config: SourceConfig) -> Plan:
    Options(config.options, ())
    no_secret(config)
    path = _path(config.location)
    return lambda ground: OneFile(_allowed(path, ground), max_bytes=ground.limits.document_bytes)


def _git(config: SourceConfig) -> Plan:
    options = Options(config.options, ("ref", "include", "exclude"))
    address = git_address(config.location)
    ref = check_ref(options.text("ref"))
    chosen = chooses(_globs(options, "include"), _globs(options, "exclude"))
    if address.transport != "https":
        no_secret(config, "For ssh the key of the account that Gaby runs under is used.")
    secret = usable_secret(config) if config.secret else None

    def make(ground: SourceGround) -> Source:
        if address.transport == "file":
            _allowed(Path(address.url), ground)
        return Repository(
            address,
            guard=Guard(ground.allowed_networks, ground.resolve),
            cache=ground.cache,
            paths=PathFilter(chosen, ground.wanted),
            ref=ref,
            secret=secret,
            max_bytes=ground.limits.document_bytes,
            seconds=ground.limits.git_seconds,
        )

    return make


def _tickets(config: SourceConfig) -> Plan:
    options = Options(config.options, ("statuses",))
    no_secret(config)
    statuses = options.names("statuses")
    path = None if config.location == DESK else _path(config.location)
    if path is not None and path.suffix.lower() not in {".csv", ".tsv", ".jsonl", ".ndjson", ".json"}:
        raise BadSource("Give an export that ends with `.jsonl` or `.csv`, or `desk` for the tickets of the desk.")

    def make(ground: SourceGround) -> Source:
        if path is not None:
            return ExportedTickets(_allowed(path, ground), statuses=statuses, max_bytes=ground.limits.export_bytes)
        if ground.archive is None:
            raise BadSource("No desk is connected. Connect one, or give the path of an export.")
        return DeskTickets(ground.archive)

    return make


def _learned(config: SourceConfig) -> Plan:
    Options(config.options, ())
    no_secret(config)

    def make(ground: SourceGround) -> Source:
        if ground.learned is None:
            raise BadSource("What was learned is no source that can be added; it is there by itself.")
        return Made(ground.learned)

    return make


def _path(location: str) -> Path:
    if not location.startswith("/") or not location.isprintable():
        raise BadSource("Give the whole path, beginning with `/`.")
    return Path(location)


def _allowed(path: Path, ground: SourceGround) -> Path:
    real = path.resolve()
    allowed = ground.allowed_folders
    if allowed is not None and not any(real.is_relative_to(folder.resolve()) for folder in allowed):
        raise BadSource(f"{path} is in none of the folders that this installation allows for documents.")
    return path


def _globs(options: Options, name: str) -> tuple[str, ...]:
    return tuple(check_glob(glob) for glob in options.names(name))


_PLANS: Mapping[str, Callable[[SourceConfig], Plan]] = {
    "folder": _folder,
    "file": _file,
    "git": _git,
    "url": page,
    "site": site,
    "confluence": confluence,
    "notion": notion,
    "tickets": _tickets,
    "learned": _learned,
}
