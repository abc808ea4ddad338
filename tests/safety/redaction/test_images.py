"""Whatever loads by being looked at is found where it stands."""

import pytest

from gaby.safety.redaction.images import find_images, remote

pytestmark = pytest.mark.promise("S9")


def test_images_are_found_where_they_stand() -> None:
    text = "a ![x](https://evil.example/1) <img src=//evil.example/2> ![y][z]\n[z]: //evil.example/3"
    places = [(text[start:end], value) for start, end, value in find_images(text)]
    assert places == [
        ("![x](https://evil.example/1)", "https://evil.example/1"),
        ("![y][z]", "https://evil.example/3"),
        ("<img src=//evil.example/2>", "https://evil.example/2"),
    ]
    assert list(find_images("![x](local.png) <img src=local.png> ![y]")) == []


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("https://evil.example/p", "https://evil.example/p"),
        ("//evil.example/p", "https://evil.example/p"),
        ("\\\\evil.example/p", "https://evil.example/p"),
        ("evil.example", "https://evil.example"),
        ("evil.example/p", "https://evil.example/p"),
        ("ftp://evil.example/p", "ftp://evil.example/p"),
        ("javascript:x", "javascript:x"),
        ("p.png", None),
        ("/p.png", None),
        ("a/evil.example/p", None),
        ("data:image/png;base64,AAAA", None),
        ("", None),
    ],
)
def test_an_address_is_remote_or_not(address: str, value: str | None) -> None:
    assert remote(address) == value
