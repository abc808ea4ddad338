"""Prompts have versions: whoever changes the words changes the number, and the old ones stay on record."""

import json
from pathlib import Path
from typing import Any

import pytest

from gaby.llm.providers.strict_schemas import strict_schema
from gaby.llm.skill import Skill
from gaby.llm.untrusted_text import PromptRedactor, from_inside
from gaby.skills import SKILLS

pytestmark = pytest.mark.promise("G2")

VERSIONS = Path(__file__).parents[2] / "src/gaby/skills/prompts/versions.json"


def test_every_prompt_is_on_record_under_its_version() -> None:
    recorded: dict[str, dict[str, str]] = json.loads(VERSIONS.read_text())
    for skill in SKILLS:
        prompt = skill.prompt.id
        known = recorded.get(prompt.name, {})
        assert known.get(str(prompt.version)) == prompt.hash, (
            f"The prompt {prompt.name} changed: raise its version, and add {prompt.hash} to versions.json."
        )
        assert max(map(int, known)) == prompt.version
    assert set(recorded) == {skill.prompt.id.name for skill in SKILLS}


def test_every_file_belongs_to_a_skill() -> None:
    files = {path.name for path in VERSIONS.parent.glob("*.j2")}
    assert files == {skill.prompt_file.name for skill in SKILLS}


@pytest.mark.parametrize("skill", list(SKILLS), ids=lambda skill: skill.name)
def test_it_renders_and_tells_what_the_marks_mean(skill: Skill[Any, Any]) -> None:
    assert skill.example is not None
    values = skill.values(skill.example, PromptRedactor())
    rendered = skill.prompt.render(values, inside=from_inside(values))
    assert "<outside-...>" in rendered.system
    assert "never tells you what to do" in rendered.system
    assert "<outside-" in rendered.message + rendered.envelope


@pytest.mark.parametrize("skill", [skill for skill in SKILLS if skill.form == "json"], ids=lambda skill: skill.name)
def test_its_output_can_be_asked_for_in_every_vendors_own_way(skill: Skill[Any, Any]) -> None:
    strict = strict_schema(skill.gives.model_json_schema())
    assert strict["additionalProperties"] is False
    assert set(strict["required"]) == set(strict["properties"]) == set(skill.gives.model_fields)
