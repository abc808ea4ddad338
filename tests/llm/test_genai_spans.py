"""Model calls as OpenTelemetry's conventions for generative AI describe them, without a word of what was said."""

from collections.abc import Generator

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gaby.kernel import tracing
from tests.llm.scenes import GPT, Bench
from tests.llm.skills import TELL, WANT, WEIGH, Complaint
from tests.support.models.replies import Reply, Status, call, calls, structured

pytestmark = [pytest.mark.promise("G11"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

GOOD = structured({"kilos": 3, "why": "it says so"})


@pytest.fixture
def spans() -> Generator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.configure(None, "gaby-test", exporter=exporter)
    yield exporter
    tracing.shutdown()


async def test_a_call_has_its_model_its_tokens_and_how_it_stopped(runtime: Bench, spans: InMemorySpanExporter) -> None:
    runtime.server.say(GOOD)
    result = await runtime.run(WEIGH, Complaint())
    [done] = spans.get_finished_spans()
    assert (done.name, done.kind) == ("chat claude-test", SpanKind.CLIENT)
    usage = result.usage
    assert done.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.system": "anthropic",
        "gen_ai.request.model": "claude-test",
        "gen_ai.request.max_tokens": 200,
        "gen_ai.response.model": "claude-test",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": usage.input + usage.cache_read + usage.cache_write,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gaby.skill": "weigh",
    }


async def test_each_try_is_a_span_and_a_failure_says_its_type(runtime: Bench, spans: InMemorySpanExporter) -> None:
    runtime.route(GPT)
    runtime.server.say(Status(503), calls(call("scale.list")))
    await runtime.run(WANT, Complaint())
    failed, good = spans.get_finished_spans()
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.attributes is not None
    assert failed.attributes["error.type"]
    assert "gen_ai.response.model" not in failed.attributes
    assert good.attributes is not None
    assert good.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert good.attributes["gen_ai.provider.name"] == "openai"


async def test_a_stream_is_a_span_with_the_same_attributes(runtime: Bench, spans: InMemorySpanExporter) -> None:
    runtime.server.say(Reply("It weighs 3 kg."))
    await runtime.stream(TELL, Complaint())
    [done] = spans.get_finished_spans()
    assert done.attributes is not None
    assert done.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert done.attributes["gen_ai.usage.output_tokens"]


async def test_no_text_of_the_prompt_or_the_answer_is_in_a_span(runtime: Bench, spans: InMemorySpanExporter) -> None:
    runtime.server.say(Status(400, "prompt was: The scale is off by 3 kg."), GOOD)
    await runtime.run(WEIGH, Complaint())
    await runtime.run(WEIGH, Complaint())
    told = "".join(span.to_json() for span in spans.get_finished_spans())
    assert len(spans.get_finished_spans()) == 2
    for text in ("off by 3 kg", "Lanternfish", "it says so"):
        assert text not in told
