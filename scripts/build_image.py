"""Builds the container image without pulling a base image: debootstrap makes the root file system, buildah the rest.

Needs root, debootstrap and buildah (`python -m scripts.real_servers --images`). Packages come from the apt mirror and
the package index that this machine is configured for; the build itself downloads nothing.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "build/image"
RELEASE, PYTHON = "bookworm", "3.11.2"
PACKAGES = "python3,python3-venv,git,ca-certificates"
BASE = "localhost/gaby-base"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default="localhost/gaby")
    tag = parser.parse_args().tag
    CACHE.mkdir(parents=True, exist_ok=True)
    if not _run("buildah", "images", "--quiet", BASE, check=False):
        _build_base()
    wheels = _download_wheels()
    arguments = [
        "--build-arg",
        f"BASE={BASE}",
        "--build-arg",
        "PIP_NO_INDEX=1",
        "--build-arg",
        "PIP_FIND_LINKS=/wheels",
    ]
    # Without a runtime such as runc; the Containerfile asks for nothing that needs one.
    isolation = ["--isolation", "chroot", "--volume", f"{wheels}:/wheels:ro"]
    file = ["--file", str(ROOT / "Containerfile")]
    _run(
        "buildah",
        "build",
        "--pull-never",
        "--layers",
        "--format",
        "docker",
        *arguments,
        *isolation,
        *file,
        "--tag",
        tag,
        str(ROOT),
    )
    print(tag)
    return 0


def _build_base() -> None:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        mirror = _run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").split()[0]
        _run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, folder, mirror)
        _run("chroot", folder, "apt-get", "clean")
        container = _run("buildah", "from", "scratch").strip()
        _run("buildah", "copy", "--quiet", container, folder, "/")
        _run("buildah", "commit", "--quiet", "--rm", container, BASE)


def _download_wheels() -> Path:
    """What the image installs, by hash, for Debian's own Python."""
    folder = CACHE / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    target = ["--only-binary=:all:", "--python-version=3.11", "--require-hashes", "--dest", str(folder)]
    lock = CACHE / "gaby.lock"
    lock.write_text(_without_markers((ROOT / "requirements/gaby.lock").read_text()))
    _run(*command, *target, "--requirement", str(lock))
    # As `gaby model download` asks for them.
    models = ["--platform=manylinux2014_x86_64", "--requirement", str(ROOT / "src/gaby/llm/embeddings/models.lock")]
    _run(*command, *target, *models)
    return folder


def _without_markers(lock: str) -> str:
    """What Debian's Python needs: pip judges markers by the Python that runs it."""
    kept: list[str] = []
    for requirement in re.split(r"\n(?=\w)", lock):
        first, _, rest = requirement.partition("\n")
        name, _, marker = first.removesuffix("\\").partition(";")
        if not marker or Marker(marker).evaluate({"python_full_version": PYTHON}):
            kept.append(f"{name.strip()} \\\n{rest}")
    return "\n".join(kept)


def _run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {done.returncode}.")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
