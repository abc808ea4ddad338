"""What hypothesis makes for these tests: schemas that can be demanded, schemas that cannot, and events of all kinds."""

from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

WORDS = ("a", "b", "c d", "é/~", "$ref")
FINE_PRINT = ("minLength", "format", "default", "examples", "minItems")


def one(required: dict[str, Strategy], optional: dict[str, Strategy] | None = None) -> Strategy:
    return st.fixed_dictionaries(required, optional=optional or {})


_fine_print: dict[str, Strategy] = {
    "minLength": st.integers(0, 3),
    "format": st.just("date"),
    "default": st.none(),
    "examples": st.just([1]),
}
_literals: Strategy = st.lists(st.sampled_from(["x", 1, None, True]), min_size=1, max_size=3)
_leaves: Strategy = st.one_of(
    one({"type": st.sampled_from(["string", "integer", "boolean", "null"])}, _fine_print),
    one({"enum": _literals}),
    st.just({"$ref": "#/$defs/Node"}),
)


def _objects(inner: Strategy) -> Strategy:
    named: Strategy = st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=3)
    rest: dict[str, Strategy] = {"additionalProperties": st.booleans()}
    empty: Strategy = st.just({"type": "object", "properties": {}})
    return one({"type": st.just("object"), "properties": named}, rest) | empty


def _larger(inner: Strategy) -> Strategy:
    several: Strategy = st.lists(inner, min_size=1, max_size=3)
    lists = one({"type": st.just("array"), "items": inner}, {"minItems": st.integers(0, 2)})
    return _objects(inner) | lists | one({"anyOf": several})


_schemas: Strategy = st.recursive(_leaves, _larger, max_leaves=6)


@st.composite
def closed_schemas(draw: st.DrawFn) -> dict[str, Any]:
    """An object whose parts may refer to a definition, which may refer to itself."""
    root: dict[str, Any] = draw(_objects(_schemas))
    return {**root, "$defs": {"Node": draw(_objects(_schemas))}}


values: Strategy = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x", "xyz"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=5,
)

_KEYWORDS = (
    "type", "properties", "items", "$ref", "$defs", "allOf", "anyOf", "enum", "a", "additionalProperties",
)  # fmt: skip
hostile_schemas: Strategy = st.dictionaries(
    st.sampled_from(_KEYWORDS),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(0, 3)
        | st.sampled_from(["#", "#/$defs/a", "object", "array", "string"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYWORDS), inner, max_size=4),
        max_leaves=12,
    ),
    max_size=5,
)

_TEXTS = (
    "", "x", "tool_use", "end_turn", "stop", "tool_calls", "length", "text", "text_delta", "input_json_delta", "{}",
    '{"a"', "[]",
)  # fmt: skip
FIELDS = (
    "type", "index", "delta", "message", "content_block", "content", "text", "partial_json", "id", "name", "input",
    "stop_reason", "usage", "output_tokens", "model", "error", "choices", "finish_reason", "tool_calls", "function",
    "arguments", "refusal", "code",
)  # fmt: skip
_EVENTS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "ping", "error", "brand_new",
)  # fmt: skip

scalars: Strategy = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(_TEXTS)
anything: Strategy = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=10,
)
blocks = one({"type": st.sampled_from(["text", "tool_use", "thinking"]), "id": scalars, "name": scalars})
_deltas = one(
    {"type": st.sampled_from(["text_delta", "input_json_delta"])},
    {"text": scalars, "partial_json": scalars, "stop_reason": scalars},
)
anthropic_events = one(
    {"type": st.sampled_from(_EVENTS), "index": st.integers(0, 1) | scalars},
    {"content_block": blocks, "delta": _deltas, "message": anything, "usage": anything, "error": anything},
)
_functions = one({}, {"name": scalars, "arguments": scalars}) | anything
_calls: Strategy = st.lists(one({"index": st.integers(0, 1)}, {"id": scalars, "function": _functions}), max_size=2)
_said = one({}, {"content": scalars, "refusal": scalars, "tool_calls": _calls | anything}) | anything
_choices: Strategy = st.lists(
    one({"index": st.just(0) | scalars, "finish_reason": scalars}, {"delta": _said}), max_size=2
)
openai_events = one({"choices": _choices | anything}, {"usage": anything, "error": anything, "model": anything})
