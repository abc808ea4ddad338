"""What the API gives about the model calls of a run."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from gaby.llm.messages import ChatMessage, ModelRequest, ModelResponse, ToolUse
from gaby.llm.trace_format import TraceContent
from gaby.usage.call_traces import RunModelCall
from gaby.usage.schemas import ModelCallOut


class RunCallOut(ModelCallOut):
    number: Annotated[int, Field(description="Its place among the calls of the run, from 1.")]
    outcome: Annotated[
        str, Field(description="`answered`, `unacceptable`, `refusal`, `cancelled`, or the code of the error.")
    ]
    has_trace: Annotated[bool, Field(description="Whether the prompt and the answer are stored.")]

    @classmethod
    def of_run(cls, run_call: RunModelCall) -> Self:
        call = ModelCallOut.from_domain(run_call.call).model_dump()
        return cls(number=run_call.number, outcome=run_call.outcome, has_trace=run_call.has_trace, **call)


class ToolUseOut(BaseModel):
    name: str
    arguments: dict[str, Any]

    @classmethod
    def from_domain(cls, use: ToolUse) -> Self:
        return cls(name=use.name, arguments=dict(use.arguments))


class ToolResultOut(BaseModel):
    text: str
    failed: bool


class PromptMessageOut(BaseModel):
    role: str
    text: str
    tool_calls: list[ToolUseOut]
    tool_results: Annotated[list[ToolResultOut], Field(description="They stand before the text.")]

    @classmethod
    def from_domain(cls, message: ChatMessage) -> Self:
        return cls(
            role=message.role,
            text=message.text,
            tool_calls=[ToolUseOut.from_domain(use) for use in message.uses],
            tool_results=[ToolResultOut(text=reply.text, failed=reply.failed) for reply in message.replies],
        )


class PromptToolOut(BaseModel):
    name: str
    description: str
    input_schema: dict[str, Any]


class PromptOut(BaseModel):
    """As the model saw it: personal values are placeholders."""

    system: str
    envelope: Annotated[str, Field(description="What was gathered for the run; the beginning of the first message.")]
    messages: list[PromptMessageOut]
    tools: list[PromptToolOut]
    answer_schema: Annotated[dict[str, Any] | None, Field(description="The JSON that the answer must be.")]
    max_output_tokens: int
    temperature: float | None

    @classmethod
    def from_domain(cls, request: ModelRequest) -> Self:
        return cls(
            system=request.system,
            envelope=request.envelope,
            messages=[PromptMessageOut.from_domain(message) for message in request.messages],
            tools=[
                PromptToolOut(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
                for tool in request.tools
            ],
            answer_schema=None if request.shape is None else dict(request.shape.schema),
            max_output_tokens=request.max_output_tokens,
            temperature=request.temperature,
        )


class ModelAnswerOut(BaseModel):
    text: str
    tool_calls: list[ToolUseOut]
    stop: str
    model: Annotated[str, Field(description="As the vendor names what really answered.")]

    @classmethod
    def from_domain(cls, answer: ModelResponse) -> Self:
        uses = [ToolUseOut.from_domain(use) for use in answer.uses]
        return cls(text=answer.text, tool_calls=uses, stop=answer.stop, model=answer.model)


class CallTraceOut(BaseModel):
    call: RunCallOut
    prompt: PromptOut
    answer: ModelAnswerOut | None
    problem: Annotated[
        str | None, Field(description="What was wrong with the answer, as the model was told, or why there was none.")
    ]
    shortened: Annotated[bool, Field(description="Whether a text was too long to be stored whole.")]

    @classmethod
    def from_domain(cls, call: RunModelCall, content: TraceContent) -> Self:
        return cls(
            call=RunCallOut.of_run(call),
            prompt=PromptOut.from_domain(content.request),
            answer=None if content.answer is None else ModelAnswerOut.from_domain(content.answer),
            problem=content.problem,
            shortened=content.shortened,
        )
