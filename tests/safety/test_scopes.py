"""Scopes: what is not allowed is denied, a denial beats a permission, and no value can step out of its place."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gaby.safety import AccessRules, MalformedScope, Scopes, check_scope, scope_path
from gaby.safety.scopes import checked_pattern, template_arguments

pytestmark = pytest.mark.promise("S2")


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("users", ["users"], ["user", "users/1", "xusers", ""]),
        ("users/*", ["users/1", "users/a.b", "users/"], ["users", "users/1/2", "groups/1"]),
        ("users/*/unlock", ["users/7/unlock"], ["users/7/lock", "users/7/8/unlock", "users/unlock"]),
        ("users/{id}/unlock", ["users/7/unlock"], ["users//unlock", "users/7/8/unlock"]),
        ("users/u-*", ["users/u-1", "users/u-"], ["users/v-1", "users/xu-1"]),
        ("users/{a}-{b}", ["users/1-2"], ["users/1", "users/-"]),
        ("**", ["", "a", "a/b/c"], []),
        ("a/**", ["a", "a/b", "a/b/c"], ["b", "ab", "ab/c"]),
        ("**/z", ["z", "a/z", "a/b/z"], ["az", "z/a"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a", "z", "az"]),
        ("a.b", ["a.b"], ["axb"]),
        ("a*b*c", ["abc", "axbxc", "abbc", "abcbc"], ["ac", "abcx", "acb", "xabc"]),
        ("{x}b{y}", ["abc", "bbb", "abbb"], ["b", "bc", "ab", "bb"]),
        ("a*a", ["aa", "aba", "aaa"], ["a", "ab"]),
        ("a*a*a", ["aaa", "abaca"], ["a", "aa", "aba"]),
        ("{x}{y}", ["ab", "abc"], ["a", ""]),
        ("*a", ["a", "ba", "aa"], ["b", "ab", ""]),
        ("{x}a", ["aa", "ba"], ["a", ""]),
    ],
)
def test_a_pattern_fits_what_it_says_and_nothing_else(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    rules = AccessRules(allow=(pattern,))
    assert [path for path in fits if not check_scope(rules, path).allowed] == []
    assert [path for path in fits_not if check_scope(rules, path).allowed] == []


@pytest.mark.parametrize(
    "pattern",
    [
        *["", "/", "a//b", "a/", "/a", "a b", "a***", "{", "{}", "{A}", "{1a}", "a/{id", "a?", "[ab]", "a\n", "a\0"],
        *["é", "x" * 201, "a|b", "(a)", "^a$", "a**"],
    ],
)
def test_a_malformed_pattern_is_refused_with_an_example(pattern: str) -> None:
    with pytest.raises(MalformedScope, match=r"users/\{id\}/unlock"):
        checked_pattern(pattern)
    with pytest.raises((ValidationError, MalformedScope)):
        AccessRules(allow=(pattern,))


def test_the_longest_pattern_is_two_hundred_characters_and_a_longer_one_is_shown_by_its_beginning() -> None:
    assert checked_pattern("x" * 200) == "x" * 200
    with pytest.raises(MalformedScope, match=f"^'{'x' * 80}' is not a scope pattern"):
        checked_pattern("x" * 201)


def test_rules_cannot_be_changed_behind_an_operators_back() -> None:
    for rules, name in ((AccessRules(), "allow"), (Scopes(), "write")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(rules, name, ())


def test_unknown_access_is_refused() -> None:
    with pytest.raises(ValidationError):
        Scopes.model_validate({"execute": {"allow": ["**"]}})
    with pytest.raises(ValidationError):
        AccessRules.model_validate({"allow": [], "maybe": []})


def test_a_denial_beats_a_permission_and_both_name_their_pattern() -> None:
    rules = AccessRules(allow=("a", "users/**"), deny=("b", "users/*/delete"))
    allowed, denied, other = (check_scope(rules, path) for path in ("users/7", "users/7/delete", "groups"))
    assert (allowed.allowed, allowed.rule, allowed.pattern) == (True, "scope.allowed", "users/**")
    assert (denied.allowed, denied.rule, denied.pattern) == (False, "scope.denied", "users/*/delete")
    assert (other.allowed, other.rule, other.pattern) == (False, "scope.not_allowed", None)


def test_a_new_connector_may_read_everything_and_write_nothing() -> None:
    scopes = Scopes.reading()
    assert check_scope(scopes.read, "anything/at/all").allowed
    assert not check_scope(scopes.write, "anything").allowed
    assert not check_scope(Scopes().read, "anything").allowed


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"id": "7"}, "users/7/unlock"),
        ({"id": 7}, "users/7/unlock"),
        ({"id": 7.5}, "users/7.5/unlock"),
        ({"id": "a/b"}, "users/a%2Fb/unlock"),
        ({"id": "../admin"}, "users/..%2Fadmin/unlock"),
        ({"id": "*"}, "users/%2A/unlock"),
        ({"id": "ä b"}, "users/%C3%A4%20b/unlock"),
        ({"id": ""}, "users/-/unlock"),
        ({"id": None}, "users/-/unlock"),
        ({"id": ["7"]}, "users/-/unlock"),
        ({}, "users/-/unlock"),
    ],
)
def test_a_path_is_filled_with_quoted_values(arguments: dict[str, object], path: str) -> None:
    assert scope_path("users/{id}/unlock", arguments) == path


def test_a_path_names_the_arguments_that_fill_it() -> None:
    assert template_arguments("users/{user_id}/mail/{address.local}") == ["user_id", "address.local"]
    assert template_arguments("find_user") == []


def test_a_path_without_places_is_taken_as_it_is() -> None:
    assert scope_path("find_user", {"id": "x"}) == "find_user"


@given(st.text(max_size=40))
def test_no_value_can_add_a_segment_or_a_wildcard(value: str) -> None:
    path = scope_path("users/{id}/unlock", {"id": value})
    assert path.count("/") == 2
    assert "*" not in path
    assert "{" not in path
    assert check_scope(AccessRules(allow=("users/{id}/unlock",)), path).allowed


def test_no_pattern_and_no_path_take_long() -> None:
    rules = AccessRules(allow=("/".join(["**", "a*a*a*a*a*a*a*a*b"] * 8),))
    assert not check_scope(rules, "/".join(["a" * 2000] * 40)).allowed


@pytest.mark.parametrize("value", ["r-1001", "R-1001", " r-1001", "r-1001 ", "r-1001\n", "R-1001\t"])
def test_a_denial_holds_however_the_value_is_written(value: str) -> None:
    rules = AccessRules(allow=("**",), deny=("rows/r-1001/credit",))
    assert not check_scope(rules, scope_path("rows/{row_id}/credit", {"row_id": value})).allowed


SEGMENTS = st.lists(
    st.sampled_from(["a", "b", "*", "**", "{id}", "a*", "*a", "a*b", "{id}b", "a{id}", "*{id}"]), min_size=1, max_size=4
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "c", "", "aab", "bb"]), min_size=1, max_size=5)


def fits(pattern: list[str], path: list[str]) -> bool:
    """A second opinion, written as one would explain it."""
    if not pattern:
        return not path
    first, *rest = pattern
    if first == "**":
        return any(fits(rest, path[start:]) for start in range(len(path) + 1))
    if not path:
        return False
    segment = first.replace("{id}", ".+").replace("*", ".*")
    return bool(re.fullmatch(segment, path[0])) and fits(rest, path[1:])


@given(SEGMENTS, PATHS)
def test_patterns_agree_with_a_second_opinion(pattern: list[str], path: list[str]) -> None:
    found = check_scope(AccessRules(allow=("/".join(pattern),)), "/".join(path)).allowed
    assert found == fits(pattern, path)
