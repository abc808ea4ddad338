"""Model vendors on loopback that say what the test tells them, in the wire formats of the real ones."""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition
from typing import Any

import orjson

from gaby.llm.providers.config import Kind, ProviderConfig
from tests.support.models.anthropic import Anthropic, Bedrock, Vertex
from tests.support.models.billing import Bill, Till
from tests.support.models.http_server import Exchange, Gone, HttpServer, Received
from tests.support.models.openai import Azure, Compatible, OpenAI, Voyage
from tests.support.models.replies import AnyReply, Body, Garbage, Reply, Status
from tests.support.models.vendor import Asked, Problem, Sent, Vendor, demand, output_tokens, within

KEY = "sk-scripted-5f81c07be2a94d63"
MODELS = frozenset({"claude-test", "claude-small-test", "gpt-test", "gpt-small-test", "local-test", "embed-test"})
_PATIENCE = 30.0

Respond = Callable[[Received], AnyReply]


class ScriptedModels:
    """Several vendors under one address, each in its folder. They charge what they say that they charge."""

    def __init__(self, *, key: str, models: frozenset[str], smallest_kept: int, most_context: int) -> None:
        self.key = key
        self.models = models
        self.respond: Respond = lambda _received: Reply("Fine.")
        """Answers when nothing is queued."""
        self._most_context = most_context
        self._till = Till(smallest_kept)
        self._queue: deque[AnyReply] = deque()
        self._changed = Condition()
        self._requests: list[Received] = []
        self._hung_up = 0
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def address(self, kind: Kind) -> str:
        folders = {"openai": "/v1", "compatible": "/compatible/v1", "vertex": "/v1", "voyage": "/voyage/v1"}
        return self.url + ({"bedrock": "/anthropic"} | folders).get(kind, "")

    def config(self, kind: Kind, **options: str) -> ProviderConfig:
        """An account here, with the right key."""
        places = {"bedrock": {"region": "eu-test-1"}, "vertex": {"region": "eu-test-1", "project": "desk-test"}}
        described: dict[str, Any] = {"kind": kind, "base_url": self.address(kind), "key": self.key}
        return ProviderConfig.model_validate({**described, "options": {**places.get(kind, {}), **options}})

    def say(self, *replies: AnyReply) -> None:
        """Answers for the next requests, in this order."""
        self._queue.extend(replies)

    @property
    def requests(self) -> list[Received]:
        with self._changed:
            return list(self._requests)

    @property
    def billed(self) -> list[Bill]:
        return self._till.bills

    @property
    def hung_up(self) -> int:
        """How often a client went away before it had its answer."""
        with self._changed:
            return self._hung_up

    @property
    def connections(self) -> int:
        return self._server.connections

    def wait_for_requests(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._requests) >= count, _PATIENCE), len(self._requests)

    def wait_for_hang_ups(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._hung_up >= count, _PATIENCE), self._hung_up

    def wait_for_connections(self, count: int) -> None:
        self._server.wait_for_connections(count)

    def close(self) -> None:
        self._server.close()

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        with self._changed:
            self._requests.append(received)
            self._changed.notify_all()
        vendor = _vendor(received)
        try:
            asked = self._checked(vendor, received)
        except Problem as problem:
            body = orjson.dumps(vendor.problem(problem))
            await exchange.send(problem.status, {"Content-Type": "application/json"}, body)
            return
        if asked is None:
            await exchange.send(200, {"Content-Type": "application/json"}, self._listed())
            return
        reply = self._queue.popleft() if self._queue else self.respond(received)
        try:
            await self._deliver(exchange, vendor, asked, reply)
        except Gone:
            with self._changed:
                self._hung_up += 1
                self._changed.notify_all()
            raise

    def _checked(self, vendor: Vendor, received: Received) -> Asked | None:
        if received.method == "GET" and received.path.endswith("/models"):
            return None
        demand(received.method == "POST", "Not allowed to use this method here.", "method_not_allowed", 405)
        asked = vendor.check(received, self.key, self.models)
        tokens = sum(len(block.content.split()) for block in asked.blocks)
        demand(tokens <= self._most_context, f"prompt is too long: {tokens} tokens > {self._most_context} maximum")
        return asked

    def _listed(self) -> bytes:
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in sorted(self.models)]
        return orjson.dumps({"object": "list", "data": models})

    async def _deliver(self, exchange: Exchange, vendor: Vendor, asked: Asked, reply: AnyReply) -> None:
        match reply:
            case Garbage():
                await exchange.raw(reply.data)
                exchange.keep_open = False
            case Status():
                body = orjson.dumps(vendor.status(reply)) if reply.body is None else reply.body
                await exchange.send(reply.status, {"Content-Type": "application/json", **reply.headers}, body)
            case Body():
                await exchange.send(200, {"Content-Type": reply.content_type, **reply.headers}, reply.body)
            case Reply():
                if reply.held is not None:
                    await exchange.wait(reply.held.passed())
                await self._say(exchange, vendor, asked, reply)

    async def _say(self, exchange: Exchange, vendor: Vendor, asked: Asked, reply: Reply) -> None:
        bill = self._till.prompt(vendor.name, asked.model, asked.blocks)
        if isinstance(vendor, OpenAI):
            # It takes nothing for keeping a prefix.
            bill = replace(bill, input=bill.input + bill.cache_write, cache_write=0)
        if isinstance(vendor, OpenAI) and exchange.received.path.endswith("/embeddings"):
            await self._whole(exchange, vendor.vectors(asked, reply, bill), bill, 0, reply)
            return
        reply = within(reply, asked.most_tokens)
        if not asked.stream:
            if reply.endless:
                await exchange.begin({"Content-Type": "application/json"})
            while reply.endless:
                await exchange.chunk(b" ")
            await self._whole(exchange, vendor.whole(asked, reply, bill), bill, output_tokens(reply), reply)
            return
        await exchange.begin({"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"})
        await self._events(exchange, vendor, vendor.events(asked, reply, bill), bill, reply)

    async def _whole(self, exchange: Exchange, made: dict[str, Any], bill: Bill, output: int, reply: Reply) -> None:
        cut = reply.cut_after is not None
        number = self._till.open(bill)
        self._till.change(number, output=output, told=not cut)
        await exchange.send(200, {"Content-Type": "application/json"}, orjson.dumps(made), cut=cut)
        if cut and reply.abrupt:
            exchange.abort()

    async def _events(self, exchange: Exchange, vendor: Vendor, events: list[Sent], bill: Bill, reply: Reply) -> None:
        events[1:1] = [vendor.ping()] * reply.pings
        last = reply.cut_after if reply.cut_after is not None else reply.hang_after
        if reply.failure is not None:
            events = [*events[: last or 0], vendor.failure(reply.failure)]
        elif last is not None:
            events = events[:last]
        number: int | None = None
        for event in events:
            if reply.paced is not None:
                await exchange.wait(reply.paced.passed())
            if number is None and event.told == "begun":
                number = self._till.open(bill)
                output = output_tokens(reply)
                first = min(output, 1) if vendor.tells_at_first else output
                self._till.change(number, output=first, told=vendor.tells_at_first)
            if number is not None and event.told == "all":
                self._till.change(number, output=output_tokens(reply), told=True)
            await exchange.chunk(event.data)
        await self._finish(exchange, vendor, reply)

    async def _finish(self, exchange: Exchange, vendor: Vendor, reply: Reply) -> None:
        while reply.endless:
            await exchange.chunk(vendor.ping().data)
        if reply.hang_after is not None:
            await exchange.wait()
        if reply.cut_after is not None and reply.abrupt:
            exchange.abort()
        else:
            await exchange.end()


def _vendor(received: Received) -> Vendor:
    path = received.path
    if path.startswith("/v1/projects/"):
        return Vertex()
    if path.startswith("/anthropic/"):
        return Bedrock()
    if path.startswith("/openai/deployments/"):
        return Azure()
    if path.startswith("/compatible/"):
        return Compatible()
    if path.startswith("/voyage/"):
        return Voyage()
    return Anthropic() if path == "/v1/messages" else OpenAI()


@contextmanager
def scripted_models(
    *,
    key: str = KEY,
    models: frozenset[str] = MODELS,
    smallest_kept: int = 0,
    most_context: int = 1_000_000,
) -> Generator[ScriptedModels]:
    server = ScriptedModels(key=key, models=models, smallest_kept=smallest_kept, most_context=most_context)
    try:
        yield server
    finally:
        server.close()
