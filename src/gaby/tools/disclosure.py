"""What a change would tell, and to whom: whether everybody whom its content reaches may know what the run has read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gaby.safety import ArgumentRole, ArgumentTrace, Disclosure, Label, Reader, ToolFacts, canonical_identity, leaves
from gaby.safety.arguments import stands_in
from gaby.tools.runs import Author, Run
from gaby_connectors.sdk.manifest import Audience

_SOURCE = re.compile(r"^\[\d+\] `(?:doc|tool):[^`\n]{1,1000}`$", re.MULTILINE)


def requester_of(run: Run) -> Reader:
    """Whoever gets a reply in this run. An operator who acts for themselves is staff."""
    if run.principals is None:
        return Reader("staff")
    verified = canonical_identity(run.requester) in run.principals
    return Reader("verified" if verified else "stranger", run.requester)


def _disclosures_to(
    run: Run, reader: Reader, text: str, composed_by: Author, cited: Sequence[str], released: Sequence[str]
) -> list[Disclosure]:
    """A model may have woven anything that it saw into its words, in any spelling; rules only write what they cite."""
    reading = run.ledger.reading
    match composed_by:
        case "model":
            return reading.unreadable(reader)
        case "rules":
            # A runbook releases what no manifest says the readers of. Whose a manifest says it is, theirs it stays.
            others = reading.owned_by_others("\n".join(released), reader) if released else []
            return reading.disclosures(without_released(text, released), reader, cited) + others


def without_released(text: str, released: Sequence[str]) -> str:
    for sentence in sorted(released, key=len, reverse=True):
        text = text.replace(sentence, " ")
    return text


def disclosures_of(
    tool: ToolFacts,
    arguments: Mapping[str, Any],
    run: Run,
    traces: Sequence[ArgumentTrace],
    composed_by: Author,
    cited: Sequence[str] = (),
    released: Sequence[str] = (),
) -> Iterator[Disclosure]:
    """For a run on behalf of a requester. What an operator asks for is theirs to send."""
    if run.principals is None or tool.manifest.content_audience is Audience.STAFF:
        return
    said = [
        leaf.value
        for name, value in arguments.items()
        if tool.roles.get(name) is ArgumentRole.CONTENT
        for leaf in leaves(name, value)
        if not leaf.literal
    ]
    if not said:
        return
    text = "\n".join(said)
    for reader in _readers(tool, run, traces):
        yield from _disclosures_to(run, reader, text, composed_by, cited, released)
        # Gaby's own list of sources names pages; it does not repeat them.
        quoted = text if composed_by == "model" else without_released(text, released)
        yield from run.ledger.reading.quoted_in(_SOURCE.sub("", quoted), reader)


def _readers(tool: ToolFacts, run: Run, traces: Sequence[ArgumentTrace]) -> list[Reader]:
    """Whomever a destination names; of a tool without one, the requester, who may come to see what is written."""
    names = {name for name, role in tool.roles.items() if role is ArgumentRole.DESTINATION}
    if not names:
        return [requester_of(run)]
    places = [
        each for each in traces if not each.leaf.literal and any(stands_in(each.leaf.argument, name) for name in names)
    ]
    # A place that is left out is where the tool sends by itself, and nobody here knows who reads that.
    return [_reader(run, each) for each in places] or [Reader("stranger")]


def _reader(run: Run, trace: ArgumentTrace) -> Reader:
    if any(origin.label is Label.OPERATOR and origin.connector is None for origin in trace.origins):
        # Somebody who works here wrote that it goes there.
        return Reader("staff", trace.leaf.value)
    if canonical_identity(trace.leaf.value) in (run.principals or ()):
        return Reader("verified", trace.leaf.value)
    return Reader("stranger", trace.leaf.value)
