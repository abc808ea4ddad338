"""Makes a source of what an operator said."""

from collections.abc import Callable, Mapping
from pathlib import Path

from gaby.kernel.suggestions import unknown_name
from gaby.knowledge.new_source import DESK
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.directory import DirectorySource, FileSource
from gaby.knowledge.sources.generated_documents import GeneratedSource
from gaby.knowledge.sources.git import GitSource
from gaby.knowledge.sources.git_address import check_ref, git_address
from gaby.knowledge.sources.globs import check_glob, chooses
from gaby.knowledge.sources.guard import AddressGuard
from gaby.knowledge.sources.hosted_sources import confluence, notion, page, site
from gaby.knowledge.sources.limits import PathFilter
from gaby.knowledge.sources.options import Plan, SourceOptions, no_secret, usable_secret
from gaby.knowledge.sources.source import BadSource, DocumentSource
from gaby.knowledge.sources.tickets import DeskTicketSource, TicketExportSource


def check(config: SourceConfig) -> None:
    """Raises `BadSource` with what to do, for anything that can be seen without reaching the source."""
    _plan(config)


def make_source(config: SourceConfig, dependencies: SourceDependencies) -> DocumentSource:
    return _plan(config)(dependencies)


def _plan(config: SourceConfig) -> Plan:
    plan = _PLANS.get(config.kind)
    if plan is None:
        raise BadSource(unknown_name("kind of source", config.kind, _PLANS))
    return plan(config)


def _folder(config: SourceConfig) -> Plan:
    options = SourceOptions(config.options, ("include", "exclude"))
    no_secret(config)
    path = _path(config.location)
    include, exclude = _globs(options, "include"), _globs(options, "exclude")

    def make(dependencies: SourceDependencies) -> DocumentSource:
        return DirectorySource(
            _allowed(path, dependencies),
            wanted=dependencies.wanted,
            include=include,
            exclude=exclude,
            max_bytes=dependencies.limits.document_bytes,
            max_files=dependencies.limits.files,
        )

    return make


def _file(config: SourceConfig) -> Plan:
    SourceOptions(config.options, ())
    no_secret(config)
    path = _path(config.location)
    return lambda dependencies: FileSource(_allowed(path, dependencies), max_bytes=dependencies.limits.document_bytes)


def _git(config: SourceConfig) -> Plan:
    options = SourceOptions(config.options, ("ref", "include", "exclude"))
    address = git_address(config.location)
    ref = check_ref(options.text("ref"))
    chosen = chooses(_globs(options, "include"), _globs(options, "exclude"))
    if address.transport != "https":
        no_secret(config, "For ssh the key of the account that Gaby runs under is used.")
    secret = usable_secret(config) if config.secret else None

    def make(dependencies: SourceDependencies) -> DocumentSource:
        if address.transport == "file":
            _allowed(Path(address.url), dependencies)
        return GitSource(
            address,
            guard=AddressGuard(dependencies.allowed_networks, dependencies.resolve),
            cache=dependencies.cache,
            paths=PathFilter(chosen, dependencies.wanted),
            ref=ref,
            secret=secret,
            max_bytes=dependencies.limits.document_bytes,
            seconds=dependencies.limits.git_seconds,
        )

    return make


def _tickets(config: SourceConfig) -> Plan:
    options = SourceOptions(config.options, ("statuses",))
    no_secret(config)
    statuses = options.names("statuses")
    path = None if config.location == DESK else _path(config.location)
    if path is not None and path.suffix.lower() not in {".csv", ".tsv", ".jsonl", ".ndjson", ".json"}:
        raise BadSource("Give an export that ends with `.jsonl` or `.csv`, or `desk` for the tickets of the desk.")

    def make(dependencies: SourceDependencies) -> DocumentSource:
        if path is not None:
            return TicketExportSource(
                _allowed(path, dependencies), statuses=statuses, max_bytes=dependencies.limits.export_bytes
            )
        if dependencies.archive is None:
            raise BadSource("No desk is connected. Connect one, or give the path of an export.")
        return DeskTicketSource(dependencies.archive)

    return make


def _learned(config: SourceConfig) -> Plan:
    SourceOptions(config.options, ())
    no_secret(config)

    def make(dependencies: SourceDependencies) -> DocumentSource:
        if dependencies.learned is None:
            raise BadSource("What was learned is no source that can be added; it is there by itself.")
        return GeneratedSource(dependencies.learned)

    return make


def _path(location: str) -> Path:
    if not location.startswith("/") or not location.isprintable():
        raise BadSource("Give the whole path, beginning with `/`.")
    return Path(location)


def _allowed(path: Path, dependencies: SourceDependencies) -> Path:
    real = path.resolve()
    allowed = dependencies.allowed_folders
    if allowed is not None and not any(real.is_relative_to(folder.resolve()) for folder in allowed):
        raise BadSource(f"{path} is in none of the folders that this installation allows for documents.")
    return path


def _globs(options: SourceOptions, name: str) -> tuple[str, ...]:
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
