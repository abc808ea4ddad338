"""`gaby user`: people, from the machine where Gaby runs."""

import sys
from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.cli.hints import remember_workspace
from gaby.cli.output import AsJson, echo, print_rows
from gaby.cli.runtime import choose_workspace, operator, run
from gaby.cli.workspace_option import InWorkspace
from gaby.identity import Role
from gaby.identity.people import Member
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import SYSTEM, PersonId, WorkspaceId

app = typer.Typer(help="People, from the machine where Gaby runs.", no_args_is_help=True)

OfWorkspace = Annotated[
    str | None,
    typer.Option(
        "--workspace", "-w", help="Whose invitation made the account, if one did.", callback=remember_workspace
    ),
]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.command("list")
def list_people(workspace: InWorkspace = None, as_json: AsJson = False) -> None:
    """List the people of a workspace."""

    async def load_members(gaby: Gaby) -> list[Member]:
        async with gaby.database.read(SYSTEM) as session:
            chosen = await choose_workspace(gaby, session, workspace)
        members: list[Member] = []
        async with gaby.database.read(WorkspaceId(chosen.id)) as session:
            while page := await gaby.identity.people.list(session, after=members[-1].id if members else None):
                members.extend(page)
        return members

    rows = [
        {"email": m.email, "name": m.name, "role": m.role.value, "id": m.id, "since": m.since}
        for m in run(load_members)
    ]
    print_rows(rows, as_json=as_json, empty="Nobody yet. `gaby user add EMAIL`.")


@app.command()
def add(
    email: str,
    name: Annotated[str | None, typer.Option(help="Their name; the address, if not given.")] = None,
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.OPERATOR,
    workspace: InWorkspace = None,
    installation: Annotated[bool, typer.Option(help="Lets them manage the whole installation.")] = False,
    password_stdin: FromStdin = False,
) -> None:
    """Add somebody to a workspace. Asks for a password if they are new.

    An account that an invitation made is another one: only its workspace vouches for its address.
    """
    password = _ask_password(password_stdin)

    async def add_member(gaby: Gaby) -> None:
        async with gaby.database.write(AllWorkspaces("the command line adds a person")) as session:
            chosen = await choose_workspace(gaby, session, workspace)
            person = await gaby.identity.people.find(session, email)
            if person is None:
                person = await gaby.identity.people.create(
                    session,
                    operator(),
                    email=email,
                    name=name or email,
                    password=password,
                    manages_installation=installation,
                )
            await gaby.identity.people.join(session, operator(), WorkspaceId(chosen.id), person, role)

    run(add_member)
    echo(f"{email} may now sign in.", err=True)


@app.command()
def password(email: str, workspace: OfWorkspace = None, password_stdin: FromStdin = False) -> None:
    """Set somebody's password and end all their sign-ins."""
    new = _ask_password(password_stdin)

    async def change_password(gaby: Gaby) -> None:
        async with gaby.database.write(SYSTEM) as session:
            home = WorkspaceId((await choose_workspace(gaby, session, workspace)).id) if workspace else None
            person = await gaby.identity.people.find(session, email, home=home)
            if person is None:
                raise NotFound(
                    f"Nobody is known as {email}. `gaby user list` shows who is; for somebody who joined with an "
                    "invitation, add --workspace."
                )
            await gaby.identity.people.set_password(session, operator(), person, new)
            await gaby.identity.sign_ins.end_all(session, operator(), PersonId(person.id))
            await gaby.identity.devices.forget_all(session, PersonId(person.id))

    run(change_password)
    echo("The password is set.", err=True)


def _ask_password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise BadRequest("There is no terminal to ask for a password. Use --password-stdin.")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True)
