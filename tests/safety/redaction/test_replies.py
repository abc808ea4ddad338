"""A reply loads nothing from elsewhere, and its links lead where they say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaby.safety.carriers import clean_reply
from gaby.safety.redaction.replies import find_images, remote

pytestmark = pytest.mark.promise("S9")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "All is well. See https://acme.example/help or [our help](https://acme.example/help).",
        "[acme.example](https://acme.example/help)",
        "[https://acme.example](https://acme.example/)",
        "[https://acme.example/](https://acme.example)",
        "[https://acme.example/help](https://acme.example/help)",
        "[acme.example/help](https://acme.example/help)",
        "[ACME.example](https://acme.example)",
        '<a href="https://acme.example/help">our help</a>',
        '<a href="https://acme.example/help">acme.example</a>',
        "[ada@acme.example](mailto:ada@acme.example)",
        "[Ada@ACME.example](mailto:ada@acme.example?subject=hi)",
        "[write us](mailto:ada@acme.example)",
        "[top](#top) and [here](/help) and [acme.example](#x)",
        "[our help][1]\n\n[1]: https://acme.example/help",
        "wow![1] and ![x]",
        "a < b and c > d, <b>bold</b>, [x][y]",
        "array[0](1) and f[i][j]",
    ],
)
def test_an_honest_reply_stays_the_same(reply: str) -> None:
    assert clean_reply(reply) == (reply, (), ())


@pytest.mark.parametrize(
    ("reply", "cleaned"),
    [
        ("hi ![a cat](https://evil.example/p.png) there", "hi a cat there"),
        ("![](https://evil.example/p.png)", ""),
        ('![a](https://evil.example/p.png "title")', "a"),
        ("![a](<https://evil.example/p.png>)", "a"),
        ("![a]( https://evil.example/p.png )", "a"),
        ("![a](https://evil.example/p(1).png)", "a"),
        ("![a][p]\n\n[p]: https://evil.example/p.png", "a\n\n[p]: https://evil.example/p.png"),
        ("![P][]\n\n[p]: https://evil.example/p.png", "P\n\n[p]: https://evil.example/p.png"),
        ("![ P ]\n\n[p]: https://evil.example/p.png", " P \n\n[p]: https://evil.example/p.png"),
        ('<img src="https://evil.example/p.png" alt="a cat">!', "a cat!"),
        ("<img alt='a cat' src=https://evil.example/p.png>", "a cat"),
        ("<IMG SRC=https://evil.example/p.png>", ""),
        ("x<img src=https://evil.example/p.png", "x"),
        ('<div style="background:url(https://evil.example/p.png)">x</div>', "x</div>"),
        ('<p background="https://evil.example/p.png">x', "x"),
        ("<script>x</script>", "x"),
        ("<svg><image href=https://evil.example/p.png></svg>", ""),
        ("[![a](https://evil.example/p.png)](https://acme.example)", "[a](https://acme.example)"),
        ("!![a](b)[c](https://evil.example/p.png)", "![a](b)[c](https://evil.example/p.png)".replace("![a](b)", "!a")),
        ("![!](x)[c](https://evil.example/p.png)", "c"),
        ("<im<img>g src=https://evil.example/p.png>", ""),
    ],
)
def test_an_image_becomes_its_alternative_text(reply: str, cleaned: str) -> None:
    assert clean_reply(reply).text == cleaned


@pytest.mark.parametrize(
    ("reply", "cleaned"),
    [
        ("[https://acme.example](https://evil.example/x)", "https://evil.example/x"),
        ("see [acme.example](https://evil.example/x)!", "see https://evil.example/x!"),
        ("[https://acme.example/a](https://acme.example/b)", "https://acme.example/b"),
        ("[www.acme.example](//evil.example/x)", "https://evil.example/x"),
        ("[acme.example](evil.example)", "https://evil.example"),
        ("[ac**me**.example](https://evil.example)", "https://evil.example"),
        ("[acme&period;example](https://evil.example)", "https://evil.example"),
        ("[ac\u200bme.example](https://evil.example)", "https://evil.example"),
        ("[ａcme.example](https://evil.example)", "https://evil.example"),
        ("[ac\\me\\.example](https://evil.example)", "https://evil.example"),
        ("[acme.example](https&#58;//evil.example)", "https://evil.example"),
        ("[ada@acme.example](https://evil.example)", "https://evil.example"),
        ("[ada@acme.example](mailto:eve@evil.example)", "eve@evil.example"),
        ("[ada@acme.example](MAILTO:eve@evil.example?x=1)", "eve@evil.example"),
        ("[acme.example](mailto:eve@evil.example)", "eve@evil.example"),
        ("[https://acme.example][1]\n\n[1]: https://evil.example", "https://evil.example\n\n[1]: https://evil.example"),
        (
            "[acme.example][]\n\n[acme.example]: //evil.example",
            "https://evil.example\n\n[acme.example]: //evil.example",
        ),
        ('<a href="https://evil.example/x">https://acme.example</a>', "https://evil.example/x"),
        ("<A class=x HREF='https://evil.example/x' id=y><b>acme.example</b></A >", "https://evil.example/x"),
        ("[go](javascript:alert(1))", "go"),
        ("[go](data:text/html,x)", "go"),
        ('<a href="vbscript:x">go</a>', "go"),
    ],
)
def test_a_deceiving_link_shows_where_it_leads(reply: str, cleaned: str) -> None:
    assert clean_reply(reply).text == cleaned


def test_what_was_changed_is_told() -> None:
    cleaned = clean_reply(
        "![a](https://evil.example/1) <img src=//evil.example/2> ![b][3] ![l](x)\n"
        "[acme.example](https://evil.example/4)\n\n[3]: https://evil.example/3"
    )
    assert cleaned.images == (
        "https://evil.example/1",
        "x",
        "https://evil.example/3",
        "https://evil.example/2",
    )
    assert cleaned.links == ("https://evil.example/4",)


PIECES = st.sampled_from(
    ["![", "](", ")", "]", "[", "(", "!", "a", "<img src=", ">", "<", "https://evil.example/x", "acme.example", "[a]: ",
     "\n", "<a href=", "</a>", "\"", " ", "![a](b)", "<im", "g src=x>", "javascript:x", "data:text/html,x",
     "[x][a]", "url("]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_a_cleaned_reply_is_clean(reply: str) -> None:
    once = clean_reply(reply).text
    assert clean_reply(once) == (once, (), ())
    assert list(find_images(once)) == []


def test_an_image_that_is_here_already_is_told_as_it_was_written() -> None:
    assert clean_reply("![a][b] ![c](d.png)\n\n[b]: e.png").images == ("d.png", "e.png")


def test_what_folds_into_itself_again_and_again_ends() -> None:
    reply = "x"
    for _ in range(40):
        reply = f"<im{reply if reply != 'x' else ''}<img>g src=https://evil.example/p.png>"
    cleaned = clean_reply(reply).text
    assert list(find_images(cleaned)) == []
    assert "<" not in cleaned


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
