"""The skills that every organ of Gaby shares: one small file each, with a prompt and an answer without a model."""

from gaby.llm.skill import Skills

SKILLS = Skills()
