"""`gaby key`: API keys for programs."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.confirmation import Yes, confirm
from gaby.cli.output import AsJson, echo, print_json, print_rows
from gaby.cli.runtime import choose_workspace, operator, run
from gaby.cli.workspace_option import InWorkspace
from gaby.identity.models import ApiKey
from gaby.kernel.actors import Permission
from gaby.kernel.database.short_ids import ids_beginning
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import SYSTEM, ApiKeyId, WorkspaceId

app = typer.Typer(help="API keys for programs.", no_args_is_help=True)


@app.command("list")
def list_keys(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the keys of a workspace, never their secrets."""

    async def load_keys(gaby: Gaby) -> list[ApiKey]:
        async with gaby.database.read(await _workspace(gaby, workspace)) as session:
            return list(await gaby.identity.keys.list(session))

    print_rows([_row(key) for key in run(load_keys)], as_json=as_json, empty="No key yet. `gaby key create NAME`.")


@app.command()
def create(
    name: str,
    scope: Annotated[list[Permission], typer.Option(help="What it may do; repeat for more.")],
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Expires after so many days.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it. It is shown only now."""

    async def create_key(gaby: Gaby) -> tuple[ApiKey, str]:
        workspace_id = await _workspace(gaby, workspace)
        expires = gaby.clock.now() + timedelta(days=days) if days else None
        async with gaby.database.write(workspace_id) as session:
            actor = operator(workspace_id)
            key, text = await gaby.identity.keys.create(session, actor, name=name, scopes=scope, expires_at=expires)
            return key, str(text)

    key, text = run(create_key)
    if as_json:
        print_json({**_row(key), "key": text})
    else:
        echo(text)
        echo("Keep it: it is not shown again.", err=True)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Its id or the beginning of it; `gaby key list` shows the ids.")],
    yes: Yes = False,
    workspace: InWorkspace = None,
) -> None:
    """Revoke a key. It stops working at once."""
    confirm("Revoke this key for good?", yes=yes)

    async def revoke_key(gaby: Gaby) -> None:
        workspace_id = await _workspace(gaby, workspace)
        async with gaby.database.write(workspace_id) as session:
            match await ids_beginning(session, key_id, ApiKey):
                case [chosen]:
                    await gaby.identity.keys.revoke(session, operator(workspace_id), ApiKeyId(chosen))
                case None:
                    raise BadRequest("That is not a key's id. `gaby key list` shows the ids.")
                case []:
                    raise NotFound("No key has this id here. `gaby key list` shows the ids.")
                case _:
                    raise BadRequest("Several keys have ids that begin so. Give more characters.")

    run(revoke_key)
    echo("The key is revoked.", err=True)


async def _workspace(gaby: Gaby, slug: str | None) -> WorkspaceId:
    async with gaby.database.read(SYSTEM) as session:
        return WorkspaceId((await choose_workspace(gaby, session, slug)).id)


def _row(key: ApiKey) -> dict[str, object]:
    moments: dict[str, datetime | None] = {
        "expires_at": key.expires_at,
        "last_used_at": key.last_used_at,
        "revoked_at": key.revoked_at,
    }
    return {"name": key.name, "prefix": key.prefix, "scopes": key.scopes, "id": key.id, **moments}
