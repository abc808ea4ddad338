"""What every vendor has to be told in the same way, and what none of them accepts."""

import re

import orjson

from gaby.llm.errors import RequestRefused
from gaby.llm.messages import ChatMessage, ModelRequest, OutputSchema
from gaby.llm.providers.strict_schemas import SchemaNotStrict, plain, strict_schema

_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")


def turns(request: ModelRequest) -> list[ChatMessage]:
    """The messages that say something. The last one is from the user: no vendor continues a sentence that we began."""
    said = [each for each in request.messages if each.text.strip() or each.uses or each.replies]
    if not said and not request.envelope.strip():
        raise RequestRefused("There is nothing to ask: every message is empty.")
    if said and said[-1].role != "user":
        raise RequestRefused("The last message must be the user's, so that the model has something to answer.")
    if not said or said[0].role != "user":
        said.insert(0, ChatMessage("user"))
    return said


def shape_name(shape: OutputSchema) -> str:
    return _OTHERS.sub("_", shape.name)[:64] or "answer"


def demanded(shape: OutputSchema) -> dict[str, object]:
    """The shape for vendors that guarantee it."""
    try:
        return strict_schema(shape.schema)
    except SchemaNotStrict as error:
        raise RequestRefused(f"The shape {shape_name(shape)} cannot be demanded. {error}") from None


def wished(shape: OutputSchema) -> str:
    """The shape in words, for servers that cannot guarantee it."""
    schema = orjson.dumps(plain(shape.schema)).decode()
    return f"Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{schema}"
