"""Which workspace a command works in."""

from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli import completion
from gaby.cli.hints import remember_workspace
from gaby.cli.runtime import choose_workspace, operator
from gaby.kernel.actors import Actor
from gaby.kernel.ids import SYSTEM, WorkspaceId

InWorkspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        "-w",
        help="Slug; GABY_WORKSPACE or the only one if not given.",
        callback=remember_workspace,
        autocompletion=completion.workspaces,
    ),
]


async def operator_in(gaby: Gaby, slug: str | None) -> Actor:
    """Whoever sits at the keyboard, acting in the named workspace or the only one."""
    async with gaby.database.read(SYSTEM) as session:
        return operator(WorkspaceId((await choose_workspace(gaby, session, slug)).id))
