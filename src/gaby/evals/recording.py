"""A recorded incident as it lies in a folder: metrics, events and load of a database, with when they were taken."""

import json
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]
_METRICS = "aws_cloudwatch_metrics"
_FALLS, _RISES = 0.8, 1.25
"""From here on the end of a window differs from its beginning."""


class Recording:
    """Only what the folder holds. What was not recorded is missing, as it was for whoever was on call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def metrics(self) -> list[Json]:
        together = self._read(f"{_METRICS}.json")
        if together is not None:
            return cast("list[Json]", together.get("metric_data_results", []))
        # Some recordings have a file for each metric.
        files = sorted(self._folder.glob(f"{_METRICS}_*.json"))
        series = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        return [metric for metric in series if "values" in metric]

    @property
    def events(self) -> list[Json]:
        return cast("list[Json]", (self._read("aws_rds_events.json") or {}).get("events", []))

    @property
    def load(self) -> Json:
        return self._read("aws_performance_insights.json") or {}

    def _read(self, name: str) -> Json | None:
        file = self._folder / name
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def instance_of(metric: Json) -> str:
    return next((str(each.get("Value", "")) for each in metric.get("dimensions", [])), "")


def direction(values: list[float]) -> str:
    """What a curve does from its first quarter to its last, in a word."""
    if not values:
        return "nothing recorded"
    quarter = max(1, len(values) // 4)
    first, last = sum(values[:quarter]) / quarter, sum(values[-quarter:]) / quarter
    if first == last:
        return "steady"
    if last < first * _FALLS:
        return "falls"
    return "rises" if last > first * _RISES else "steady"
