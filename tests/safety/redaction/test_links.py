"""Links and hosts are found in one spelling; files, versions and sentences are not taken for them."""

import pytest

from gaby.safety.redaction.hosts import canonical_host, is_host
from gaby.safety.redaction.links import LinkSpan, canonical_link, find_links, trimmed

pytestmark = pytest.mark.promise("S9")


def looked(text: str) -> list[tuple[str, str]]:
    return [(link.value, link.host) for link in find_links(text)]


@pytest.mark.parametrize(
    ("text", "value", "host"),
    [
        ("https://Acme.Example", "https://acme.example", "acme.example"),
        ("https://acme.example/", "https://acme.example", "acme.example"),
        ("https://acme.example/A?B=c#D", "https://acme.example/A?B=c#D", "acme.example"),
        ("https://acme.example?x", "https://acme.example?x", "acme.example"),
        ("https://acme.example#x", "https://acme.example#x", "acme.example"),
        ("http://acme.example:80/x", "http://acme.example/x", "acme.example"),
        ("http://acme.example:443/x", "http://acme.example:443/x", "acme.example"),
        ("https://acme.example:443", "https://acme.example", "acme.example"),
        ("https://acme.example:8443", "https://acme.example:8443", "acme.example"),
        ("ftp://acme.example:21", "ftp://acme.example", "acme.example"),
        ("ssh://acme.example:22", "ssh://acme.example", "acme.example"),
        ("https://acme.example:", "https://acme.example", "acme.example"),
        ("https://u:p@acme.example/x", "https://acme.example/x", "acme.example"),
        ("https://a@b@acme.example", "https://acme.example", "acme.example"),
        ("https:\\\\acme.example\\x", "https://acme.example/x", "acme.example"),
        ("https:/acme.example", "https://acme.example", "acme.example"),
        ("https:////acme.example", "https://acme.example", "acme.example"),
        ("ws://acme.example/x", "ws://acme.example/x", "acme.example"),
        ("git+ssh://acme.example/x", "git+ssh://acme.example/x", "acme.example"),
        ("https://localhost:3000/x", "https://localhost:3000/x", "localhost"),
        ("https://[::1]/x", "https://[::1]/x", "[::1]"),
        ("javascript:alert(1)", "javascript:alert(1)", ""),
        ("vbscript:x", "vbscript:x", ""),
        ("data:text/html,x", "data:text/html,x", ""),
        ("JavaScript:x", "javascript:x", ""),
        ("\\\\acme.example\\share", "file://acme.example/share", "acme.example"),
        ("\\\\server\\c$", "file://server/c$", "server"),
        ("acme.example/x", "https://acme.example/x", "acme.example"),
        ("acme.example:8080", "https://acme.example:8080", "acme.example"),
        ("acme.example?x=1", "https://acme.example?x=1", "acme.example"),
        ("acme.example#x", "https://acme.example#x", "acme.example"),
        ("acme.example", "acme.example", "acme.example"),
        ("acme.example/", "acme.example", "acme.example"),
        ("WWW.Acme.COM", "www.acme.com", "www.acme.com"),
        (".acme.com", "acme.com", "acme.com"),
        ("müller.de", "xn--mller-kva.de", "xn--mller-kva.de"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("acme.xn--p1ai", "acme.xn--p1ai", "acme.xn--p1ai"),
        ("acme.соm", "acme.xn--m-0tbi", "acme.xn--m-0tbi"),
    ],
)
def test_a_link_has_one_spelling(text: str, value: str, host: str) -> None:
    assert looked(text) == [(value, host)]
    assert (value, host) in looked(f"see {text} now")


def test_a_link_knows_where_it_stands() -> None:
    assert find_links("a https://acme.example/x.") == [LinkSpan(2, 24, "https://acme.example/x", "acme.example", False)]
    assert find_links("a acme.example.") == [LinkSpan(2, 14, "acme.example", "acme.example", True)]
    assert find_links("a acme.example/x!") == [LinkSpan(2, 16, "https://acme.example/x", "acme.example", False)]
    assert find_links("a javascript:x b") == [LinkSpan(2, 14, "javascript:x", "", False)]
    assert find_links("a \\\\srv\\x b") == [LinkSpan(2, 9, "file://srv/x", "srv", False)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.b",
        "acme.exampl",
        "report.pdf",
        "ada@acme.example",
        "acme.example.txt",
        "setup.py",
        "user.id",
        "3.am",
        "-.com",
        "..com",
        "a..com",
        ".com",
        "a_.com",
        "done.It",
        "done.In the",
        "http:",
        "http://",
        "http:///",
        "12:/x",
        "x:/y",
        "foo:/bar",
        "3://y",
        "+://y",
        "data:x",
        "data: text/html,x",
        "javascript: x",
        "c:\\\\temp\\x",
        "a\\\\srv\\x",
        "\\\\a\\x",
        "\\\\\\\\srv\\x",
        "acme.example-x",
        "acme.comx",
    ],
)
def test_other_words_are_no_link(text: str) -> None:
    assert looked(text) == []


def test_a_host_inside_a_link_is_not_named_again() -> None:
    assert looked("https://acme.example/evil.com") == [("https://acme.example/evil.com", "acme.example")]
    assert looked("https://acme.example evil.com") == [
        ("https://acme.example", "acme.example"),
        ("evil.com", "evil.com"),
    ]
    assert looked("evil.com,acme.com") == [("evil.com", "evil.com"), ("acme.com", "acme.com")]


def test_a_scheme_has_at_most_sixteen_letters() -> None:
    assert looked("a" * 16 + "://x")[0][0] == "a" * 16 + "://x"
    assert looked("b" + "a" * 16 + "://x")[0][0] == "a" * 16 + "://x"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x.", "x"),
        ("x,;:!?*_~.", "x"),
        ("x)", "x"),
        ("(x)", "(x)"),
        ("(x))", "(x)"),
        ("x]", "x"),
        ("[x]", "[x]"),
        ("x}", "x"),
        ("{x}", "{x}"),
        ("x).", "x"),
        ("x/", "x/"),
        ("...", ""),
        ("", ""),
    ],
)
def test_punctuation_of_the_sentence_is_trimmed(text: str, left: str) -> None:
    assert trimmed(text) == left


@pytest.mark.parametrize(
    ("name", "more", "answer"),
    [
        ("acme.com", False, True),
        ("acme.COM", False, True),
        ("Acme.Com", False, True),
        ("acme.qq", False, False),
        ("acme.py", False, False),
        ("acme.py", True, True),
        ("a.acme.py", False, True),
        ("acme.zip", False, False),
        ("acme.ai", False, True),
        ("acme.It", False, False),
        ("acme.IT", False, True),
        ("acme.it", False, True),
        ("acme.It", True, False),
        ("163.com", False, True),
        ("163.am", False, False),
        ("a163.am", False, True),
        ("_dmarc.acme.com", False, True),
        ("-a.com", False, False),
        ("a-.com", False, False),
        ("a.-b.com", False, False),
        ("a" * 63 + ".com", False, True),
        ("a" * 64 + ".com", False, False),
        ("acme.рф", False, True),
        ("acme.xn--p1ai", False, True),
        ("a.com", False, True),
    ],
)
def test_a_bare_name_is_a_host_or_not(name: str, more: bool, answer: bool) -> None:
    assert is_host(name, more=more) is answer


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("ACME.Example.", "acme.example"),
        ("acme.example..", "acme.example"),
        ("%61cme.example", "acme.example"),
        ("ａcme.example", "acme.example"),
        ("acme。example", "acme.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("10.1.2.3", "10.1.2.3"),
        ("10.258", "10.0.1.2"),
        ("10.0x1.2.3", "10.1.2.3"),
        ("9" * 5000, "9" * 5000),
        ("0", "0.0.0" + ".0"),
        ("4294967295", "255.255.255.255"),
        ("4294967296", "4294967296"),
        ("089", "089"),
        ("1.2.3.4.5", "1.2.3.4.5"),
        ("1.2.3.x", "1.2.3.x"),
        ("9999999999999", "9999999999999"),
        ("999999999999", "999999999999"),
        ("0x7f.", "0.0.0.127"),
        ("", ""),
    ],
)
def test_a_host_has_one_spelling(name: str, host: str) -> None:
    assert canonical_host(name) == host


def test_a_link_without_a_host_is_left_readable() -> None:
    assert canonical_link("https", "") == ("https://", "")
    assert canonical_link("HTTPS", "A:x/y") == ("https://a:x/y", "a:x")


def test_a_text_full_of_links_is_read_to_its_end() -> None:
    """Twenty thousand of each kind; comparing each with every other would take until tomorrow."""
    link_spans = find_links("see https://a.example/x or b.example/y " * 20_000)
    assert len(link_spans) == 40_000
    assert {link.host for link in link_spans} == {"a.example", "b.example"}
