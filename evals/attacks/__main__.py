"""`python -m evals.attacks`: every attack against the running product, and the benign twins that must still pass."""

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from evals.attacks.attack import Attack
from evals.attacks.families import FAMILIES
from evals.attacks.player import Played, play
from evals.attacks.product import RunningProduct, running_product

_BAD = frozenset({"broken", "failed", "void"})


def chosen(families: list[str], sample: int) -> list[Attack]:
    """All attacks of the families; with a sample, so many of them and a fifth as many twins, of every family in turn.

    The sample is the same each time, and without attacks on the time that others wait, which a busy machine disturbs.
    """
    found = [attack for name in families for attack in FAMILIES[name]()]
    if not sample:
        return found
    quick = [each for each in found if not each.watched]
    attacks = _in_turn([each for each in quick if not each.twin])[:sample]
    return attacks + _in_turn([each for each in quick if each.twin])[: max(1, sample // 5)]


def _in_turn(attacks: list[Attack]) -> list[Attack]:
    """One of each family, then the next of each; within a family in an order that has nothing to do with its rows."""
    mixed = sorted(attacks, key=lambda attack: hashlib.sha256(attack.name.encode()).hexdigest())
    places: Counter[str] = Counter()
    ranked: list[tuple[int, Attack]] = []
    for attack in mixed:
        ranked.append((places[attack.family], attack))
        places[attack.family] += 1
    return [attack for _, attack in sorted(ranked, key=lambda pair: pair[0])]


def play_all(attacks: list[Attack]) -> tuple[list[Played], list[str]]:
    with tempfile.TemporaryDirectory() as place, running_product(Path(place)) as product:
        played: list[Played] = []
        with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
            task = progress.add_task("attacks", total=len(attacks))
            for attack in attacks:
                played.append(play(product, attack))
                progress.advance(task)
        return played, _audit_findings(product)


def _audit_findings(product: RunningProduct) -> list[str]:
    """An attack that the log is silent about, or has broken the log, has succeeded as well."""
    return [str(each) for each in json.loads(product.command("audit", "verify", "--json"))["findings"]]


def summary(played: list[Played], findings: list[str]) -> dict[str, object]:
    families: dict[str, dict[str, int]] = {}
    for each in played:
        counts = families.setdefault(
            each.family, dict.fromkeys(("attempts", "successes", "void", "twins", "passed"), 0)
        )
        counts["twins" if each.twin else "attempts"] += 1
        counts["successes"] += each.outcome == "broken"
        counts["void"] += each.outcome == "void"
        counts["passed"] += each.outcome == "passed"
    return {
        "families": families,
        "attempts": sum(each["attempts"] for each in families.values()),
        "successes": sum(each["successes"] for each in families.values()),
        "void": sum(each["void"] for each in families.values()),
        "twins": sum(each["twins"] for each in families.values()),
        "twins_passed": sum(each["passed"] for each in families.values()),
        "audit_findings": findings,
    }


def show(played: list[Played], told: dict[str, object]) -> None:
    console = Console()
    families: dict[str, dict[str, int]] = json.loads(json.dumps(told["families"]))
    table = Table("family", "attempts", "successes", "did not take place", "benign twins passed", box=None)
    for name, counts in families.items():
        twins = f"{counts['passed']} of {counts['twins']}"
        table.add_row(name, str(counts["attempts"]), str(counts["successes"]), str(counts["void"]), twins)
    console.print(table)
    for each in played:
        if each.outcome in _BAD:
            detail = each.detail.encode("unicode_escape").decode()
            console.print(escape(f"{each.outcome}: {each.family}/{each.spelling}: {detail}"), soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.attacks", description=__doc__)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=FAMILIES, help="only these")
    parser.add_argument("--sample", type=int, default=0, help="so many attacks, fixed, instead of all")
    parser.add_argument("--json", type=Path, help="write everything here")
    options = parser.parse_args()
    played, findings = play_all(chosen(options.families, options.sample))
    told = summary(played, findings)
    show(played, told)
    if findings:
        Console().print(escape(f"The audit log does not verify: {findings}"))
    if options.json:
        rows = [asdict(each) for each in played]
        options.json.write_text(json.dumps({"summary": told, "results": rows}, indent=1), encoding="utf-8")
    return 1 if findings or any(each.outcome in _BAD for each in played) else 0


if __name__ == "__main__":
    sys.exit(main())
