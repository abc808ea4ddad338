"""Read by Python at the start of every process that the chaos tests start: steps clocks, and plants bugs.

The product is the real command and knows nothing of it. What is changed is changed when its module has been loaded.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_CLOCK = os.environ.get("CHAOS_CLOCK", "")
_BUG = os.environ.get("CHAOS_BUG", "")


class _Changed(Loader):
    def __init__(self, loader: Loader, change: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._change = change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)


class _Finder(MetaPathFinder):
    def __init__(self, changes: dict[str, Callable[[ModuleType], None]]) -> None:
        self._changes = changes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        change = self._changes.get(fullname)
        module_spec = PathFinder.find_spec(fullname, path, target) if change is not None else None
        if change is None or module_spec is None or module_spec.loader is None:
            return None
        module_spec.loader = _Changed(module_spec.loader, change)
        return module_spec


def _wrong_by() -> float:
    try:
        with open(_CLOCK) as file:  # noqa: PTH123  Loading pathlib into every process would slow each start.
            return float(file.read() or 0)
    except (OSError, ValueError):
        return 0.0


def _step_clock(module: ModuleType) -> None:
    from datetime import timedelta  # noqa: PLC0415

    now = module.SystemClock.now

    def stepped(self: object) -> object:
        return now(self) + timedelta(seconds=_wrong_by())

    module.SystemClock.now = stepped
    real = time.time
    time.time = lambda: real() + _wrong_by()


_changes: dict[str, Callable[[ModuleType], None]] = {}
if _CLOCK:
    _changes["gaby.kernel.clock"] = _step_clock
if _BUG:
    from tests.chaos.bugs import BUGS

    _changes |= BUGS[_BUG]
if _changes:
    sys.meta_path.insert(0, _Finder(_changes))
