"""`gaby skill`: what Gaby asks models, and how it answers without one. For people who tune prompts."""

import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from gaby.app import Gaby
from gaby.cli.output import AsJson, echo, print_json, print_rows, secho
from gaby.cli.runtime import read_settings, run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import RunId
from gaby.llm.prompts import Prompt, load_prompt
from gaby.llm.results import SkillContext, SkillResult, StreamReset, StreamToken
from gaby.llm.schemas import SkillOut
from gaby.llm.skill import Skill
from gaby.llm.untrusted_text import PromptRedactor
from gaby.safety import Placeholders, Redactor, parse_profile, tag_from
from gaby.skills import SKILLS

app = typer.Typer(help="What Gaby asks models, and how it answers without one.", no_args_is_help=True)


@app.command("list")
def list_skills(as_json: AsJson = False) -> None:
    """List every skill with its tier and the version of its prompt."""
    rows = [SkillOut.from_domain(skill).model_dump(mode="json") for skill in SKILLS]
    if not as_json:
        rows = [
            {
                "name": row["name"],
                "tier": row["tier"],
                "prompt": f"v{row['prompt_version']} {row['prompt_hash'][:8]}",
                "does": row["does"],
            }
            for row in rows
        ]
    print_rows(rows, as_json=as_json, empty="")


@app.command()
def show(name: str, as_json: AsJson = False) -> None:
    """Show a skill: what it takes, what it gives, its prompt, an example."""
    skill = SKILLS.find(name)
    description = {
        **SkillOut.from_domain(skill).model_dump(mode="json"),
        "takes": skill.takes.model_json_schema(),
        "gives": skill.gives.model_json_schema(),
        "example": None if skill.example is None else skill.example.model_dump(mode="json"),
        "prompt": skill.prompt.source,
    }
    if as_json:
        print_json(description)
        return
    secho(f"{skill.name} (tier {skill.tier}, prompt version {skill.prompt.id.version})", bold=True)
    echo(skill.does)
    for heading in ("takes", "gives"):
        secho(f"\n{heading}", bold=True)
        echo(json.dumps(description[heading], indent=2, ensure_ascii=False))
    secho(f"\nprompt {skill.prompt.id.hash[:12]}", bold=True)
    echo(skill.prompt.source)


@app.command("run")
def run_skill(
    name: str,
    file: Annotated[
        Path | None, typer.Option("--input", "-i", help="JSON that the skill takes; - reads standard input.")
    ] = None,
    prompt: Annotated[Path | None, typer.Option(help="Try this prompt instead of its own.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Run a skill on its example or on your input, with the workspace's models or without any."""
    skill = SKILLS.find(name)
    given = _given(skill, file)
    tried = load_prompt(prompt) if prompt is not None else None

    async def ask_skill(gaby: Gaby) -> SkillResult[Any]:
        actor = await operator_in(gaby, workspace)
        placeholders = Placeholders(tag_from(gaby.ids.new().bytes[-8:]))
        redactor = Redactor(parse_profile(read_settings().safety.profile))

        def conceal(text: str) -> str:
            return redactor.redact(text, placeholders, from_outside=True).text

        occasion = SkillContext(actor.workspace_id, RunId(gaby.ids.new()), PromptRedactor(conceal, conceal))
        if skill.form == "text" and not as_json:
            return await _streamed(gaby, skill, given, occasion, tried)
        return await gaby.models.runner.run(skill, given, occasion, prompt=tried)

    result = run(ask_skill)
    if as_json:
        print_json(_result_row(result))
        return
    if skill.form != "text" or result.offline:
        echo(json.dumps(result.value.model_dump(mode="json"), indent=2, ensure_ascii=False))
    _say_how(result)


async def _streamed(
    gaby: Gaby, skill: Skill[Any, Any], given: BaseModel, occasion: SkillContext, prompt: Prompt | None
) -> SkillResult[Any]:
    async with aclosing(gaby.models.runner.stream(skill, given, occasion, prompt=prompt)) as steps:
        async for step in steps:
            match step:
                case StreamToken(text=text):
                    echo(text, nl=False)
                case StreamReset(because=because):
                    secho(f"\n(again: {because})", fg="yellow", err=True)
                case SkillResult():
                    echo()
                    return step
    raise AssertionError("a skill ends with a result")


def _given(skill: Skill[Any, Any], file: Path | None) -> BaseModel:
    if file is None:
        if skill.example is None:
            raise BadRequest("This skill has no example. Give it something with --input FILE.")
        return skill.example
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        return skill.takes.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "input"
        raise BadRequest(f"{where}: {first['msg']}. `gaby skill show {skill.name}` says what it takes.") from None


def _result_row(result: SkillResult[Any]) -> dict[str, Any]:
    return {
        "value": result.value.model_dump(mode="json"),
        "source": result.source,
        "degraded": result.degraded,
        "trouble": result.trouble,
        "tier": result.tier,
        "prompt": {"name": result.prompt.name, "version": result.prompt.version, "hash": result.prompt.hash},
        "hops": [{"model": hop.model, "outcome": hop.outcome, "milliseconds": hop.milliseconds} for hop in result.hops],
        "tokens": result.usage.total,
        "usd": None if result.nano_usd is None else result.nano_usd / 1e9,
    }


def _say_how(result: SkillResult[Any]) -> None:
    for hop in result.hops:
        secho(f"{hop.model}: {hop.outcome} ({hop.milliseconds} ms)", fg="bright_black", err=True)
    if result.degraded:
        secho(f"No model answered ({result.trouble}); Gaby answered by itself.", fg="yellow", err=True)
    elif result.offline:
        secho("No model was asked; Gaby answered by itself.", fg="bright_black", err=True)
    else:
        cost = "unknown cost" if result.nano_usd is None else f"${result.nano_usd / 1e9:.5f}"
        secho(f"{result.source}, {result.usage.total} tokens, {cost}", fg="bright_black", err=True)
