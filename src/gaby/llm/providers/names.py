"""Names and ids in the alphabet that all vendors accept. The same name always becomes the same, so caches stay warm."""

import re
from collections.abc import Mapping
from hashlib import sha256

from gaby.llm.messages import ModelRequest

_NAME = re.compile(r"[A-Za-z0-9-][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_OTHERS = re.compile(r"[^A-Za-z0-9]+")


def vendor_name(name: str) -> str:
    """`directory.find_user` is `directory__find_user` to a vendor. No two names become one: plain names have no two
    underscores in a row, dotted ones read back as they were, and all others begin with an underscore and a digest."""
    if _NAME.fullmatch(name) and "__" not in name:
        return name
    dotted = name.replace(".", "__")
    if _NAME.fullmatch(dotted) and dotted.replace("__", ".") == name:
        return dotted
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"_{digest}_{_OTHERS.sub('_', name)[:40].strip('_')}"


def vendor_id(use_id: str) -> str:
    """The id of a tool call, which another vendor may have given."""
    return (
        use_id if _ID.fullmatch(use_id) else "call_" + sha256(use_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    )


def our_names(request: ModelRequest) -> Mapping[str, str]:
    """What the tools that were offered are called here, by what the vendor calls them."""
    return {vendor_name(tool.name): tool.name for tool in request.tools}
