"""The parts of an answer as one text."""

from collections.abc import Sequence

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)


def text_of(blocks: Sequence[ContentBlock]) -> str:
    """Pictures, sound and files are named, not shown."""
    if len(blocks) == 1 and isinstance(blocks[0], TextContent):
        return blocks[0].text
    return "\n".join(_text(block) for block in blocks)


def _text(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4} bytes, not shown]"
        case ResourceLink():
            return f"[resource {block.uri}]"
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return resource.text
        case EmbeddedResource(resource=BlobResourceContents() as resource):
            return f"[file {resource.uri}, {len(resource.blob) * 3 // 4} bytes, not shown]"
        case EmbeddedResource():
            return "[resource, not shown]"
