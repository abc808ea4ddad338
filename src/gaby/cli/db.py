"""`gaby db`: bring the tables up to date, and check them."""

import typer

from gaby.app import explain_missing, open_configured_database
from gaby.cli.output import AsJson, echo, print_json
from gaby.cli.runtime import read_settings
from gaby.kernel.errors import GabyError
from gaby.migrations import find_drift, inspect_schema, unprotected, upgrade

app = typer.Typer(help="Bring the tables up to date, and check them.", no_args_is_help=True)


class SchemaDiffers(GabyError):
    """The tables are not as this version of Gaby expects them. Run `gaby db upgrade`, or restore a backup."""


@app.command("upgrade")
def upgrade_command() -> None:
    """Create or upgrade the tables. Safe to run again, and from several machines at once."""
    database = open_configured_database(read_settings())
    before = inspect_schema(database)
    if before != "current":
        echo("Upgrading the tables ...", err=True)
    upgrade(database)
    echo("The tables are up to date.", err=True)


@app.command()
def check(as_json: AsJson = False) -> None:
    """Compare the tables with what this version expects, and on Postgres that row-level security is in force."""
    settings = read_settings()
    database = open_configured_database(settings)
    state = inspect_schema(database)
    differences = find_drift(database) + unprotected(database) if state == "current" else []
    if as_json:
        print_json({"state": state, "differences": differences})
    else:
        echo(f"The tables are {state}.", err=True)
        for difference in differences:
            echo(difference)
    if state == "empty":
        raise SchemaDiffers(explain_missing(settings))
    if state != "current" or differences:
        raise SchemaDiffers
