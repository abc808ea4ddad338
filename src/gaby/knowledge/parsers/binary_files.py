"""Files that are no text, known by their first bytes, whatever they are called."""

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xfe\xed\xfa", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "a database"),
    (b"OggS", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"fLaC", "a sound"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
_SOON = 256
_PDF = b"%PDF-"
_PDF_WITHIN = 1024


def binary_name(data: bytes) -> str | None:
    """What these bytes are, in words; None when they may be text."""
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "a picture, a sound or a film"
    if data[4:8] == b"ftyp":
        return "a film"
    if data[:2] == b"MZ" and b"\0" in data[:64]:
        return "a program"
    if data.startswith(b"{\\rtf"):
        return "a rich text document"
    signature = next(((beginning, name) for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)
    # A text may well begin with the letters `GIF89a`; a picture soon has a byte that no text has.
    return signature[1] if signature and (not signature[0].isascii() or b"\0" in data[:_SOON]) else None


def is_pdf(data: bytes) -> bool:
    """Some writers put a few bytes before the mark."""
    return _PDF in data[:_PDF_WITHIN]


def begins_as_pdf(data: bytes) -> bool:
    return data.startswith(_PDF)
