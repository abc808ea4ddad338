"""Whatever could carry data out or lead somebody somewhere is found, through the usual disguises, in one spelling."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.exfiltration import Carrier, find_carriers

pytestmark = pytest.mark.promise("S9")


def looked(text: str) -> list[tuple[str, str]]:
    return [(carrier.kind, carrier.value) for carrier in find_carriers(text)]


def shown(text: str) -> list[tuple[str, str, str]]:
    return [(carrier.kind, carrier.value, text[carrier.start : carrier.end]) for carrier in find_carriers(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("see https://evil.example/a?b=c.", "link", "https://evil.example/a?b=c"),
        ("evil.example/path", "link", "https://evil.example/path"),
        ("www.secure-systems-252.com", "host", "www.secure-systems-252.com"),
        ("Ada@ACME.example", "email", "ada@acme.example"),
        ("DE89 3704 0044 0532 0130 00", "iban", "DE89370400440532013000"),
        ("de89-3704-0044-0532-0130-00", "iban", "DE89370400440532013000"),
        ("4111 1111-1111.1111", "card", "4111111111111111"),
        ("+49 (151) 123-45678", "phone", "+4915112345678"),
        ("0049 151 12345678", "phone", "+4915112345678"),
        ("(415) 555-0100", "phone", "4155550100"),
        ("10.0.0.5", "ip", "10.0.0.5"),
        ("2001:DB8:0::1", "ip", "2001:db8::1"),
        ("1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "crypto", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"),
        ("sk-" + "Ab3dEf6hIj9lMn2pQr5t", "secret", "sk-Ab3dEf6hIj9lMn2pQr5t"),
        ("password=hunter2", "secret", "hunter2"),
        ("![x](https://evil.example/p.png)", "image", "https://evil.example/p.png"),
        ("\\\\evil.example\\share", "link", "file://evil.example/share"),
        ("ada@müller.example", "email", "ada@xn--mller-kva.example"),
        ("01705551234", "number", "01705551234"),
        ("٠١٧٠٥٥٥١٢٣٤", "number", "01705551234"),
        ("０１７０５５５１２３４", "number", "01705551234"),
        ("123456789012", "number", "123456789012"),
        ("171 555 1234", "number", "1715551234"),
        ("555-1234", "number", "5551234"),
        ("$1705551234", "number", "1705551234"),
        ("on 2026-11-15 0171/5551", "number", "01715551"),
        ("magnet:?xt=urn:btih:abc", "link", "magnet:?xt=urn:btih:abc"),
        ("Skype:evil?call", "link", "skype:evil?call"),
        ("ms-msdt:/id", "link", "ms-msdt:/id"),
        ("evil.zip", "host", "evil.zip"),
        ("evil.yachts", "host", "evil.yachts"),
        ("@EvilBot", "handle", "@evilbot"),
    ],
)
def test_each_kind_is_found(text: str, kind: str, value: str) -> None:
    assert looked(text) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Please look at the invoice. It is wrong.",
        "report.pdf, notes.txt and photo.jpeg",
        "setup.py deploy.sh README.md main.rs lib.so user.id",
        "version 1.2.3 or v2.0.1-beta, Python 3.11",
        "e.g. this, i.e. that, etc.",
        "Done.It works. In the end it is fine. Me too.",
        "order 123456 of 2026-11-15T05:10:46Z costs 1.234,56 EUR",
        "commit 3f2b1c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b",
        "550e8400-e29b-41d4-a716-446655440000",
        "src/gaby/safety/redaction/placeholders.py",
        "os.path.join(a, b) and package.json",
        "a * b * c and x__y__z and ~~old~~",
        "I a m n o t h e r e",
        "[see above] (or below) {x}",
        "ratio 3:2, at 10:30, C:\\temp\\x",
        "What? No. Com'on. Net income, org chart",
        "metadata: value, scripts: none",
        "the dot product, a polka dot dress",
        "100% of 50% of 25%",
        "<b>bold</b> & <i>italic</i> &amp; &nbsp;",
        "report.csv, install.sh, config.data",
        "versions 4.2.0 10.0.19045.3803 119.0.6045.199",
        "2026-11-15 05:10:46, 15.11.2026, 11/15/2026, 20261115T051046Z, 2026-11-15T05:10:46.123456+00:00",
        "1.234.567,89 EUR, $1,234,567.00, 1 234 567 kr and 1234567 EUR",
        "errors 404, 500 and 502 in 2019-2022 and 2023 2024",
        "the code is 0x80070005",
        "Note: it works. Cause: none",
        "localhost:8080, std::vector, Nutzer:innen, aa:bb:cc:dd:ee:ff",
        "see `tool:directory.unlock_user#2` and [doc:handbook/locked-out]",
    ],
)
def test_ordinary_text_carries_nothing(text: str) -> None:
    assert looked(text) == []


EVIL = ("link", "https://evil.example/x")


@pytest.mark.parametrize(
    "text",
    [
        "HTTPS://EVIL.EXAMPLE/x",
        "https://evil.example./x",
        "https://evil.example:443/x",
        "https://ada:secret@evil.example/x".replace(":secret", ""),
        "https:\\\\evil.example\\x",
        "https:/evil.example/x",
        "https:///evil.example/x",
        "hxxps://evil.example/x",
        "hXXps://evil[.]example/x",
        "h**ps://evil.example/x",
        "https[:]//evil.example/x",
        "https[://]evil.example/x",
        "https://evil[dot]example/x",
        "https://evil (dot) example/x",
        "https://evil{.}example/x",
        "https://evil dot example/x",
        "https ://evil.example/x",
        "https: //evil.example/x",
        "https:// evil.example/x",
        "https://\nevil.example/x",
        "https://evil .example/x",
        "https://evil\n.example/x",
        "h t t p s : / / e v i l . e x a m p l e / x",
        "ht\u200btps://ev\u200bil.example/x",
        "https://evil\u00ad.example/x",
        "ｈｔｔｐｓ://ｅｖｉｌ．ｅｘａｍｐｌｅ/x",
        "https://evil。example/x",
        "https://𝐞𝐯𝐢𝐥.example/x",
        "https://ev<b>il</b>.example/x",
        "https://ev**il**.example/x",
        "https://ev`il`.example/x",
        "https://evil\\.example/x",
        "https&#58;//evil.example/x",
        "https://&#x65;vil.example/x",
        "https://evil&period;example/x",
        "https://%65vil.example/x",
        "<https://evil.example/x>",
        "(https://evil.example/x)",
        '<a href="https://evil.example/x">ok</a>',
        "[ok](https://evil.example/x)",
        "//evil.example/x",
    ],
)
def test_no_disguise_hides_a_link(text: str) -> None:
    assert EVIL in looked(f"please open {text} now")


@pytest.mark.parametrize(
    ("text", "carrier"),
    [
        ("ada [at] evil [dot] example", ("email", "ada@evil.example")),
        ("ada(at)evil(dot)example", ("email", "ada@evil.example")),
        ("a<b>d</b>a@evil.example", ("email", "ada@evil.example")),
        ("ada&#64;evil.example", ("email", "ada@evil.example")),
        ("ada\u200b@evil.example", ("email", "ada@evil.example")),
        ("4111 **1111** 1111 1111", ("card", "4111111111111111")),
        ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", ("card", "4111111111111111")),
        ("DE89 <i>3704</i> 0044 0532 0130 00", ("iban", "DE89370400440532013000")),
        ("evil. com", ("host", "evil.com")),
        ("evil .com", ("host", "evil.com")),
        ("evil . com", ("host", "evil.com")),
        ("evil.\ncom", ("host", "evil.com")),
        ("evil . xyz", ("host", "evil.xyz")),
        ("evil. xyz", ("host", "evil.xyz")),
        ("evil . yachts", ("host", "evil.yachts")),
        ("evil%2Ecom", ("host", "evil.com")),
        ("%65vil%252ecom", ("host", "evil.com")),
        ("https%3A%2F%2Fevil.example%2Fx", ("link", "https://evil.example/x")),
        ("—magnet:?xt=a", ("link", "magnet:?xt=a")),
        ("mag**net**:?xt=a", ("link", "magnet:?xt=a")),
        ("01705**551**234", ("number", "01705551234")),
        ("＠evilbot", ("handle", "@evilbot")),
        ("１０．０．０．５", ("ip", "10.0.0.5")),
        ("0x7f.1 http://0x0a000005/", ("link", "http://10.0.0.5")),
    ],
)
def test_no_disguise_hides_another_carrier(text: str, carrier: tuple[str, str]) -> None:
    assert carrier in looked(f"so {text} ok")


def test_a_look_alike_is_not_taken_for_the_real_one() -> None:
    assert looked("https://аcme.example/") == [("link", "https://xn--cme-5cd.example")]
    assert ("link", "https://acme.example") not in looked("https://аcme.example/")
    assert looked("ada@аcme.example") == [("email", "ada@xn--cme-5cd.example")]


def test_who_signs_in_does_not_hide_where_a_link_leads() -> None:
    assert ("link", "https://evil.example") in looked("https://acme.example@evil.example/")


def test_places_are_those_of_the_text_given() -> None:
    text = "go to ev\u200bil<b></b>[.]example/x now"
    assert ("link", "https://evil.example/x", "ev\u200bil<b></b>[.]example/x") in shown(text)
    assert shown("see https://evil.example/x.") == [("link", "https://evil.example/x", "https://evil.example/x")]


def test_carriers_come_in_order_and_once() -> None:
    text = "b.example/1 a.example/2 b.example/1 <b>"
    assert looked(text) == [("link", "https://b.example/1"), ("link", "https://a.example/2")]
    assert find_carriers("10.0.0.5")[0] == Carrier("ip", "10.0.0.5", 0, 8)


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/p.png)",
        '![x](https://evil.example/p.png "title")',
        "![x](<https://evil.example/p.png>)",
        "![](//evil.example/p.png)",
        "![x](evil.example/p.png)",
        "![x][ref]\n\n[ref]: https://evil.example/p.png",
        "![Ref][]\n\n[ref]: <https://evil.example/p.png>".replace("[]", ""),
        '<img src="https://evil.example/p.png">',
        "<IMG alt=x SRC=https://evil.example/p.png>",
        "<img src='//evil.example/p.png'/>",
        '<video poster="https://evil.example/p.png">',
        '<div style="background: url(https://evil.example/p.png)">',
        '<table background="https://evil.example/p.png">',
        "<img src=https://evil.example/p.png",
        '<iframe src="https://evil.example/p.png"></iframe>',
        "<im\u200bg src=https://evil.example/p.png>",
        "&lt;img src=https://evil.example/p.png&gt;",
    ],
)
def test_what_loads_by_being_looked_at_is_an_image(text: str) -> None:
    assert ("image", "https://evil.example/p.png") in looked(f"hi {text}")


@pytest.mark.parametrize("text", ["![x](local.png)", "![wow]", "<img src=x.png>", "![x](data:image/png;base64,AAAA)"])
def test_what_is_here_already_is_no_remote_image(text: str) -> None:
    assert "image" not in [kind for kind, _ in looked(text)]


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (b64("https://evil.example/x"), "https://evil.example/x"),
        (b64("https://evil.example/x").rstrip("="), "https://evil.example/x"),
        (b64("ada@evil.example"), "ada@evil.example"),
        (b64("a secret of twenty-four c"), "a secret of twenty-four c"),
        (b64("a secret of twenty-four."), "a secret of twenty-four."),
        (b64(b64("https://evil.example/x")), b64("https://evil.example/x")),
        (base64.urlsafe_b64encode("ÿÿ>?https://evil.example/".encode()).decode(), "ÿÿ>?https://evil.example/"),
        (b"https://evil.example/x".hex(), "https://evil.example/x"),
        (b"a secret of twenty-four.".hex().upper(), "a secret of twenty-four."),
        ("".join(f"%{byte:02x}" for byte in b"https://evil.example"), "https://evil.example"),
        (quote(" secret, of twenty four, really"), " secret, of twenty four, really"),
        ("".join(chr(0xE0000 + ord(c)) for c in "ignore all"), "ignore all"),
        ("".join("\u200b\u200c"[int(bit)] for bit in f"{int.from_bytes(b'leak', 'big'):032b}"), "leak"),
        ("".join("\u200c\u200b"[int(bit)] for bit in f"{int.from_bytes(b'leak', 'big'):032b}"), "leak"),
        ("\u200b" * 9, "9 invisible characters"),
    ],
)
def test_what_hides_in_other_text_is_found(text: str, hidden: str) -> None:
    assert ("hidden", hidden) in looked(f"so {text} ok")


def test_long_bytes_in_base64_are_hidden_whatever_they_say() -> None:
    raw = bytes((n * 89 + 7) % 256 for n in range(48))
    text = base64.b64encode(raw).decode()
    assert ("hidden", text) in looked(text)
    shorter = base64.b64encode(raw[:47]).decode()
    assert "hidden" not in [kind for kind, _ in looked(shorter)]


def test_a_word_with_many_separators_is_a_path() -> None:
    text = "Ab3/Ab3dEf6hIj9l" * 4
    assert looked(text) == [("hidden", text)]
    path = f"Ab3/Ab3d/f6hIj9l{text[16:]}"
    assert looked(path) == []


@pytest.mark.parametrize(
    "text",
    [
        b64("twenty-three characters"),
        "aa" * 32,
        "createOrderForCustomerNumber1",
        "src/gaby/safety/redaction/placeholders/and/many/more/folders/in/a/long/path/Of4/the/tree/test",
        "a" * 100,
        "A1b" + "-" * 5 + "A1b" * 20,
        "%41%42%43",
        "\u200b" * 7,
        "👩\u200d👩\u200d👧\u200d👦 family",
    ],
)
def test_other_long_words_hide_nothing(text: str) -> None:
    assert "hidden" not in [kind for kind, _ in looked(text)]


def test_what_hides_is_unpacked_twice_and_no_more() -> None:
    address = b"9.8.7.6 ".hex()
    once = b64(address).rstrip("=")
    twice = b64(once).rstrip("=")
    assert looked(address) == [("hidden", "9.8.7.6 ")]
    assert looked(once) == [("hidden", address)]
    assert looked(twice) == []


@given(st.text(max_size=60))
def test_places_always_lie_in_the_text(text: str) -> None:
    for carrier in find_carriers(text):
        assert 0 <= carrier.start < carrier.end <= len(text)


LABELS = st.from_regex(r"[a-z][a-z0-9\-]{0,10}[a-z0-9]", fullmatch=True).filter(lambda label: "--" not in label)


@given(
    LABELS, st.sampled_from(["com", "example", "io", "de"]), st.integers(0, 3), st.sampled_from(["\u200b", "<i></i>"])
)
def test_any_host_is_found_plain_and_disguised(label: str, top: str, place: int, filler: str) -> None:
    plain = f"https://{label}.{top}/x"
    found = [value for kind, value in looked(plain) if kind == "link"]
    assert found == [plain]
    disguised = f"https://{label[:place]}{filler}{label[place:]}.{top}/x"
    assert ("link", plain) in looked(disguised)


HOSTILE = [
    "a.",
    "a.com ",
    "http",
    "http:",
    "http://",
    "://",
    "<",
    "<a ",
    "<img ",
    "<img src=",
    "![",
    "![a](",
    "![a][b]",
    "[a]: b\n",
    "[",
    "[a](",
    "&",
    "&#1;",
    "%41",
    "%",
    "A",
    "aB3/",
    "1A",
    "\\\\a",
    "a b ",
    " .",
    ". com",
    "dot ",
    "(at)",
    "data:",
    "javascript:",
    "\u200b",
    "\U000e0041",
    "é.",
    "1 ",
    "1.",
    "1:",
    "20",
    "2026-",
    "a:",
    "ab:c",
    "@",
    "@a",
    "%25",
    "$1 ",
    "*",
    "_",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = (piece * (20_000 // len(piece) + 1))[:20_000]
    assert ("card", "4111111111111111") in looked(f"{text} | 4111 1111 1111 1111")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["http://", "<img ", "![a](", "[a](", "a.com ", "aB3/", "%41", "(at)", "&#1;", "a b "]
)
def test_a_hostile_text_of_a_megabyte_is_read_to_its_end(piece: str) -> None:
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    assert ("card", "4111111111111111") in looked(f"{text} | 4111 1111 1111 1111")
