"""`gaby model`: which models Gaby asks, with whose keys, and what for."""

import sys
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.confirmation import Yes, confirm
from gaby.cli.output import AsJson, echo, print_rows
from gaby.cli.progress import busy
from gaby.cli.runtime import read_settings, run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.kernel.suggestions import unknown_name
from gaby.llm.accounts import EMBEDDINGS, NewAccount
from gaby.llm.embeddings.download import download as download_models
from gaby.llm.prices import Price
from gaby.llm.probe import ProbeResult
from gaby.llm.providers.config import TERMS
from gaby.llm.schemas import AccountOut, ModelOut, ProbeOut
from gaby.llm.setups import Chain, parse_chain, parse_ref

app = typer.Typer(help="Which models Gaby asks, with whose keys, and what for.", no_args_is_help=True)


AccountName = Annotated[
    str, typer.Argument(help="`gaby model accounts` shows the names.", autocompletion=completion.accounts)
]


@app.command("list")
def list_models(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the models that some route names, what they are asked for, and how they are."""

    async def load_models(gaby: Gaby) -> list[ModelOut]:
        actor = await operator_in(gaby, workspace)
        return [ModelOut.from_domain(state) for state in await gaby.models.states(actor.workspace_id)]

    states = run(load_models)
    rows = [state.model_dump() for state in states]
    if not as_json:
        rows = [
            {
                "model": state.model,
                "used_for": state.used_for,
                "$ in / out per million": _price(state),
                "state": _state(state),
            }
            for state in states
        ]
    print_rows(rows, as_json=as_json, empty="No model.")
    if not as_json and all(state.used_for == [EMBEDDINGS] for state in states):
        echo("Gaby works without a language model. `gaby model add anthropic` gives it one.", err=True)


@app.command()
def accounts(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the workspace's own accounts. Keys are never shown."""

    async def load_accounts(gaby: Gaby) -> list[AccountOut]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            return [AccountOut.from_domain(row) for row in await gaby.models.accounts.list(session)]

    empty = "No accounts of its own. `gaby model add` makes one; keys in the settings count for every workspace."
    print_rows([row.model_dump() for row in run(load_accounts)], as_json=as_json, empty=empty)


@app.command()
def add(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(TERMS)}.")],
    name: Annotated[str | None, typer.Option(help="How routes call it; otherwise as its kind.")] = None,
    url: Annotated[str | None, typer.Option(help="Where its server is, as in http://localhost:11434/v1.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="NAME=VALUE, as in region=eu-1.")] = None,
    route: Annotated[list[str] | None, typer.Option(help="TIER=MODEL, to ask it at once, as in big=llama3.")] = None,
    workspace: InWorkspace = None,
) -> None:
    """Add an account at a vendor, or a server of your own. The key is asked for, or read from standard input."""
    terms = next((terms for known, terms in TERMS.items() if known == kind), None)
    if terms is None:
        raise BadRequest(unknown_name("kind", kind, TERMS))
    options = dict(_pair(each) for each in option or [])
    routes = dict(_pair(each) for each in route or [])
    key = _asked_key(required=terms.needs_key)
    called = name or kind

    async def add_account(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.models.accounts.add(session, actor, NewAccount(called, kind, url, key, options))
            for target, model in routes.items():
                await gaby.models.route(session, actor, target, parse_chain(f"{called}/{model}"))

    run(add_account)
    echo(f"Added {called}. `gaby model route` says what it is asked for; `gaby model test` tries it.", err=True)


@app.command()
def key(name: AccountName, workspace: InWorkspace = None) -> None:
    """Set a new key. It is asked for, or read from standard input."""
    fresh = _asked_key(required=True)

    async def replace_key(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            row = await gaby.models.accounts.get(session, name)
            await gaby.models.accounts.set_key(session, actor, row, fresh or "")

    run(replace_key)
    echo("The new key is in use.", err=True)


@app.command()
def remove(name: AccountName, yes: Yes = False, workspace: InWorkspace = None) -> None:
    """Remove an account. Its key is forgotten for good."""
    confirm(f"Remove {name} and forget its key?", yes=yes)

    async def remove_account(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.models.accounts.remove(session, actor, await gaby.models.accounts.get(session, name))

    run(remove_account)
    echo(f"Removed {name}.", err=True)


@app.command()
def route(
    name: Annotated[str | None, typer.Argument(help="small, big, deep, a skill, or embeddings.")] = None,
    chain: Annotated[
        str | None, typer.Argument(help="PROVIDER/MODEL, with commas between several; `offline`; `usual`.")
    ] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show which models are asked for what, or change it: `gaby model route big anthropic/claude-sonnet-4-6`."""

    async def change(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        wanted = None if chain == "usual" else parse_chain(chain or "")
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.models.route(session, actor, name or "", wanted)

    async def show(gaby: Gaby) -> dict[str, Chain]:
        actor = await operator_in(gaby, workspace)
        return dict((await gaby.models.setups.for_workspace(actor.workspace_id)).chains)

    if name is not None and chain is not None:
        run(change)
    shown = {each: models for each, models in run(show).items() if name in {None, each}}
    rows = [
        {"for": each, "chain": [str(ref) for ref in models] or ["offline"]} for each, models in sorted(shown.items())
    ]
    print_rows(rows, as_json=as_json, empty="No model is asked: Gaby works offline.")


@app.command("test")
def try_models(
    models: Annotated[list[str] | None, typer.Argument(help="PROVIDER/MODEL; all of them without.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Ask models one word each. It costs a few tokens."""
    refs = [parse_ref(text) for text in models or []]

    async def probe_models(gaby: Gaby) -> list[ProbeResult]:
        return await gaby.models.probe(await operator_in(gaby, workspace), refs)

    with busy("Asking the models"):
        probed = run(probe_models)
    rows = [ProbeOut.from_domain(each).model_dump() for each in probed]
    print_rows(rows, as_json=as_json, empty="There is no model to test. `gaby model add` brings one.")
    if any(not each.answers for each in probed):
        raise typer.Exit(1)


@app.command()
def indexing(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """Show how far texts are on their way to another embedding model."""

    async def load_reindexing(gaby: Gaby) -> list[dict[str, Any]]:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.read(actor.workspace_id) as session:
            rows = await gaby.models.reindexer.progress(session)
        shown = ("collection", "model", "done", "total", "state", "error")
        return [{name: getattr(row, name) for name in shown} for row in rows]

    print_rows(run(load_reindexing), as_json=as_json, empty="Nothing is being indexed anew.")


@app.command()
def download() -> None:
    """Download the embedding models that run on this machine. Needed once after installing with pip, pipx or uv."""
    echo(f"The models are in {download_models(read_settings().models.folder)}.", err=True)


@app.command()
def price(
    model: Annotated[str, typer.Argument(help="PROVIDER/MODEL")],
    into: Annotated[
        str, typer.Argument(metavar="IN", help="US dollars for a million tokens in; `usual` for the list.")
    ],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The same for tokens out.")] = "0",
    cache_read: Annotated[str | None, typer.Option(help="For tokens read from the cache; otherwise as IN.")] = None,
    cache_write: Annotated[str | None, typer.Option(help="For tokens written to it; otherwise as IN.")] = None,
    workspace: InWorkspace = None,
) -> None:
    """Say what you agreed with the vendor, where it differs from the price list."""
    ref = parse_ref(model)
    agreed = None
    if into != "usual":
        agreed = Price(_usd(into), _usd(out), _usd(cache_read or into), _usd(cache_write or into))

    async def set_price(gaby: Gaby) -> None:
        actor = await operator_in(gaby, workspace)
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.models.accounts.agree_price(session, actor, ref, agreed)

    run(set_price)


def _asked_key(*, required: bool) -> str | None:
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip() or None
    typed = typer.prompt("Key" if required else "Key (none: just Enter)", hide_input=True, default="", err=True)
    return typed.strip() or None


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise BadRequest(f"{text!r} should be NAME=VALUE.")
    return name.strip(), value.strip()


def _usd(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise BadRequest(f"{text!r} is not an amount of dollars.") from None


def _price(state: ModelOut) -> str:
    if state.usd_per_million_in is None:
        return "-"
    return f"{state.usd_per_million_in} / {state.usd_per_million_out}"


def _state(state: ModelOut) -> str:
    if not state.usable:
        return "no account"
    return f"rests for {state.rests_for:.0f} s" if state.rests_for else "ready"
