"""The page of promises and the marks of the tests are held against each other."""

from scripts.promises import Promise, disagreements


def test_kept_and_partly_kept_promises_need_a_test_and_open_ones_have_none() -> None:
    known = {
        "A1": Promise("shown", "kept"),
        "A2": Promise("not shown", "kept"),
        "A3": Promise("half of it", "partly: one of two"),
        "A4": Promise("not built", "open"),
        "A5": Promise("built by now", "open"),
    }
    tests = {"A1": ["test_a"], "A5": ["test_b"], "A9": ["test_c"]}
    found = [problem.split()[1:5] for problem in disagreements(known, tests)]
    assert found == [
        ["test", "names", "promise", "A9,"],
        ["A2", "is", "kept", "in"],
        ["A3", "is", "partly:", "one"],
        ["A5", "is", "open", "in"],
    ]
