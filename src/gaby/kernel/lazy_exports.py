"""What a package exports, loaded when it is first asked for, so that a command pays only for what it runs."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, exports: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a package that says which of its modules defines which names.

    No name may be that of a module of the package: importing that module would put it in the place of the name.
    """
    defined_in = {name: module for module, names in exports.items() for name in names}

    def load(name: str) -> object:
        if name not in defined_in:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{defined_in[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return load
