"""The embedding model that comes with Gaby, as the offline mind uses it."""

import pytest

from gaby.llm.embeddings.embed import Embed
from gaby.llm.embeddings.local_embed import LocalEmbed


@pytest.fixture(scope="session")
def embed() -> Embed:
    return LocalEmbed()
