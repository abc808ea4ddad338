"""Settings of the filesystem connector."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from gaby_connectors.sdk.config import ConnectorConfig


def _is_folder(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("give the whole path, beginning with /")
    if not path.is_dir():
        raise ValueError("there is no such folder")
    return path


class FilesystemConfig(ConnectorConfig):
    prefix: ClassVar[str] = "FILESYSTEM_"

    root: Annotated[
        Path, AfterValidator(_is_folder), Field(description="The folder that may be seen. Nothing outside of it is.")
    ]
    writable: Annotated[bool, Field(description="Whether files may be written and deleted: true or false.")] = False
