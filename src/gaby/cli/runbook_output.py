"""How runbooks are printed: what was understood of them, and how one went on a ticket."""

from gaby.cli.output import echo, one_line, one_line_json, secho
from gaby.runbooks.schemas import CauseOut, RunbookCallOut, RunbookOut, TrialOut

_SHOWN = 300
_HOLDS = {True: ("holds", "green"), False: ("does not hold", None), None: ("not known", "yellow")}


def print_checked(runbook: RunbookOut) -> None:
    state = "declared" if runbook.declared else "recognised" if runbook.is_runbook else "not a runbook"
    secho(f"{one_line(runbook.name)}: {one_line(runbook.title)} ({state})", bold=True)
    if runbook.about:
        echo(f"  for       {_short(runbook.about)}")
    if runbook.symptoms:
        echo(f"  symptoms  {_short('; '.join(runbook.symptoms))}")
    for number, step in enumerate(runbook.steps, 1):
        echo(f"  step {number}    {_call(step)}")
    for cause in runbook.causes:
        _print_cause(cause)
    for each in runbook.problems:
        colour = "red" if each.severity == "error" else "yellow"
        secho(f"  {each.severity} in line {each.line}: {one_line(each.why)}", fg=colour)
        echo(f"      {_short(each.text)}")
        if each.hint:
            echo(f"      {one_line(each.hint)}")
    warnings = len(runbook.problems) - runbook.errors
    said = f"{runbook.errors} errors, {warnings} warnings" if runbook.problems else "understood, without errors"
    secho(f"  {said}", fg="red" if runbook.errors else "green")
    echo()


def print_tried(tried: TrialOut) -> None:
    secho(f"{one_line(tried.runbook)}: fits the ticket {tried.fit:.2f} of 1; changes are simulated", bold=True)
    if not tried.followed:
        secho("  It is not followed for this requester: nobody knows them, or the ticket gives orders.", fg="yellow")
    _print_live(tried)
    for number, call in enumerate(tried.calls, 1):
        echo(f"  {number}. {call.tool} {one_line_json(call.arguments)}")
        echo(f"     {call.outcome}{f': {one_line(call.reason)}' if call.reason else ''}")
        if call.result is not None:
            echo(f"     {_short(one_line_json(call.result))}")
    for each in tried.withheld:
        secho(
            f"  not made: {each.tool} {one_line_json(each.arguments) if each.arguments else ''}".rstrip(), fg="yellow"
        )
        echo(f"     because {one_line(each.why)}")
    for cause in tried.causes:
        word, colour = _HOLDS[cause.holds]
        secho(f"  If {one_line(cause.condition)}: {word}", fg=colour)
        for each in cause.conditions:
            seen = f" ({one_line('; '.join(each.values))})" if each.values else ""
            why = f": {one_line(each.why)}" if each.why else ""
            echo(f"      {one_line(each.condition)}: {_HOLDS[each.holds][0]}{seen}{why}")
    echo(f"  cause     {one_line(tried.cause) or 'none'}")
    echo(f"  verdict   {tried.verdict}: {one_line(' '.join(tried.reasons))}")
    for heading, lines in (("reply", tried.reply), ("note", tried.notes)):
        for place, line in enumerate(lines):
            echo(f"  {heading if not place else '':9} {one_line(line)}")


def _print_live(tried: TrialOut) -> None:
    live = tried.live
    if live.this:
        echo("  An investigation of this ticket follows this runbook.")
    elif live.runbook:
        description = f"“{one_line(live.runbook)}” ({one_line(live.page)}), which fits {live.fit:.2f}"
        secho(f"  An investigation of this ticket follows {description}; this one fits {tried.fit:.2f}.", fg="yellow")
    else:
        secho("  An investigation of this ticket follows no runbook.", fg="yellow")


def _print_cause(cause: CauseOut) -> None:
    said = " or if ".join(" and ".join(group) for group in cause.groups)
    echo(f"  If {one_line(said)}" if said else f"  {'Otherwise' if not cause.condition else 'If ?'}")
    rows = [
        ("cause", [cause.cause] if cause.cause else []),
        ("do", [_call(each) for each in cause.calls]),
        ("tell", cause.tells),
        ("ask", cause.asks),
        ("hand over", cause.hands_to),
        ("note", cause.notes),
        ("security", ["second level, and nothing is changed"] if cause.security else []),
        ("settles it", ["it is not looked at again whether it helped"] if cause.settles else []),
        ("takes time", ["it is looked at later whether it helped"] if cause.takes_time else []),
    ]
    for heading, lines in rows:
        for line in lines:
            echo(f"      {heading:10} {_short(line)}")


def _call(call: RunbookCallOut) -> str:
    given = ", ".join(f"{name} = {source}" for name, source in call.arguments.items())
    things = f" for {call.things}" if call.things else ""
    consent = f" [{call.consent}]" if call.consent else ""
    return f"{call.tool}({given}){things}{consent}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
