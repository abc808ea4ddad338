"""The witness over HTTP: two routes, as in C2SP's tlog-witness."""

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gaby.audit.witness import MAX_REQUEST, Witness


def witness_app(witness: Witness) -> Starlette:
    async def add_checkpoint(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_REQUEST:
                return PlainTextResponse("The request is too long.\n", 413)
        answer = await asyncio.to_thread(witness.add_checkpoint, bytes(body))
        return Response(answer.body, answer.status, {"Content-Type": answer.content_type})

    async def checkpoint(request: Request) -> Response:
        note = witness.checkpoint(request.path_params["origin_hash"])
        if note is None:
            return PlainTextResponse("This witness has signed nothing of that log.\n", 404)
        return Response(note, headers={"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"})

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/{origin_hash}/checkpoint", checkpoint, methods=["GET"]),
        ]
    )
