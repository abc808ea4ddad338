"""What is worth reading, by name and by what its server said."""

import pytest

from gaby.knowledge.parsers import kind_of
from gaby.knowledge.parsers.kinds import unread_kind

pytestmark = pytest.mark.promise("K1")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kubernetes/crash-loops.md", "markdown"),
        ("HANDBOOK.PDF", "pdf"),
        ("faq.htm", "html"),
        ("var/app.log", "plain"),
        ("var/app.log.3", "plain"),
        ("README", "plain"),
        ("README.de", "plain"),
        ("Makefile", "plain"),
        ("rates.csv", "plain"),
        ("schema.sql", "plain"),
        ("ledger.py", "python"),
        ("ledger.go", "go"),
        ("Ledger.java", "java"),
        ("ledger.tsx", "tsx"),
        ("Gemfile", "ruby"),
        ("https://docs.example/setup.md?raw=1#top", "markdown"),
    ],
)
def test_a_document_is_known_by_its_name(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    "name",
    [
        "logo.png",
        "all.zip",
        "a.docx",
        "package-lock.json",
        "jquery.min.js",
        ".env",
        "id_rsa",
        "tls.key",
        "no-suffix",
        "",
    ],
)
def test_what_is_no_text_for_people_is_skipped(name: str) -> None:
    assert kind_of(name) is None


@pytest.mark.parametrize(
    ("name", "media_type", "kind"),
    [
        ("index.php", "text/html; charset=utf-8", "html"),
        ("https://docs.example/", "text/html", "html"),
        ("setup.md", "text/plain", "markdown"),
        ("notes", "text/plain", "plain"),
        ("download", "application/pdf", "pdf"),
        ("report.pdf", "application/octet-stream", "pdf"),
        ("data", "application/json", "plain"),
        ("setup.md", "image/png", None),
        ("logo", "application/octet-stream", None),
    ],
)
def test_a_server_is_believed_where_it_is_precise(name: str, media_type: str, kind: str | None) -> None:
    assert kind_of(name, media_type) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/Handbook.DOCX", ".docx"),
        ("web/app.min.js", ".min.js"),
        ("package-lock.json", "package-lock.json"),
        ("core", ""),
        ("core.", ""),
        ("https://docs.example/photo.png?size=2", ".png"),
    ],
)
def test_the_kind_of_a_file_that_is_not_read_has_a_name(name: str, kind: str) -> None:
    assert kind_of(name) is None
    assert unread_kind(name) == kind
