"""`gaby workspace`: the customers or departments that share this installation."""

from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.output import AsJson, print_rows
from gaby.cli.runtime import operator, run
from gaby.identity.models import Workspace
from gaby.kernel.ids import SYSTEM

app = typer.Typer(help="The customers or departments that share this installation.", no_args_is_help=True)


@app.command("list")
def list_workspaces(as_json: AsJson = False) -> None:
    """List the workspaces."""

    async def load_workspaces(gaby: Gaby) -> list[Workspace]:
        async with gaby.database.read(SYSTEM) as session:
            return list(await gaby.workspaces.all(session))

    empty = "No workspace yet. `gaby workspace create acme` makes one."
    print_rows([_row(each) for each in run(load_workspaces)], as_json=as_json, empty=empty)


@app.command()
def create(
    slug: Annotated[str, typer.Argument(help="Short name for commands, such as acme.")],
    name: Annotated[str | None, typer.Option(help="Name for people. The slug, if not given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a workspace."""

    async def create_workspace(gaby: Gaby) -> Workspace:
        async with gaby.database.write(SYSTEM) as session:
            return await gaby.workspaces.create(session, operator(), slug=slug, name=name or slug)

    print_rows([_row(run(create_workspace))], as_json=as_json, empty="")


def _row(workspace: Workspace) -> dict[str, object]:
    return {"slug": workspace.slug, "name": workspace.name, "id": workspace.id, "created_at": workspace.created_at}
