"""A name that is not known is answered with the nearest one."""

from gaby.kernel.suggestions import unknown_name


def test_the_nearest_name_is_suggested() -> None:
    told = unknown_name("kind of source", "Foldr", ["file", "folder"])
    assert told == "There is no kind of source 'Foldr'. Did you mean folder? There are: file, folder."


def test_where_none_is_near_all_are_listed() -> None:
    told = unknown_name("kind of source", "x" * 90, ["file", "folder"])
    assert told == f"There is no kind of source '{'x' * 40}'. There are: file, folder."
