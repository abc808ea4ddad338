"""The list of commands: it is what the commands say of themselves, and costs nothing to show."""

import subprocess
import sys

import typer

from gaby.cli import COMMANDS, build_app


def test_what_is_said_of_a_command_is_what_it_says_itself() -> None:
    root = typer.main.get_command(build_app())
    loaded = {name: " ".join(str(command.help).split()) for name, command in vars(root)["commands"].items()}
    assert loaded.keys() == COMMANDS.keys()
    for name, says in COMMANDS.items():
        assert loaded[name].startswith(says), name


def test_help_and_one_command_load_little() -> None:
    code = (
        "import sys, gaby.cli\n"
        "sys.argv = ['gaby', *sys.argv[1:]]\n"
        "try:\n    gaby.cli.main()\nexcept SystemExit:\n    pass\n"
        "print(sorted(set(sys.modules) & {'gaby.app', 'fastapi', 'numpy', 'anthropic', 'openai', 'genai_prices'}))"
    )

    def loaded(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    assert loaded("--help") == "[]"
    assert loaded("workspace", "--help") == "['gaby.app']"
