"""What of a manifest becomes files of a copy, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest

from indexes.copies.fetching import check_size, check_successor, encoder_json, wanted_files
from indexes.layout import IndexManifest, ModelManifest, VectorSpace
from indexes.publish.generation import EMPTY, GenerationManifest
from schemas.errors import ConfigError, DamageFound, GuardRefused

SHA = "ab" * 32
MODEL = ModelManifest(name="m", sha256=SHA, dim=4, max_tokens=8)
INDEX = IndexManifest(index_id="one", graph="lance", model=MODEL)
FILES = {"lance/chunks.lance/data/0a.lance": f"10:{SHA}", "authority/1.arrow": f"3:{SHA}"}


def manifest(**fields: Any) -> GenerationManifest:
    """A generation with files."""
    return replace(EMPTY, generation=1, files=FILES, **fields)


def wanted(generation: GenerationManifest, *, with_raw: bool = True) -> list[str]:
    return [file.path for file in wanted_files(generation, INDEX, with_raw=with_raw, subject="s")]


def test_a_copy_has_tables_encoder_and_pdfs_smallest_first() -> None:
    found = manifest(encoder={"encoder-ab/encoder.json": f"5:{SHA}"}, pdfs={"doc": SHA})
    raw = f"raw/ab/ab/{SHA}.zst"
    rest = ["authority/1.arrow", "encoder-ab/encoder.json", "lance/chunks.lance/data/0a.lance"]
    assert wanted(found) == [raw, *rest]
    assert wanted(found, with_raw=False) == rest


@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "/etc/passwd",
        "lance/../../outside",
        "lance//x",
        "lance/.hidden",
        "lance/a\\..\\b",
        "lance/a\x00b",
        "lance/a\n",
        "ledger.sqlite",
        "CURRENT",
        "COPY.json",
        "lance",
        "encoder/../x",
        "",
    ],
)
def test_a_path_that_no_index_has_is_refused(path: str) -> None:
    with pytest.raises(DamageFound, match="names a file that no index has"):
        wanted(replace(EMPTY, files={path: f"1:{SHA}"}))
    with pytest.raises(DamageFound):
        wanted(manifest(encoder={path: f"1:{SHA}"}))


@pytest.mark.parametrize(
    "stamp", ["", "1", f"-1:{SHA}", f"1:{SHA[:-1]}", f"{'9' * 16}:{SHA}", f"1e3:{SHA}", 5]
)
def test_a_size_or_hash_that_is_none_is_refused(stamp: Any) -> None:
    with pytest.raises(DamageFound):
        wanted(replace(EMPTY, files={"lance/x": stamp}))


@pytest.mark.parametrize("sha256", ["../../x", SHA[:-1], SHA.upper(), 7])
def test_a_hash_of_a_pdf_that_is_none_is_refused(sha256: Any) -> None:
    with pytest.raises(DamageFound):
        wanted(manifest(pdfs={"doc": sha256}))


def test_an_encoder_in_a_folder_elsewhere_is_refused() -> None:
    with pytest.raises(DamageFound):
        encoder_json(manifest(space=VectorSpace(model=MODEL, encoder="../x")), INDEX, subject="s")


def test_a_generation_without_hashes_cannot_be_copied() -> None:
    with pytest.raises(ConfigError, match="wrote no hashes"):
        wanted(EMPTY)


def test_more_than_was_agreed_to_is_refused() -> None:
    files = wanted_files(manifest(), INDEX, with_raw=True, subject="s")
    assert check_size(files, most=13, setting="--max-mb", subject="s") == 13
    with pytest.raises(ConfigError, match="--max-mb"):
        check_size(files, most=12, setting="--max-mb", subject="s")


@pytest.mark.parametrize(
    ("held", "may_go_back", "refused"),
    [
        (None, False, None),
        (("one", 1), False, None),
        (("one", 2), True, None),
        (("one", 2), False, GuardRefused),
        (("another", 1), True, ConfigError),
    ],
)
def test_a_copy_goes_on_in_its_own_index_and_back_only_where_that_is_accepted(
    held: tuple[str, int] | None, may_go_back: bool, refused: type[Exception] | None
) -> None:
    def check() -> None:
        check_successor(manifest(), INDEX, held=held, may_go_back=may_go_back, subject="s")

    if refused is None:
        check()
    else:
        with pytest.raises(refused):
            check()
