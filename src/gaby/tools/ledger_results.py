"""What a call brought, entered into the ledger of its run: where values come from, and who may be told of them."""

from collections.abc import Mapping
from typing import Any

from gaby.safety import STAFF_ONLY, ResultContext, learn_result, readers_of_text, values_to_redact
from gaby.tools.catalogue import ToolEntry
from gaby.tools.gather import chosen_outside, names_requester
from gaby.tools.runs import Run, result_source


def learn_outcome(
    entry: ToolEntry, arguments: Mapping[str, Any], run: Run, structured: Any, text: str, *, vouches: bool
) -> None:
    source = result_source(entry.facts.full_name)
    run.learn_personal(values_to_redact(structured, entry.facts.manifest))
    run.ledger.read_external(source, text)
    # A tool without a manifest vouches for nothing, and what it says is for the staff.
    if entry.facts.unsafe:
        run.ledger.reading.read(source, [STAFF_ONLY])
        return
    context = result_context(entry, arguments, run)
    if structured is None:
        run.ledger.reading.read(source, [readers_of_text(context)])
    else:
        learn_result(run.ledger, structured, context, vouches=vouches)


def result_context(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> ResultContext:
    return ResultContext(
        connector=entry.facts.connector,
        source=result_source(entry.facts.full_name),
        manifest=entry.facts.manifest,
        principals=run.principals,
        chosen_outside=entry.facts.access == "read" and chosen_outside(entry, arguments, run),
        owned=names_requester(entry, arguments, run),
    )
