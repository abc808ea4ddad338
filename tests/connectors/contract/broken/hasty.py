"""Remembers a dry run as done."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def rename(self, given: dict[str, Any]) -> dict[str, Any]:
        key = given.get("idempotency_key", "")
        if given.get("dry_run"):
            self.remembered.setdefault(key, super().rename(given))
        return self.remembered.get(key) or super().rename(given)


if __name__ == "__main__":
    Broken().run()
