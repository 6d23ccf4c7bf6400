"""Which files of an index a service gives to those who copy it."""

from pathlib import Path

import pytest

from sitegraph.service.files import index_file
from sitegraph.service.problems import HttpProblem

GIVEN = (
    "CURRENT",
    "index.json",
    "generations/12.json",
    "generations/12.json.sig",
    "lance/chunks.lance/_versions/18446744073709551610.manifest",
    "lance/chunks.lance/data/0101-ab.lance",
    "authority/12.arrow",
    "encoder-ab12-tokens/encoder.onnx.data",
    f"raw/ab/ab/{'ab' * 32}.zst",
)
WITHHELD = (
    "ledger.sqlite",
    "vectors.sqlite",
    "outbox/ab/ab/x.zst",
    f"fragments/ab/ab/{'ab' * 32}.zst",
    "lance/../ledger.sqlite",
    "../ledger.sqlite",
    "lance/.hidden",
    "lance//x",
    "HOLD",
    "COPY.json",
    "raw/ab/ab/other",
    "",
)


def put(root: Path, name: str) -> None:
    file = (root / name).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    if name:
        file.write_bytes(b"x")


@pytest.mark.parametrize("name", GIVEN)
def test_files_of_generations_are_given(tmp_path: Path, name: str) -> None:
    put(tmp_path / "index", name)
    assert index_file(tmp_path / "index", name) == tmp_path / "index" / name


@pytest.mark.parametrize("name", WITHHELD)
def test_nothing_else_is_given_though_it_is_there(tmp_path: Path, name: str) -> None:
    put(tmp_path / "index", name)
    with pytest.raises(HttpProblem):
        index_file(tmp_path / "index", name)


def test_a_link_out_of_the_index_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "index" / "authority").mkdir(parents=True)
    (tmp_path / "index" / "authority" / "1.arrow").symlink_to(tmp_path / "secret")
    with pytest.raises(HttpProblem):
        index_file(tmp_path / "index", "authority/1.arrow")
