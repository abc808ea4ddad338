"""What the desk's own mail server found out about a sender: `Authentication-Results`, by the grammar of RFC 8601.

Not the `authres` package, which reads this header too: where a property is malformed it drops the error and goes on in
the middle of the text, so that `smtp.mailfrom="a"b; dmarc=pass header.from=victim.example` becomes a result of its own;
it recurses into nested comments; and it takes time that grows with the square of the header. Here a header is read as
a whole or not at all, since a part of it may be the sender's own text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from typing import NamedTuple

from gaby.tickets.adapters.email.header_scan import HeaderPiece, HeaderSyntaxError, header_pieces, unfolded

_LONGEST = 8_000
_VERSION = "1"


@dataclass(frozen=True)
class MethodResult:
    """One clause: `dmarc=pass header.from=acme.example`."""

    method: str
    result: str
    properties: Sequence[tuple[str, str]]

    def sole(self, name: str) -> str | None:
        """The property of this name. None when it is told twice, or not at all."""
        values = [value for key, value in self.properties if key == name]
        return values[0] if len(values) == 1 else None


class AuthenticationResults(NamedTuple):
    authserv_id: str
    results: tuple[MethodResult, ...]

    @property
    def dmarc_domain(self) -> str | None:
        """The domain of `From` that passed DMARC. None unless there is exactly one verdict, and it passed."""
        verdicts = [each for each in self.results if each.method == "dmarc"]
        if len(verdicts) != 1 or verdicts[0].result != "pass":
            return None
        domain = verdicts[0].sole("header.from")
        return domain.lower() if domain else None


def trusted_results(head: Message, authserv_id: str) -> AuthenticationResults | None:
    """The topmost header of that server, which is the only one that it is sure to have written itself: what stands
    below may have come with the mail. None when there is none, or when it cannot be read to its end."""
    for header in head.get_all("authentication-results", []) if authserv_id else []:
        text = unfolded(str(header))
        if _is_from(text, authserv_id):
            try:
                return parse_authentication_results(text)
            except HeaderSyntaxError:
                return None
    return None


def parse_authentication_results(text: str) -> AuthenticationResults:
    """The whole header, or `HeaderSyntaxError`."""
    if len(text) > _LONGEST:
        raise HeaderSyntaxError("a header that is too long")
    clauses = [list(_words(clause)) for clause in _clauses(text)]
    first = clauses[0]
    if not 1 <= len(first) <= 2 or any(word.text == "=" and not word.quoted for word in first):
        raise HeaderSyntaxError("no name of a server")
    if len(first) == 2 and first[1].text != _VERSION:
        raise HeaderSyntaxError("a version that nobody knows")
    # Many servers end the last clause as well.
    rest = clauses[1:-1] if len(clauses) > 2 and not clauses[-1] else clauses[1:]
    if len(rest) == 1 and [word.text.lower() for word in rest[0]] == ["none"]:
        rest = []
    return AuthenticationResults(first[0].text.lower(), tuple(map(_result, rest)))


def _is_from(text: str, authserv_id: str) -> bool:
    """Whether it begins with this name. What comes after is not read, so that a malformed header of the desk's own
    server is not passed over in favour of one that the sender wrote."""
    word = ""
    try:
        for piece in header_pieces(text):
            if word and (piece.spaced or piece.quoted or piece.text == ";"):
                break
            word += piece.text
            if piece.quoted:
                break
    except HeaderSyntaxError:
        pass
    return word.lower() == authserv_id.lower()


def _clauses(text: str) -> list[list[HeaderPiece]]:
    clauses: list[list[HeaderPiece]] = [[]]
    for piece in header_pieces(text):
        if piece.text == ";" and not piece.quoted:
            clauses.append([])
        else:
            clauses[-1].append(piece)
    return clauses


def _words(clause: Sequence[HeaderPiece]) -> Iterator[HeaderPiece]:
    """Runs of characters; an equals sign and a quoted string stand for themselves."""
    word: HeaderPiece | None = None
    for piece in clause:
        alone = piece.quoted or piece.text == "="
        if word is not None and (alone or piece.spaced):
            yield word
            word = None
        if alone:
            yield piece
        else:
            word = piece if word is None else word._replace(text=word.text + piece.text)
    if word is not None:
        yield word


def _result(words: Sequence[HeaderPiece]) -> MethodResult:
    method, result, position = _assignment(words, 0)
    properties: list[tuple[str, str]] = []
    while position < len(words):
        name, value, position = _assignment(words, position)
        properties.append((name.lower(), value))
    return MethodResult(method.partition("/")[0].lower(), result.lower(), tuple(properties))


def _assignment(words: Sequence[HeaderPiece], position: int) -> tuple[str, str, int]:
    """`name=value`, and where the next one begins."""
    if len(words) < position + 2 or words[position].quoted or not _is_equals(words[position + 1]):
        raise HeaderSyntaxError("something that is no name=value")
    if _is_equals(words[position]):
        raise HeaderSyntaxError("a value without a name")
    name, position = words[position].text, position + 2
    if position == len(words):
        # A null sender: `smtp.mailfrom=`.
        return name, "", position
    if _is_equals(words[position]):
        raise HeaderSyntaxError("two equals signs")
    value, quoted, position = words[position].text, words[position].quoted, position + 1
    if quoted and position < len(words) and not words[position].spaced and words[position].text.startswith("@"):
        # A local part may stand in quotes, its domain does not.
        return name, f'"{value}"{words[position].text}', position + 1
    # The end of a base64 text, as in `header.b=Fq5dQ==`.
    while position < len(words) and _is_equals(words[position]) and not words[position].spaced:
        value, position = value + "=", position + 1
    if position < len(words) and not words[position].spaced:
        raise HeaderSyntaxError("a value that goes on where it should end")
    return name, value, position


def _is_equals(word: HeaderPiece) -> bool:
    return word.text == "=" and not word.quoted
