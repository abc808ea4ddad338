"""The page docs/reference/desk-quality.md, written from the manifests."""

from collections.abc import Iterator, Mapping, Sequence

from gaby.tickets.adapters.manifest import RULES, SCALES, AdapterManifest

_SIGNS = {"done": "yes", "exempt": "not needed", "todo": "not yet"}


def quality_page(found: Sequence[AdapterManifest]) -> str:
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Sequence[AdapterManifest]) -> Iterator[str]:
    yield "# How good each help desk adapter is"
    yield ""
    yield "Generated from the `manifest.toml` of each adapter. A test checks that every test named there exists, that"
    yield "the code can do what the manifest says, and that the scale is what the rules give."
    yield ""
    yield "| desk | scale | webhooks | private replies | status | time entries |"
    yield "|---|---|---|---|---|---|"
    for manifest in found:
        can = manifest.declared
        told = [_yes(can.webhooks), _yes(can.private_replies), _yes(can.statuses), _yes(can.time_entries)]
        yield f"| {manifest.title} | {manifest.quality.scale} | {' | '.join(told)} |"
    for scale in SCALES[1:]:
        yield from _scale(scale.capitalize(), RULES[scale], found)
    yield from _reasons(found)


def _scale(title: str, rules: Mapping[str, str], found: Sequence[AdapterManifest]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield f"| rule | {' | '.join(manifest.title for manifest in found)} |"
    yield "|---" * (len(found) + 1) + "|"
    for name, meaning in rules.items():
        signs = [_SIGNS[manifest.quality.rules[name].status] for manifest in found]
        yield f"| {meaning} | {' | '.join(signs)} |"


def _reasons(found: Sequence[AdapterManifest]) -> Iterator[str]:
    yield ""
    yield "## Why not"
    yield ""
    for manifest in found:
        for name, rule in manifest.quality.rules.items():
            if rule.reason:
                yield f"- {manifest.title}, `{name}` ({_SIGNS[rule.status]}): {rule.reason}"


def _yes(value: object) -> str:
    return "yes" if value else "no"
