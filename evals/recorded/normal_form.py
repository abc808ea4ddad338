"""The form of a request in which two plays of the same investigation are equal: random marks become numbers."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

_RANDOM = re.compile(
    r"(?<=outside-)[0-9a-f]{16}|(?<=company-)[0-9a-f]{16}"  # Fences.
    r"|(?<=-)[a-z0-9]{6}(?=\])"  # The tag of a placeholder: [name:1-x7k2pq].
)
_KEPT = ("messages", "tools", "response_format", "tool_choice")


class NormalForm:
    """Of one request, with what its random marks were called, so that answers can be carried from play to play."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._names: dict[str, str] = {}
        kept = {name: request[name] for name in _KEPT if name in request}
        text = json.dumps(kept, sort_keys=True, ensure_ascii=False)
        self.text = _RANDOM.sub(lambda match: self._name(match[0]), text)
        self.key = hashlib.sha256(self.text.encode()).hexdigest()[:32]

    def _name(self, mark: str) -> str:
        return self._names.setdefault(mark, f"#{len(self._names) + 1}#")

    def to_normal(self, answer: str) -> str:
        for mark, name in self._names.items():
            answer = answer.replace(mark, name)
        return answer

    def from_normal(self, answer: str) -> str:
        names = {name: mark for mark, name in self._names.items()}
        return re.sub(r"#\d+#", lambda match: names.get(match[0], match[0]), answer)
