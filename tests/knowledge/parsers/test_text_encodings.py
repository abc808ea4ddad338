"""Bytes of every age and origin become the text that their author saw, or are refused."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.text import has_lone_surrogate
from gaby.knowledge.documents import DocumentText, RawDocument, Unreadable
from gaby.knowledge.parsers import read

pytestmark = pytest.mark.promise("K1")

KINDS = ("a.md", "a.txt", "a.html", "a.pdf", "a.py", "a.go")


def plain(data: bytes, *, charset: str | None = None, uri: str = "notes.txt") -> str:
    return read(RawDocument(uri, data, charset=charset)).text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_form_of_unicode_is_recognised(encoding: str) -> None:
    text = "Zurücksetzen des Kennworts\nfür Müller & Söhne\n"
    assert plain(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("shift_jis", "パスワードの再設定\n"), ("windows-1251", "Сброс пароля\n"), ("iso-2022-jp", "再設定\n")],
)
def test_what_the_server_declares_counts_where_the_bytes_do_not_say(encoding: str, text: str) -> None:
    assert plain(text.encode(encoding), charset=encoding) == text


def test_an_old_file_of_unknown_encoding_is_taken_for_the_usual_one() -> None:
    assert plain("Café – “naïve” 5 €\n".encode("cp1252")) == "Café – “naïve” 5 €\n"


def test_a_log_with_one_broken_byte_stays_unicode() -> None:
    assert plain("grün\n".encode() * 9 + b"\xff\n") == "grün\n" * 9 + "�\n"


@pytest.mark.parametrize("charset", ["zip", "rot13", "unicode_escape", "base64", "no such thing", "utf-7", "", "idna"])
def test_a_charset_that_is_no_alphabet_is_not_obeyed(charset: str) -> None:
    assert plain(b"\\u0041 +AGE- caf\xe9\n", charset=charset) == "\\u0041 +AGE- café\n"


def test_lines_end_with_a_line_feed_alone() -> None:
    assert plain(b"one\r\ntwo\rthree\n") == "one\ntwo\nthree\n"


def test_the_colours_of_a_log_are_left_out_and_its_lines_stay() -> None:
    assert plain(b"\x1b[31mERROR\x1b[0m disk\nnext\n") == "ERROR disk\nnext\n"


@pytest.mark.parametrize(
    ("uri", "data", "reason"),
    [
        ("logo.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
        ("dump.txt", gzip.compress(b"text", mtime=0), "gzip"),
        ("plan.md", b"PK\x03\x04\x14\0\0\0", "ZIP"),
        ("old.txt", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office"),
        ("note.txt", b"{\\rtf1 words}", "rich text"),
        ("a.txt", b"words\0words", "not text"),
        ("a.txt", bytes(range(1, 9)) * 99, "not text"),
        ("a.docx", b"words", "no kind of document"),
    ],
)
def test_a_file_that_is_no_text_is_noticed_whatever_it_is_called(uri: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(RawDocument(uri, data))


def test_a_text_about_pictures_is_still_a_text() -> None:
    assert plain(b"GIF89a is how such files begin.\n").startswith("GIF89a")


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("uri", ["a.md", "a.txt", "a.html", "a.py"])
def test_an_empty_document_says_so(uri: str, data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"It is empty\."):
        read(RawDocument(uri, data))


def test_what_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(Unreadable, match=r"0\.1 MB; at most 0\.0 MB are read\. Split it"):
        read(RawDocument("a.md", b"x" * 100_000), limit_bytes=1000)


def clean(text: DocumentText) -> bool:
    both = text.title + text.text
    return "\0" not in both and "\r" not in both and not has_lone_surrogate(both) and "\n" not in text.title


@given(uri=st.sampled_from(KINDS), data=st.binary(max_size=300), charset=st.none() | st.text(max_size=8))
def test_whatever_the_bytes_are_the_text_is_clean_or_there_is_a_reason(
    uri: str, data: bytes, charset: str | None
) -> None:
    with suppress(Unreadable):
        assert clean(read(RawDocument(uri, data, charset=charset)))


@given(uri=st.sampled_from(KINDS), text=st.text(max_size=300), encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]))
def test_whatever_the_text_is_it_is_clean_or_there_is_a_reason(uri: str, text: str, encoding: str) -> None:
    with suppress(Unreadable):
        assert clean(read(RawDocument(uri, text.encode(encoding, "ignore"), title=text)))


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_unicode_text_arrives_exactly(text: str) -> None:
    written = "x" + text
    assert plain(written.encode(), uri="a.md") == written
