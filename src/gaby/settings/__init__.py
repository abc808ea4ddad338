"""Every setting of Gaby: one tree that describes itself, and how it is read."""

from gaby.settings.loading import Loaded, Setting, all_settings, load
from gaby.settings.models import ModelSettings
from gaby.settings.tree import BudgetSettings, Duration, Settings

__all__ = ["BudgetSettings", "Duration", "Loaded", "ModelSettings", "Setting", "Settings", "all_settings", "load"]
