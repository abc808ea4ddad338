"""Which tools a model is shown: all while they are few, otherwise those that fit the ticket; the rest can be found."""

from collections.abc import Sequence

from gaby.agent.memory import TicketView
from gaby.llm.embeddings.embed import Embed
from gaby.mind import ToolCard, choose, extract
from gaby.mind.tool_names import short_name
from gaby.skills.plan import ToolOption

MOST_SHOWN_TOOLS = 20
_CHOSEN = 12
_FOUND = 6
_READ = 4000


def offered_tools(
    tools: Sequence[ToolOption], ticket: TicketView, pages: Sequence[str], embed: Embed
) -> tuple[str, ...]:
    """Those that the pages name come first, then those that fit the ticket by their words and meaning."""
    text = "\n".join(pages)
    named = [tool.name for tool in tools if short_name(tool.name) in text]
    need = "\n\n".join((ticket.title, ticket.body, *ticket.messages))[:_READ]
    chosen = [each.name for each in choose(need, _cards(tools), extract(need), embed, _CHOSEN)]
    return tuple(dict.fromkeys([*named[:MOST_SHOWN_TOOLS], *chosen]))


def matching_tools(tools: Sequence[ToolOption], need: str, embed: Embed) -> tuple[str, ...]:
    return tuple(each.name for each in choose(need, _cards(tools), [], embed, _FOUND))


def _cards(tools: Sequence[ToolOption]) -> list[ToolCard]:
    return [ToolCard(each.name, each.description, each.parameters, each.access) for each in tools]
