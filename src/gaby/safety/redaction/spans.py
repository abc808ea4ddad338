"""What can be found in a text: its kind, where it stands, and how certain that is."""

from enum import IntEnum
from typing import Literal, NamedTuple, get_args

Kind = Literal[
    "account",
    "address",
    "api_key",
    "birth_date",
    "card",
    "email",
    "iban",
    "ip",
    "mac",
    "medical_id",
    "name",
    "national_id",
    "password",
    "personal",
    "phone",
    "private_key",
    "token",
]

ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
SECRET_KINDS: frozenset[Kind] = frozenset({"api_key", "password", "private_key", "token"})
PERSONAL_KINDS: frozenset[Kind] = ALL_KINDS - SECRET_KINDS


class SpanCertainty(IntEnum):
    POSSIBLE = 1
    """The form fits, but so would one ordinary number in ten."""
    LIKELY = 2
    """The form is rare, or a word nearby says so."""
    SURE = 3
    """A strong check holds, or the form means nothing else."""


class TextSpan(NamedTuple):
    start: int
    end: int
    kind: Kind
    certainty: SpanCertainty
