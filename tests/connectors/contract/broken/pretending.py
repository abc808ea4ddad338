"""Does it all the same in a dry run."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def rename(self, given: dict[str, Any]) -> dict[str, Any]:
        done = super().rename(given | {"dry_run": False, "idempotency_key": str(self.renamed)})
        return {**done, "dry_run": bool(given.get("dry_run"))}


if __name__ == "__main__":
    Broken().run()
