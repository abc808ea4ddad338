"""Draws the pictures of docs/images that show how Gaby is built: plain SVG, the same on every machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Literal

_STYLE = """
  text { font: 14px Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2937 }
  .title { font-weight: 600 }
  .small { font-size: 12px; fill: #4b5563 }
  .box { stroke: #64748b; stroke-width: 1.2 }
  .area { fill: none; stroke: #94a3b8; stroke-dasharray: 5 4 }
  .arrow { fill: none; stroke: #475569; stroke-width: 1.4; marker-end: url(#head) }
"""
_HEAD = (
    '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse">'
    '<path d="M0 0 10 5 0 10z" fill="#475569"/></marker>'
)
Side = Literal["left", "right", "top", "bottom"]


@dataclass(frozen=True)
class Box:
    x: int
    y: int
    width: int
    height: int
    title: str
    lines: Sequence[str] = ()
    fill: str = "#ffffff"

    def point(self, side: Side, at: float = 0.5) -> tuple[float, float]:
        """On an edge, `at` of its length from the left or from above."""
        if side in {"left", "right"}:
            return self.x + (self.width if side == "right" else 0), self.y + self.height * at
        return self.x + self.width * at, self.y + (self.height if side == "bottom" else 0)

    def draw(self) -> Iterator[str]:
        yield (
            f'<rect class="box" x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="6" '
            f'fill="{self.fill}"/>'
        )
        middle = self.x + self.width / 2
        first = self.y + (self.height - 18 * len(self.lines)) / 2 + 5
        yield _text(middle, first, self.title, "title")
        for number, line in enumerate(self.lines, 1):
            yield _text(middle, first + 18 * number, line, "small")


def _text(x: float, y: float, text: str, kind: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _arrow(*points: tuple[float, float], both: bool = False) -> str:
    path = "M" + " ".join(f"{x:g} {y:g}" for x, y in points)
    start = ' marker-start="url(#head)"' if both else ""
    return f'<path class="arrow" d="{path}"{start}/>'


def _picture(width: int, height: int, description: str, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(description)}">',
            f"<style>{_STYLE}</style><defs>{_HEAD}</defs>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


_OUTSIDE, _PLAIN, _SAFE, _STORE = "#f1f5f9", "#ffffff", "#dcfce7", "#e0f2fe"


def architecture() -> str:
    """What talks to what: desks, models, knowledge and systems around one process and one database."""
    desks = Box(
        20, 150, 170, 150, "Help desks", ["e-mail, GitHub Issues,", "Request Tracker,", "Zoho Desk, built-in"], _OUTSIDE
    )
    people = Box(390, 20, 320, 60, "People", ["command line, HTTP API: approvals, drafts, settings"], _OUTSIDE)
    intake = Box(250, 150, 150, 150, "Tickets", ["intake, dedupe,", "redaction,", "replies sent once"], _PLAIN)
    agent = Box(
        450, 150, 200, 150, "Investigations", ["state machine on a queue,", "leases, budgets;", "cited verdict"], _PLAIN
    )
    tools = Box(700, 150, 170, 150, "Safety and tools", ["decide, intent,", "act, outcome,", "label the result"], _SAFE)
    connectors = Box(
        930, 150, 170, 150, "Connectors (MCP)", ["LDAP, Keycloak,", "Postgres, Prometheus,", "any MCP server"], _OUTSIDE
    )
    knowledge = Box(250, 350, 250, 80, "Knowledge", ["full text and vectors; citations", "that name lines"], _PLAIN)
    models = Box(
        560, 350, 310, 80, "Models", ["typed skills with budgets and a fallback;", "without a model: rules"], _PLAIN
    )
    sources = Box(20, 350, 170, 80, "Documents", ["folders, git, websites,", "wikis, past tickets"], _OUTSIDE)
    vendors = Box(930, 350, 170, 80, "Model providers", ["optional: hosted,", "or your own server"], _OUTSIDE)
    store = Box(
        250,
        480,
        620,
        70,
        "SQLite or Postgres",
        ["tickets, queue, runs, knowledge; audit log with hash chain, Merkle tree, signed checkpoints"],
        _STORE,
    )
    witness = Box(930, 480, 170, 70, "Anchors, witnesses", ["outside the database"], _OUTSIDE)
    boxes = (desks, people, intake, agent, tools, connectors, knowledge, models, sources, vendors, store, witness)
    arrows = (
        _arrow(desks.point("right"), intake.point("left"), both=True),
        _arrow(intake.point("right"), agent.point("left"), both=True),
        _arrow(agent.point("right"), tools.point("left"), both=True),
        _arrow(tools.point("right"), connectors.point("left"), both=True),
        _arrow(people.point("bottom"), agent.point("top"), both=True),
        _arrow((450, 350), (490, 300), both=True),
        _arrow((640, 350), (600, 300), both=True),
        _arrow(sources.point("right"), knowledge.point("left")),
        _arrow(models.point("right"), vendors.point("left"), both=True),
        _arrow(store.point("right"), witness.point("left")),
        _arrow((530, 300), (530, 480), both=True),
    )
    frame = [
        '<rect class="area" x="225" y="115" width="670" height="450" rx="10"/>',
        _text(240, 136, "Gaby: one process, or a server with workers", "small", "start"),
    ]
    parts = [*frame, *arrows, *(line for box in boxes for line in box.draw())]
    return _picture(1120, 585, "Gaby's parts and what they talk to", parts)


def decision() -> str:
    """How a call or a message is decided, in order."""
    steps = (
        Box(40, 20, 380, 44, "Call or message", fill=_OUTSIDE),
        Box(40, 94, 380, 62, "Gather", ["accepted tool, manifest, policy, origins and readers"]),
        Box(
            40,
            186,
            380,
            80,
            "Refused?",
            ["kill switch, off, quarantine, invalid arguments,", "write without manifest, scope"],
        ),
        Box(40, 296, 380, 62, 'A write at autonomy "investigate"?'),
        Box(40, 388, 380, 62, "An approval for exactly this call?", ["checked again: tool, policy, run, expiry"]),
        Box(
            40, 480, 380, 80, "A concern?", ["provenance, binding, links and secrets,", "readers, consent, no manifest"]
        ),
        Box(40, 590, 380, 62, "Below the connector's rate limit?"),
        Box(40, 682, 380, 62, "Intent in the audit log", ["written only under the policy decided by"], _SAFE),
        Box(40, 774, 380, 62, "Effect", ["outcome: succeeded, failed or unknown"], _SAFE),
        Box(40, 866, 380, 62, "Label the result", ["origins and readers of every value"], _SAFE),
    )
    refused, write, approval, concern, limit = steps[2:7]
    deny = Box(560, 196, 300, 60, "deny", fill="#fee2e2")
    simulate = Box(560, 297, 300, 60, "simulate", ["if the tool has a dry run, else deny"], "#fef9c3")
    ask = Box(560, 490, 300, 60, "ask", ["an approval waits; a reply waits as a draft"], "#fef9c3")
    wait = Box(560, 591, 300, 60, "wait", ["decided anew when there is room"], "#fef9c3")
    arrows = [
        *(_arrow(upper.point("bottom"), lower.point("top")) for upper, lower in pairwise(steps)),
        _arrow(refused.point("right"), deny.point("left")),
        _arrow(write.point("right"), simulate.point("left")),
        _arrow(approval.point("right", 0.3), (910, approval.point("right", 0.3)[1]), (910, 226), deny.point("right")),
        _arrow(
            approval.point("left"), (16, approval.point("left")[1]), (16, limit.point("left")[1]), limit.point("left")
        ),
        _arrow(concern.point("right"), ask.point("left")),
        _arrow(limit.point("right"), wait.point("left")),
    ]
    labels = [
        _text(430, refused.point("right")[1] - 6, "yes", "small", "start"),
        _text(430, write.point("right")[1] - 6, "yes", "small", "start"),
        _text(430, approval.point("right", 0.3)[1] - 6, "no longer valid", "small", "start"),
        _text(20, concern.point("left")[1], "yes", "small", "start"),
        _text(430, concern.point("right")[1] - 6, "yes", "small", "start"),
        _text(430, limit.point("right")[1] - 6, "no", "small", "start"),
        _text(238, approval.point("bottom")[1] + 20, "none", "small", "start"),
        _text(238, concern.point("bottom")[1] + 20, "none: allow", "small", "start"),
        _text(238, refused.point("bottom")[1] + 20, "no", "small", "start"),
        _text(238, write.point("bottom")[1] + 20, "no", "small", "start"),
        _text(238, limit.point("bottom")[1] + 20, "yes", "small", "start"),
    ]
    drawn = [line for box in (*steps, deny, simulate, ask, wait) for line in box.draw()]
    return _picture(930, 948, "How a call or a message is decided", [*arrows, *drawn, *labels])
