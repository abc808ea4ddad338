"""What all skills of this package share."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

PROMPTS = Path(__file__).parent / "prompts"


class SkillInput(BaseModel):
    """What a skill takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SkillOutput(BaseModel):
    """What a skill gives. A model that adds to it is told to leave that out."""

    model_config = ConfigDict(extra="forbid", frozen=True)
