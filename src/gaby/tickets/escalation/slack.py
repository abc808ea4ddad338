"""Escalations to a channel of Slack, through an incoming webhook."""

import re

import httpx2

from gaby.kernel.clock import Clock
from gaby.tickets.adapters.web import DeskRequest, check_status, send
from gaby.tickets.escalation.channel import VERDICTS, Escalation
from gaby.tickets.text_cleanup import clean, clean_line

_SERVICE = "Slack"
_HEADER = 150
_SECTION = 3000
_STEPS = 10
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
# Slack makes a mention of these words even when nothing is escaped, where a message is set to be parsed in full.
_MENTION = re.compile(r"@(?=channel|here|everyone|group)", re.IGNORECASE)
_WORD_JOINER = "\u2060"


class SlackChannel:
    def __init__(self, address: str, http: httpx2.AsyncClient, clock: Clock) -> None:
        self._address = address
        self._http = http
        self._clock = clock

    async def send(self, escalation: Escalation) -> None:
        ask = DeskRequest("POST", self._address, json=message(escalation))
        check_status(await send(self._http, ask, _SERVICE), ask, _SERVICE, now=self._clock.now())


def message(escalation: Escalation) -> dict[str, object]:
    verdict = VERDICTS[escalation.verdict]
    title = clean_line(escalation.title, _HEADER)
    reasons = "\n".join(f"• {clean_line(each, 500)}" for each in escalation.reasons)
    # The newest are those that say where it ended.
    steps = "\n".join(f"{clean_line(each, 200)}" for each in escalation.steps[-_STEPS:])
    blocks: list[dict[str, object]] = [
        {"type": "header", "text": {"type": "plain_text", "text": _cut(_defused(title), _HEADER), "emoji": False}},
        _section(f"*Gaby: {verdict}*", escaped(reasons)),
    ]
    blocks += [_section("*Summary*", escaped(clean(escalation.summary, _SECTION)))] if escalation.summary else []
    blocks += [_section("*Steps*", escaped(steps))] if steps else []
    if _is_link(escalation.link):
        blocks.append(_section("", f"<{escaped(escalation.link).replace('|', '%7C')}|Open the ticket>"))
    blocks.append({"type": "context", "elements": [_words(escaped(escalation.id))]})
    return {
        "text": _cut(escaped(f"{title}: {verdict}"), _SECTION),
        "blocks": blocks,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def escaped(text: str) -> str:
    """So that nothing in it is a mention, a link or a command of Slack's."""
    return _defused(text).translate(_ESCAPES)


def _defused(text: str) -> str:
    return _MENTION.sub(f"@{_WORD_JOINER}", text)


def _section(heading: str, words: str) -> dict[str, object]:
    return {"type": "section", "text": _words(_cut("\n".join(part for part in (heading, words) if part), _SECTION))}


def _words(text: str) -> dict[str, object]:
    # Without `verbatim`, Slack would make links and mentions out of plain words.
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _cut(text: str, longest: int) -> str:
    """Never within an escape, half of which would be shown."""
    if len(text) <= longest:
        return text
    kept = text[: longest - 1]
    start = kept.rfind("&")
    return (kept[:start] if start >= 0 and ";" not in kept[start:] else kept) + "…"


def _is_link(link: str) -> bool:
    return link.startswith(("https://", "http://")) and link.isascii() and link.isprintable() and len(link) < 2000
