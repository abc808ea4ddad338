"""How model calls are printed: a line each, or the whole prompt and answer in parts."""

import json
from typing import Any

from gaby.cli.output import echo, one_line, one_line_json, secho
from gaby.usage.trace_schemas import CallTraceOut, PromptMessageOut, RunCallOut, ToolUseOut


def call_row(call: RunCallOut) -> dict[str, Any]:
    return {
        "number": call.number,
        "skill": call.skill,
        "model": call.model,
        "outcome": call.outcome,
        "in": call.input_tokens + call.cache_write_tokens,
        "out": call.output_tokens,
        "cached": call.cache_read_tokens,
        "usd": None if call.usd is None else f"{call.usd:.5f}",
        "ms": call.milliseconds,
        "stored": "yes" if call.has_trace else "no",
    }


def print_trace(trace: CallTraceOut) -> None:
    call, prompt = trace.call, trace.prompt
    _head(f"call {call.number}: {call.skill} by {call.model}, {call.outcome}")
    usd = "unknown cost" if call.usd is None else f"${call.usd:.5f}"
    tokens = f"{call.input_tokens + call.cache_write_tokens} tokens in, {call.cache_read_tokens} from the cache"
    echo(f"{call.created_at:%Y-%m-%d %H:%M:%S}, {call.milliseconds} ms, {tokens}, {call.output_tokens} out, {usd}")
    if trace.shortened:
        echo("A text was too long to be stored whole; a mark shows where something is missing.")
    _part("system", prompt.system)
    _part("envelope", prompt.envelope)
    for number, message in enumerate(prompt.messages, start=1):
        _print_message(number, message)
    for tool in prompt.tools:
        _part(f"tool {tool.name}", f"{tool.description}\n{one_line_json(tool.input_schema)}")
    if prompt.answer_schema is not None:
        _part("schema of the answer", json.dumps(prompt.answer_schema, indent=2, ensure_ascii=False))
    if trace.answer is not None:
        _part(f"answer by {trace.answer.model} ({trace.answer.stop})", trace.answer.text)
        _print_uses(trace.answer.tool_calls)
    if trace.problem is not None:
        _part("what was wrong", trace.problem)


def _print_message(number: int, message: PromptMessageOut) -> None:
    for result in message.tool_results:
        _part(f"message {number}, result of a tool{' that failed' if result.failed else ''}", result.text)
    if message.text or not (message.tool_results or message.tool_calls):
        _part(f"message {number}, {message.role}", message.text)
    if message.tool_calls:
        _head(f"message {number}, {message.role} calls tools")
        _print_uses(message.tool_calls)


def _print_uses(uses: list[ToolUseOut]) -> None:
    for use in uses:
        echo(f"{one_line(use.name)} {one_line_json(use.arguments)}")


def _part(heading: str, text: str) -> None:
    """Indented, so that no text can pass for a heading of ours."""
    if text:
        _head(heading)
        for line in text.rstrip("\n").split("\n"):
            echo(f"  {one_line(line)}")


def _head(heading: str) -> None:
    secho(f"\n{one_line(heading)}", bold=True)
