"""Small PDFs, written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

Page = Sequence[tuple[int, str]]
"""Lines from top to bottom, each with the size of its type."""

LOCKED = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>"


@dataclass(frozen=True)
class Mark:
    title: str
    page: int


def paper(pages: Sequence[Page], *, title: str = "", marks: Sequence[Mark] = (), locked: bool = False) -> bytes:
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    font = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    sheets = 2 + 2 * len(pages)
    kids: list[int] = []
    for page in pages:
        drawn = _drawn(page)
        content = add(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn))
        kids.append(
            add(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
                b"/Resources << /Font << /F %d 0 R >> >> >>" % (sheets, content, font)
            )
        )
    add(b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids)))
    outline = _outline(objects, kids, marks)
    root = add(b"<< /Type /Catalog /Pages %d 0 R %b >>" % (sheets, b"/Outlines %d 0 R" % outline if outline else b""))
    info = add(b"<< /Title (%b) >>" % title.encode())
    trailer = b"/Root %d 0 R /Info %d 0 R" % (root, info)
    if locked:
        trailer += b" /Encrypt %d 0 R /ID [<00> <00>]" % add(LOCKED)
    return _file(objects, trailer)


def _drawn(page: Page) -> bytes:
    lines = [b"BT"]
    for number, (size, words) in enumerate(page):
        shown = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("cp1252")
        lines.append(b"/F %d Tf 1 0 0 1 40 %d Tm (%b) Tj" % (size, 760 - 24 * number, shown))
    return b"\n".join([*lines, b"ET"])


def _outline(objects: list[bytes], kids: Sequence[int], marks: Sequence[Mark]) -> int:
    if not marks:
        return 0
    top = len(objects) + 1
    objects.append(b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (top + 1, top + len(marks), len(marks)))
    for number, mark in enumerate(marks, start=top + 1):
        following = b"/Next %d 0 R " % (number + 1) if number < top + len(marks) else b""
        objects.append(
            b"<< /Title (%b) /Parent %d 0 R %b/Dest [%d 0 R /Fit] >>"
            % (mark.title.encode(), top, following, kids[mark.page])
        )
    return top


def _file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    data = b"%PDF-1.7\n"
    places: list[int] = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
        trailer,
        len(data),
    )
