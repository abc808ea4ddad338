"""`gaby encryption`: rotate the master key, and shred what was kept about a subject."""

from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.confirmation import confirm
from gaby.cli.output import AsJson, echo, print_json
from gaby.cli.progress import busy
from gaby.cli.runtime import operator, read_settings, run
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, WorkspaceId

app = typer.Typer(help="Rotate the master key, and shred what was kept about a subject.", no_args_is_help=True)


@app.command()
def rotate(as_json: AsJson = False) -> None:
    """Make a new master key and wrap every data key with it. The old one stays in the file for reading."""
    if read_settings().crypto.master_key is not None:
        raise BadRequest(
            "The master key comes from GABY_CRYPTO_MASTER_KEY. Add a new key to that value and make it the active one."
        )

    async def rotate_master_key(gaby: Gaby) -> dict[str, object]:
        new_id = gaby.master_keys.rotate()
        wrapped = 0
        for workspace_id in await _everywhere(gaby):
            wrapped += await _rewrap(gaby, workspace_id)
        async with gaby.database.write(SYSTEM) as session:
            session.emit(Event("encryption.rotated", SYSTEM, operator(), {"master_key": new_id, "rewrapped": wrapped}))
        return {"master_key": new_id, "rewrapped": wrapped}

    with busy("Wrapping every data key anew"):
        done = run(rotate_master_key)
    if as_json:
        print_json(done)
    else:
        echo(f"The master key is now {done['master_key']}; {done['rewrapped']} data keys were wrapped anew.")


@app.command()
def shred(
    subject: Annotated[str, typer.Argument(help="Whose data to make unreadable, such as person:ID.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Destroy a subject's key in every workspace. What was sealed for them stays shut for ever; proofs still hold."""
    confirm(f"Make everything sealed for {subject} unreadable for ever?", yes=yes)

    async def shred_subject(gaby: Gaby) -> int:
        shredded = 0
        for workspace_id in await _everywhere(gaby):
            async with gaby.database.write(workspace_id) as session:
                if await gaby.vault.shred(session, subject):
                    shredded += 1
                    session.emit(
                        Event("encryption.shredded", workspace_id, operator(workspace_id), {"subject": subject})
                    )
        return shredded

    if not run(shred_subject):
        raise NotFound(f"Nothing is sealed for {subject}.")
    echo("Shredded.", err=True)


async def _rewrap(gaby: Gaby, workspace_id: WorkspaceId) -> int:
    """In small transactions, so that others can write in between; run again after a crash, it goes on."""
    wrapped = 0
    while True:
        async with gaby.database.write(workspace_id) as session:
            done = await gaby.vault.rewrap(session)
        if not done:
            return wrapped
        wrapped += done


async def _everywhere(gaby: Gaby) -> list[WorkspaceId]:
    async with gaby.database.read(SYSTEM) as session:
        return [SYSTEM, *(WorkspaceId(each.id) for each in await gaby.identity.workspaces.all(session))]
