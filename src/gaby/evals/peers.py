"""Peers: other loops on the same stage, so that ours can be measured against them."""

import importlib.util
from pathlib import Path
from typing import cast

from gaby.evals.drivers import Driver, gabys_loop
from gaby.evals.errors import PeerMissing

KNOWN = {"pydantic-ai": Path("evals/peers/pydantic_ai_loop.py")}


def load_driver(peer: str | None) -> tuple[Driver, str]:
    """Gaby's own loop, or the `drive` of a peer's file, with its name."""
    if peer is None:
        return gabys_loop, "gaby"
    path = KNOWN.get(peer, Path(peer))
    if path.suffix != ".py" or not path.is_file():
        raise PeerMissing(f"There is no peer {peer}. Known are {', '.join(KNOWN)}; others are named by a Python file.")
    spec = importlib.util.spec_from_file_location(f"gaby_peer_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise PeerMissing(f"{path} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise PeerMissing(
            f"{peer} needs {error.name}, which is not installed here. Run it with the environment of the peers: "
            "`make peers`, then `.venv-peers/bin/gaby eval run --peer ...`."
        ) from None
    drive = getattr(module, "drive", None)
    if not callable(drive):
        raise PeerMissing(f"{path} has no function `drive`.")
    return cast("Driver", drive), peer
