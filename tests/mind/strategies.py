"""Texts and schemas as a stranger would write them."""

from typing import Any

from hypothesis import strategies as st

PIECES = (
    "user", "login:", "order", "INV-2041", "#4711", "ada@acme.example", "https://acme.example/a?b=1", "10.0.0.5",
    "HTTP 502",     "error", "12 March 2026", "03/04/2026", "2026-03-12T10:14:05Z", "9:30", "249.00 USD", "€", "v2.8.0",
    "/var/log/x.log",
    "C:\\temp", '"Billing viewers"', "'", "`", "30 minutes", "24h", "+44 20 7946 0958", "ECONNREFUSED",
    "[email:1-k7qd2m]", "region", "eu-west-1", "is", ":", "=", "not", "locked", "Please", "unlock", "Nora Lindqvist",
    "\n", "\n\n",
    "- ", "> ", "|", "{", "}", '{"a": 1}', ",", ".", "?", "password: hunter2x", "\x00", "\u200b", "é", "日本",
    "\ud800",
    "ﬀ", "İ", "\U0001f600",
)  # fmt: skip

hostile_texts = st.one_of(
    st.text(max_size=300),
    st.text(alphabet=st.characters(codec="ascii"), max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)

_NAMES = (
    "email", "user_id", "invoiceId", "order_number", "amount", "currency", "since", "end_date", "host", "query",
    "limit", "include_closed", "priority", "region", "ids", "customer", "path", "status_code", "name", "hours", "",
    "ünï",
)  # fmt: skip

_leaf: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "format": st.sampled_from(["email", "uri", "date", "date-time", "hostname", "ipv4", "uuid", "strange"]),
            "pattern": st.sampled_from(
                [r"^usr_\d{3,}$", r"^INV-\d+$", r"^[a-z]+-[a-z]+-\d$", r"^(a+)+$", "(", r"^\w+@"]
            ),
            "minLength": st.integers(0, 30),
            "maxLength": st.integers(0, 40),
            "description": st.sampled_from(["Such as INV-2041.", "Name or e-mail.", "In cents", "SQL statement", ""]),
            "default": st.sampled_from(["x", "eu-west-1", 3, None]),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": st.integers(-5, 500),
            "maximum": st.integers(-5, 5000),
            "multipleOf": st.sampled_from([1, 7]),
        },
    ),
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from(["low", "high", "USD", "open", 3, None, "eu-west-1"]), min_size=1)}
    ),
    st.just({"const": "fixed"}),
    st.just({"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]}),
    st.just({"$ref": "#/$defs/Missing"}),
    st.just({"type": ["string", "null"]}),
    st.sampled_from([{}, {"type": "nonsense"}, {"type": 7}]),
)


def _object(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": properties},
        optional={
            "required": st.lists(st.sampled_from(_NAMES), max_size=4, unique=True),
            "additionalProperties": st.booleans(),
            "maxProperties": st.integers(0, 3),
        },
    )


_array = st.fixed_dictionaries(
    {"type": st.just("array"), "items": _leaf},
    optional={"minItems": st.integers(0, 3), "maxItems": st.integers(0, 3), "uniqueItems": st.booleans()},
)
schemas = _object(st.one_of(_leaf, _array, _object(_leaf)))
