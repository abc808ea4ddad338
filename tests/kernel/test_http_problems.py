"""Whatever goes wrong, the answer is a problem that helps and gives nothing away."""

import json
from typing import Any

import httpx2
import pytest

from tests.kernel.logs import captured
from tests.kernel.web import build, client, served

pytestmark = pytest.mark.promise("O1")


def problem(answer: httpx2.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    assert body["request_id"] == answer.headers["X-Request-ID"]
    assert body["title"]
    assert body["detail"]
    return body


async def ask(method: str, path: str, **more: Any) -> httpx2.Response:
    async with client(build()) as http:
        return await http.request(method, path, **more)


async def test_our_errors_keep_their_words_and_headers() -> None:
    assert problem(await ask("GET", "/fail/gone"), 404)["code"] == "not_found"
    later = await ask("GET", "/fail/later")
    assert problem(later, 429)["code"] == "too_many_requests"
    assert later.headers["Retry-After"] == "7"


@pytest.mark.promise("O5")
async def test_storage_that_is_down_says_when_to_come_back() -> None:
    with captured() as stream:
        down = await ask("GET", "/fail/down")
    assert problem(down, 503)["code"] == "unavailable"
    assert down.headers["Retry-After"] == "5"
    assert json.loads(stream.getvalue().splitlines()[0])["event"] == "http.failed"


async def test_unknown_addresses_and_methods() -> None:
    assert problem(await ask("GET", "/nowhere"), 404)["code"] == "not_found"
    wrong = await ask("DELETE", "/api/things/1")
    assert problem(wrong, 405)["code"] == "method_not_allowed"
    assert wrong.headers["Allow"] == "GET"


async def test_a_status_we_have_no_error_for_is_told_without_its_detail() -> None:
    answer = await ask("GET", "/fail/teapot")
    assert problem(answer, 418)["title"] == "I'm a Teapot"
    assert "secret" not in answer.text


async def test_an_unexpected_error_is_logged_whole_and_answered_with_nothing_of_it() -> None:
    with captured() as stream:
        answer = await ask("GET", "/fail/badly", headers={"X-Request-ID": "r-1"})
    assert problem(answer, 500)["code"] == "gaby_error"
    assert "secret" not in answer.text
    failed, request = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (failed["event"], failed["level"], failed["request_id"]) == ("http.failed", "error", "r-1")
    assert failed["payload"]["error"] == {"type": "RuntimeError", "message": "secret detail"}
    assert 'raise RuntimeError("secret detail")' in failed["payload"]["stack"]
    assert request["payload"]["status"] == 500


async def test_an_answer_that_fails_half_way_is_cut_off_and_not_passed_off_as_whole() -> None:
    with captured() as stream:
        async with served(build()) as url, httpx2.AsyncClient() as http:
            with pytest.raises(httpx2.RemoteProtocolError):
                await http.get(f"{url}/fail/midway")
    events = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert "http.failed" in events
    assert "http.request" in events


INPUT = "s3cret-input"


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        ({"name": "x", "count": INPUT}, "body.count", "valid integer"),
        ({"name": "x", "count": 11}, "body.count", "must be at most 10"),
        ({"name": "x", "id": INPUT}, "body.id", "must be a UUID"),
        ({"name": "x", "pet": {"kind": INPUT}}, "body.pet", "must be one of 'cat', 'dog'"),
        ({"name": f"{INPUT}\0"}, "body.name", "must not contain a NUL character"),
        ({"name": f"{INPUT}\n"}, "body.name", "must be one line"),
        ({"name": ""}, "body.name", "at least 1 char"),
        ({"name": INPUT * 100}, "body.name", "at most 200 characters"),
        ({"name": 7}, "body.name", "valid string"),
        ({}, "body.name", "required"),
        ({"name": "x", "extra": INPUT}, "body.extra", "not permitted"),
        ([INPUT], "body", "valid dictionary"),
    ],
)
async def test_invalid_values_are_told_by_place_and_never_repeated(body: Any, where: str, message: str) -> None:
    answer = await ask("POST", "/api/things", json=body)
    (error,) = problem(answer, 422)["errors"]
    assert error.keys() == {"where", "message"}
    assert error["where"] == where
    assert message in error["message"]
    assert INPUT not in answer.text


async def test_a_lone_surrogate_is_refused_in_plain_words() -> None:
    answer = await ask(
        "POST", "/api/things", content=rb'{"name": "\ud800"}', headers={"Content-Type": "application/json"}
    )
    (error,) = problem(answer, 422)["errors"]
    assert "must be valid Unicode" in error["message"]


@pytest.mark.parametrize("content", [b"{", b"", b'{"name": "x"', b"s3cret-input", b'{"name": s3cret-input}'])
async def test_broken_json_is_told_and_never_repeated(content: bytes) -> None:
    answer = await ask("POST", "/api/things", content=content, headers={"Content-Type": "application/json"})
    assert problem(answer, 422)["errors"][0]["where"] == "body"
    assert INPUT not in answer.text


@pytest.mark.parametrize("content", [b'{"name": "\xff"}', b'{"count": ' + b"9" * 5000 + b"}"])
async def test_json_that_python_cannot_read_is_the_clients_fault(content: bytes) -> None:
    answer = await ask("POST", "/api/things", content=content, headers={"Content-Type": "application/json"})
    assert problem(answer, answer.status_code)["status"] in (400, 422)


async def test_queries_are_checked_too() -> None:
    (error,) = problem(await ask("GET", "/api/things?limit=0"), 422)["errors"]
    assert error["where"] == "query.limit"


async def test_many_mistakes_give_a_bounded_answer() -> None:
    answer = await ask("POST", "/api/things", json={"name": "x"} | {f"key{number}": 1 for number in range(500)})
    assert len(problem(answer, 422)["errors"]) == 50


async def test_a_hostile_field_name_cannot_fill_or_forge_the_answer() -> None:
    answer = await ask("POST", "/api/things", json={"name": "x", "\u001b[2J\n" + "k" * 5000: 1})
    (error,) = problem(answer, 422)["errors"]
    assert len(error["where"]) < 300
    assert "\x1b" not in error["where"]
