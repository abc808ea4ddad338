"""`python -m gaby_connectors.filesystem`."""

from gaby_connectors.filesystem.config import FilesystemConfig
from gaby_connectors.filesystem.tools import build
from gaby_connectors.sdk.serve import run

run(FilesystemConfig, build)
