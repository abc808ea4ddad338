"""The wheel: it holds the product and nothing that only measures it, and works without the source."""

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import httpx2
import pytest

from tests.support.server import serving

pytestmark = [pytest.mark.slow, pytest.mark.promise("O2")]

ROOT = Path(__file__).parents[2]
PIP = ("--quiet", "--disable-pip-version-check", "--no-deps")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *PIP,
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    [built] = folder.glob("gaby-*.whl")
    return built


def test_the_wheel_holds_the_product_and_nothing_that_only_measures_it(wheel: Path) -> None:
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == source
    assert {name.partition("/")[0] for name in names} == {"gaby", "gaby_connectors"}
    assert not [name for name in names if "labelled" in name or name.endswith("scoring.py")]
    assert "gaby/llm/embeddings/models.lock" in names


@pytest.mark.exhaustive
def test_installed_from_the_wheel_the_demo_brings_its_models_and_gets_ready(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    pip = [str(environment / "bin/pip"), "install", *PIP]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements/gaby.lock")], check=True)
    subprocess.run([*pip, str(wheel)], check=True)
    gaby = str(environment / "bin/gaby")
    told = subprocess.run([gaby, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("gaby ")
    command = [gaby, "serve", "--demo", "--port", "0"]
    with serving(tmp_path / "home", command=command, patience=600) as server:
        assert httpx2.get(f"{server.url}/readyz").status_code == 200
        assert (environment / "share/gaby/models/minilm/model.onnx").exists()
        assert server.stop() == 0
