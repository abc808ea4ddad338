"""Setting up one of Gaby's own connectors: which settings it takes, and which of them are secret."""

from collections.abc import Mapping

from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.suggestions import unknown_name
from gaby.tools.connectors import NewConnector
from gaby.tools.launches import BundledSpec
from gaby_connectors.catalogue import BUNDLED, Bundle, settings_of_bundle
from gaby_connectors.sdk.config import ConnectorSetting


def bundled(name: str, kind: str, settings: Mapping[str, str]) -> NewConnector:
    """Only settings that the connector declares are passed on: another variable could change how Python itself runs."""
    bundle = _bundle(kind)
    declared = {setting.variable: setting for setting in declared_settings(kind)}
    if unknown := sorted(set(settings) - set(declared)):
        known = ", ".join(declared) or "none"
        raise Invalid(f"{kind} has no setting {', '.join(unknown)[:200]}. It has: {known}.")
    missing = [name for name, setting in declared.items() if setting.required and not settings.get(name)]
    if missing:
        wanted = "; ".join(f"{name}: {declared[name].description}" for name in missing)
        raise Invalid(f"{kind} needs {wanted}")
    secret = {name: value for name, value in settings.items() if declared[name].secret}
    plain = {name: value for name, value in settings.items() if not declared[name].secret}
    return NewConnector(
        name=name, kind=kind, way=BundledSpec(module=bundle.module, env=plain), secrets=secret, local=bundle.local
    )


def declared_settings(kind: str) -> tuple[ConnectorSetting, ...]:
    return settings_of_bundle(_bundle(kind))


def _bundle(kind: str) -> Bundle:
    bundle = BUNDLED.get(kind)
    if bundle is None:
        raise NotFound(unknown_name("connector of the kind", kind, sorted(BUNDLED)))
    return bundle
