"""The composition root: builds every service once, when it is first used."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.app.compose import Gaby, build
    from gaby.app.installation import (
        configured_url,
        explain_missing,
        open_configured_database,
        prepare_installation,
        require_installation,
    )

__all__ = [
    "Gaby",
    "build",
    "configured_url",
    "explain_missing",
    "open_configured_database",
    "prepare_installation",
    "require_installation",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "compose": ("Gaby", "build"),
        "installation": (
            "configured_url",
            "explain_missing",
            "open_configured_database",
            "prepare_installation",
            "require_installation",
        ),
    },
)
