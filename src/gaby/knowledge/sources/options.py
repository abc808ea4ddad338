"""Reads the options of a source, and says of a wrong one what to write instead."""

from collections.abc import Callable, Iterable, Mapping

from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.source import BadSource, DocumentSource

Plan = Callable[[SourceDependencies], DocumentSource]
"""How to make a source, once everything that was said of it has been found right."""


class SourceOptions:
    def __init__(self, options: Mapping[str, str], allowed: Iterable[str]) -> None:
        self._options = options
        names = sorted(allowed)
        for name in options:
            if name not in names:
                known = f"There are: {', '.join(names)}." if names else "This kind of source has none."
                raise BadSource(f"There is no option `{name[:40]}`. {known}")

    def text(self, name: str, default: str = "") -> str:
        return self._options.get(name, "").strip() or default

    def names(self, name: str) -> tuple[str, ...]:
        """What is between the commas."""
        return tuple(part.strip() for part in self.text(name).split(",") if part.strip())

    def number(self, name: str, default: float, least: float, most: float) -> float:
        text = self.text(name)
        if not text:
            return default
        try:
            number = float(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise BadSource(f"`{name}` must be a number from {least:g} to {most:g}.")
        return number

    def one_of(self, name: str, *allowed: str) -> str:
        """Empty when it is not given."""
        text = self.text(name).lower()
        if text and text not in allowed:
            raise BadSource(f"`{name}` must be {' or '.join(allowed)}.")
        return text

    def yes(self, name: str, *, default: bool) -> bool:
        return {"yes": True, "no": False}.get(self.one_of(name, "yes", "no"), default)


def usable_secret(config: SourceConfig) -> str:
    secret = (config.secret or "").strip()
    if not secret:
        raise BadSource("This source needs a token. Make one there with leave to read, and give it as the secret.")
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise BadSource("The token has characters that no token has. Copy it once more.")
    return secret


def no_secret(config: SourceConfig, why: str = "") -> None:
    if config.secret:
        raise BadSource(f"This source takes no secret. {why}".strip())
