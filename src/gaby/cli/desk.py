"""`gaby desk`: the help desks that tickets come from and answers go to."""

import sys
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Any, get_origin

import typer
from pydantic import SecretStr

from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.confirmation import Yes, confirm
from gaby.cli.durations import parse_duration
from gaby.cli.output import AsJson, echo, print_json, print_rows
from gaby.cli.progress import busy
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.database import WriteSession
from gaby.kernel.errors import BadRequest
from gaby.tickets.canonical_ticket import Voucher
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.desk_schemas import DeadLetterOut, DeskOut, ReceivedOut
from gaby.tickets.kinds import KINDS, kind_of
from gaby.tickets.models import Desk

app = typer.Typer(help="The help desks that tickets come from and answers go to.", no_args_is_help=True)


class VoucherChoice(StrEnum):
    NOBODY = "nobody"
    DESK = "desk"
    MAIL = "mail"


class DraftMode(StrEnum):
    ON = "on"
    OFF = "off"


_DRAFTS: dict[str, str] = {
    "on": "Every reply waits for a person now. `gaby approvals list` shows the drafts.",
    "off": "Replies are sent unless the safety path wants a person to see them first.",
}
_VOUCHED: dict[str, str] = {
    "nobody": "Its requesters are verified by nobody: Gaby does nothing in their name without a person.",
    "desk": "Its requesters are verified by the desk's own sign-in.",
    "mail": "Its requesters are verified by the authentication of their mail (DMARC).",
}
Name = Annotated[
    str,
    typer.Argument(
        help="The desk's name; `gaby desk list` shows them.",
        autocompletion=completion.desks,
    ),
]
DeskSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        help="NAME=VALUE; may be repeated. NAME=- asks for it. A list is written with commas, or one by one.",
    ),
]
CheckFirst = Annotated[
    bool, typer.Option("--check/--no-check", help="Talk to the desk first, and store nothing if that fails.")
]


@app.command()
def kinds(
    kind: Annotated[str | None, typer.Argument(help="Show the settings of this kind.")] = None, as_json: AsJson = False
) -> None:
    """List the kinds of desks, or the settings of one."""
    if kind is None:
        rows = [{"kind": name, "what": what} for name, what in KINDS.items()]
        print_rows(rows, as_json=as_json, empty="")
        return
    rows = [
        {
            "setting": name,
            "required": field.is_required(),
            "secret": field.annotation is SecretStr,
            "description": field.description or "",
        }
        for name, field in kind_of(kind).config.model_fields.items()
    ]
    print_rows(rows, as_json=as_json, empty="It needs no settings.")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What to call it.")],
    kind: Annotated[str, typer.Argument(help="As `gaby desk kinds` lists them.")],
    setting: DeskSettings = None,
    every: Annotated[str, typer.Option(help="How often to look for tickets: 30s, 5m; never for webhooks only.")] = "1m",
    vouched_by: Annotated[
        VoucherChoice | None,
        typer.Option(
            help="Who is believed about who a requester is: `desk`, its own sign-in; `mail`, the authentication of "
            "mail (DMARC); `nobody`. Gaby acts in a requester's name only if they are verified. Left out, it is asked "
            "for in a terminal; else `mail` for e-mail, `desk` for the built-in desk, whose tickets say so one by "
            "one, and `nobody` for all others."
        ),
    ] = None,
    check_first: CheckFirst = True,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Connect a help desk, once it answers with these settings."""
    values = _values(kind, setting or [])
    interval = None if every == "never" else parse_duration(every)
    voucher = _voucher(kind, vouched_by)

    async def add_desk(gaby: Gaby) -> DeskOut:
        actor = await operator_in(gaby, workspace)
        if check_first:
            echo(await gaby.tickets.desks.try_out(actor, kind, values), err=True)
        async with gaby.database.write(actor.workspace_id) as session:
            new = NewDesk(name, kind, values, interval, voucher)
            return DeskOut.from_domain(await gaby.tickets.desks.add(session, actor, new))

    added = run(add_desk)
    if as_json:
        print_json(added.model_dump())
        return
    echo(f"{added.name} is connected. Webhooks go to /api/webhooks/desks/{added.id}", err=True)
    echo(_VOUCHED[added.vouched_by], err=True)


@app.command("list")
def list_desks(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the desks, and how they are."""

    async def load_desks(gaby: Gaby) -> list[DeskOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return [DeskOut.from_domain(row) for row in await gaby.desk_queries.list(session)]

    desks = run(load_desks)
    rows: list[dict[str, Any]] = [
        {
            "name": d.name,
            "kind": d.kind,
            "vouched_by": d.vouched_by,
            "drafts": d.drafts,
            "polled": d.polled_at,
            "trouble": d.last_error,
        }
        for d in desks
    ]
    print_rows(
        [d.model_dump() for d in desks] if as_json else rows,
        as_json=as_json,
        empty="No desks. `gaby ticket add` uses the built-in one; `gaby desk add` connects others.",
    )


@app.command()
def show(name: Name, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show a desk: its settings without the secret ones, and who is believed about its requesters."""

    async def load_desk(gaby: Gaby) -> DeskOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return DeskOut.from_domain(await gaby.desk_queries.named(session, name))

    desk = run(load_desk)
    if as_json:
        print_json(desk.model_dump())
        return
    rows: list[dict[str, Any]] = [
        {"setting": key, "value": value} for key, value in (desk.model_dump(exclude={"config"}) | desk.config).items()
    ]
    print_rows(rows, as_json=False, empty="")
    echo(_VOUCHED[desk.vouched_by], err=True)


@app.command("set")
def change_settings(
    name: Name,
    setting: DeskSettings = None,
    check_first: CheckFirst = True,
    workspace: InWorkspace = None,
) -> None:
    """Change settings and credentials of a desk: `gaby desk set NAME -s token=-`. NAME= goes back to the usual."""
    if not setting:
        raise BadRequest(f"Say what to change, such as `gaby desk set {name} -s token=-`.")

    async def set_settings(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            desk = await gaby.tickets.desks.named(session, name)
            values = await gaby.tickets.desks.changed_values(session, desk, _values(desk.kind, setting))
        if check_first:
            echo(await gaby.tickets.desks.try_out(actor, desk.kind, values), err=True)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tickets.desks.change(session, actor, await gaby.tickets.desks.named(session, name), values)

    run(set_settings)
    echo(f"The settings of {name} are changed.", err=True)


@app.command()
def vouch(
    name: Name,
    voucher: Annotated[VoucherChoice, typer.Argument(help="nobody, desk or mail.")],
    workspace: InWorkspace = None,
) -> None:
    """Set who is believed about who a requester is, for what comes from now on."""

    async def set_vouching(session: WriteSession, gaby: Gaby, actor: Actor, desk: Desk) -> None:
        await gaby.tickets.desks.believe(session, actor, desk, voucher.value)

    _change(name, workspace, set_vouching)
    echo(_VOUCHED[voucher.value], err=True)


@app.command()
def drafts(
    name: Name,
    mode: Annotated[DraftMode, typer.Argument(help="on or off.")],
    workspace: InWorkspace = None,
) -> None:
    """Let every reply at a desk wait as a draft that a person sends, changes or refuses; or send them again."""

    async def set_draft_mode(session: WriteSession, gaby: Gaby, actor: Actor, desk: Desk) -> None:
        await gaby.tickets.desks.set_drafts(session, actor, desk, drafts=mode is DraftMode.ON)

    _change(name, workspace, set_draft_mode)
    echo(_DRAFTS[mode], err=True)


@app.command()
def check(name: Name, workspace: InWorkspace = None) -> None:
    """Talk to the desk, and say what was reached."""

    async def check_desk(gaby: Gaby) -> str:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            adapter = await gaby.tickets.desks.adapter(session, await gaby.tickets.desks.named(session, name))
        return await adapter.check()

    with busy(f"Talking to {name}"):
        told = run(check_desk)
    echo(told)


@app.command()
def poll(name: Name, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Look for tickets now."""

    async def poll_desk(gaby: Gaby) -> ReceivedOut:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            desk = await gaby.tickets.desks.named(session, name)
        return ReceivedOut.from_domain(await gaby.tickets.receiver.poll(actor.workspace_id, desk.typed_id))

    with busy(f"Talking to {name}"):
        got = run(poll_desk)
    if as_json:
        print_json(got.model_dump())
    else:
        echo(f"{got.new} new tickets, {got.messages} messages, {got.unreadable} unreadable")


@app.command()
def subscribe(
    name: Name,
    url: Annotated[str, typer.Argument(help="How the desk reaches Gaby: https://gaby.example.")],
    workspace: InWorkspace = None,
) -> None:
    """Ask the desk to deliver by webhook, or say what to do there."""

    async def subscribe_desk(gaby: Gaby) -> str:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            desk = await gaby.tickets.desks.named(session, name)
            adapter = await gaby.tickets.desks.adapter(session, desk)
        return await adapter.subscribe(f"{url.rstrip('/')}/api/webhooks/desks/{desk.id}")

    echo(run(subscribe_desk))


@app.command()
def pause(name: Name, workspace: InWorkspace = None) -> None:
    """Look for tickets no more; webhooks and answers go on."""

    async def pause_desk(session: WriteSession, gaby: Gaby, actor: Actor, desk: Desk) -> None:
        await gaby.tickets.desks.poll_every(session, actor, desk, None)

    _change(name, workspace, pause_desk)
    echo(f"{name} is not polled any more. `gaby desk every {name} 1m` begins again.", err=True)


@app.command("every")
def poll_every(
    name: Name, interval: Annotated[str, typer.Argument(help="30s, 5m, 1h.")], workspace: InWorkspace = None
) -> None:
    """Look for tickets in this interval."""
    every = parse_duration(interval)

    async def set_poll_interval(session: WriteSession, gaby: Gaby, actor: Actor, desk: Desk) -> None:
        await gaby.tickets.desks.poll_every(session, actor, desk, every)

    _change(name, workspace, set_poll_interval)


@app.command()
def remove(name: Name, yes: Yes = False, workspace: InWorkspace = None) -> None:
    """Disconnect a desk that has no tickets."""
    confirm(f"Remove {name} and forget its secrets?", yes=yes)

    async def remove_desk(session: WriteSession, gaby: Gaby, actor: Actor, desk: Desk) -> None:
        await gaby.tickets.desks.remove(session, actor, desk)

    _change(name, workspace, remove_desk)
    echo(f"{name} is removed.", err=True)


@app.command()
def letters(name: Name, workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """What the desk sent and Gaby could not take in."""

    async def load_dead_letters(gaby: Gaby) -> list[DeadLetterOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            desk = await gaby.tickets.desks.named(session, name)
            return [DeadLetterOut.from_domain(row) for row in await gaby.tickets.receiver.dead_letters(session, desk)]

    print_rows(
        [each.model_dump() for each in run(load_dead_letters)], as_json=as_json, empty="None: all could be read."
    )


def _change(
    name: str, workspace: str | None, action: Callable[[WriteSession, Gaby, Actor, Desk], Awaitable[None]]
) -> None:
    async def change(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await action(session, gaby, actor, await gaby.tickets.desks.named(session, name))

    run(change)


def _voucher(kind: str, given: VoucherChoice | None) -> Voucher | None:
    possible, note = kind_of(kind).vouchers, kind_of(kind).voucher_note
    if given is not None:
        return given.value
    if len(possible) == 1 or not sys.stdin.isatty():
        return None
    echo(f"Who is believed when it is said who a requester is? {note}", err=True)

    def chosen(text: str) -> Voucher:
        for voucher in possible:
            if voucher == text.strip():
                return voucher
        raise typer.BadParameter(f"choose one of: {', '.join(possible)}")

    return typer.prompt("vouched by", default=possible[0], value_proc=chosen, err=True)


def _values(kind: str, settings: list[str]) -> dict[str, Any]:
    """Texts of the command line, in the shapes that the kind's settings have."""
    fields = kind_of(kind).config.model_fields
    values: dict[str, Any] = {}
    for name, text in map(_setting, settings):
        shape = get_origin(fields[name].annotation) if name in fields else None
        if shape is list:
            values.setdefault(name, []).extend(part.strip() for part in text.split(",") if part.strip())
        elif name in values:
            raise BadRequest(f"{name} is given twice.")
        elif shape is dict:
            pairs = [part.partition(":") for part in text.split(",") if part.strip()]
            values[name] = {key.strip(): value.strip() for key, _, value in pairs}
        else:
            values[name] = text
    return values


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise BadRequest("A setting is written NAME=VALUE.")
    if value == "-":
        value = (
            typer.prompt(name, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        )
    return name.strip(), value
