"""Every setting of Gaby: one tree that describes itself, and how it is read."""

from gaby.settings.base import written_duration
from gaby.settings.loader import LoadedSettings, Setting, all_settings, load
from gaby.settings.models import ModelSettings
from gaby.settings.tree import BudgetSettings, Duration, Settings

__all__ = [
    "BudgetSettings",
    "Duration",
    "LoadedSettings",
    "ModelSettings",
    "Setting",
    "Settings",
    "all_settings",
    "load",
    "written_duration",
]
