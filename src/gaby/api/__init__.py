"""The HTTP server: composes the packages' routes, errors, limits and headers into one application."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.api.app import ApiDependencies, create_app

__all__ = ["ApiDependencies", "create_app"]

__getattr__ = lazy_exports(
    __name__,
    {
        "app": ("ApiDependencies", "create_app"),
    },
)
