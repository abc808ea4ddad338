"""The check that class names are unique finds what is not, and nothing in the source."""

from pathlib import Path

from scripts.unique_classes import ROOT, duplicates


def test_no_two_classes_of_the_source_have_one_name() -> None:
    assert duplicates(ROOT / "src") == {}


def test_each_place_is_named(tmp_path: Path) -> None:
    for path, text in {
        "gaby/one.py": "class Found:\n    class Inner: ...\n",
        "gaby/two.py": "\nclass Found: ...\nclass Alone: ...\n",
        "gaby/three.py": "def make() -> None:\n    class Inner: ...\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert duplicates(tmp_path) == {
        "Found": ["gaby/one.py:1", "gaby/two.py:2"],
        "Inner": ["gaby/one.py:2", "gaby/three.py:2"],
    }


def test_names_that_connectors_show_are_left_to_them(tmp_path: Path) -> None:
    for path in ("gaby/one.py", "gaby_connectors/two.py", "gaby_connectors/three.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("class User: ...\n")
    assert duplicates(tmp_path) == {}
