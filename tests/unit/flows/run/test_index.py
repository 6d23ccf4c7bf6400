"""An index, the ledger that its settings name, and where it keeps its bytes."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest

from flows.run.index import open_index
from flows.run.leases import TTL
from flows.run.opening import told_clock
from flows.run.versions import pipeline_version
from indexes.embed.weights import ModelSpec
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.publish.current import write_current
from indexes.publish.generation import dump_generation, load_generation
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError, StoreUnavailable
from schemas.ids import sha256_hex
from schemas.settings import Settings
from schemas.source import Source

MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The ledger of index `a`."""
    url = f"sqlite:///{tmp_path / 'ledger of a.sqlite'}"
    with closing(open_ledger(url)) as ledger:
        ledger.owner.claim("a")
    return url


def make_index(folder: Path, index_id: str) -> Path:
    folder.mkdir()
    manifest = IndexManifest(index_id=index_id, graph="lance", model=MODEL)
    IndexLayout(folder).manifest.write_text(dump_manifest(manifest))
    return folder


def test_no_index_is_made_for_the_ledger_of_another(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_LEDGER_URL: names the ledger of another index"):
        open_index(Settings(index=str(tmp_path / "new"), ledger_url=url), index_id="b")

    assert not (tmp_path / "new").exists()


def test_an_index_that_is_there_is_not_opened_on_the_ledger_of_another(tmp_path: Path, url: str) -> None:
    opened = open_index(Settings(index=str(make_index(tmp_path / "b", "b")), ledger_url=url))

    with pytest.raises(ConfigError, match="give each index one of its own"):
        _ = opened.ledger


def test_an_index_is_opened_on_its_own(tmp_path: Path, url: str) -> None:
    with closing(open_index(Settings(index=str(make_index(tmp_path / "a", "a")), ledger_url=url))) as opened:
        assert opened.ledger.owner.index_id() == "a"


def test_documents_to_be_recognised_are_read_again_once_tesseract_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(ocr: tuple[str, ...], engine: str) -> str:
        monkeypatch.setattr("flows.run.versions.engine", lambda: engine)
        return pipeline_version(model, Source(name="docs", kind="files", ocr=ocr))

    model = ModelSpec(name="tiny", path=Path("tiny"), sha256="0" * 64, dim=8, max_tokens=16)
    assert version((), "") == version((), "tesseract 5.3.0")
    assert len({version((), ""), version(("eng",), ""), version(("eng",), "tesseract 5.3.0")}) == 3


def test_documents_are_parsed_again_once_their_source_says_a_language() -> None:
    model = ModelSpec(name="tiny", path=Path("tiny"), sha256="0" * 64, dim=8, max_tokens=16)
    silent, german = (Source(name="docs", kind="files", language=one) for one in (None, "de"))

    assert pipeline_version(model, silent) != pipeline_version(model, german)


def test_an_index_in_a_folder_is_not_opened_with_object_storage(tmp_path: Path) -> None:
    settings = Settings(index=str(make_index(tmp_path / "a", "a")), raw_url="s3://bucket")

    with pytest.raises(ConfigError, match="keeps what it fetched and parsed in its folder"):
        open_index(settings)


def test_a_url_that_is_no_bucket_makes_no_index(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_RAW_URL"):
        open_index(Settings(index=str(tmp_path / "a"), raw_url="/srv/bytes"), index_id="a")

    assert not (tmp_path / "a").exists()


def test_a_bucket_that_is_not_there_makes_no_index(tmp_path: Path, bucket_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="bucket does not exist"):
        open_index(Settings(index=str(tmp_path / "a"), raw_url=f"{bucket_url}-gone"), index_id="a")

    assert not (tmp_path / "a").exists()


def test_indexes_in_one_bucket_keep_apart_and_know_their_place_without_the_setting(
    tmp_path: Path, bucket_url: str
) -> None:
    first, second = (str(tmp_path / name) for name in "ab")
    for folder, index_id in ((first, "a"), (second, "b")):
        opened = open_index(Settings(index=folder, raw_url=bucket_url), index_id=index_id)
        opened.raw.put(b"fetched")
        opened.fragments.put(b"parsed")
    open_index(Settings(index=second, raw_url=bucket_url)).raw.drop_all_but([])

    opened = open_index(Settings(index=first))

    assert list(opened.raw.hashes()) == [sha256_hex(b"fetched")]
    assert list(opened.fragments.hashes()) == [sha256_hex(b"parsed")]
    assert [path for path in (opened.layout.raw, opened.layout.fragments) if path.exists()] == []


def test_an_index_whose_bytes_were_copied_to_a_bucket_goes_on_there(tmp_path: Path, bucket_url: str) -> None:
    """As docs/stores.md tells it."""
    folder = make_index(tmp_path / "a", "a")
    opened = open_index(Settings(index=str(folder)))
    fetched, parsed = opened.raw.put(b"fetched"), opened.fragments.put(b"parsed")
    for path in (opened.layout.raw, opened.layout.fragments):
        fsspec.filesystem("s3", skip_instance_cache=True).put(
            str(path), f"{bucket_url}/a/{path.name}", recursive=True
        )
        shutil.rmtree(path)
    manifest = json.loads(opened.layout.manifest.read_text())
    opened.layout.manifest.write_text(json.dumps({**manifest, "raw": bucket_url}))

    moved = open_index(Settings(index=str(folder)))

    assert (moved.raw.get(fetched), moved.fragments.get(parsed)) == (b"fetched", b"parsed")
    assert list(moved.raw.hashes()) == [fetched]


def test_an_index_in_one_bucket_is_not_opened_with_another(tmp_path: Path, bucket_url: str) -> None:
    folder = str(tmp_path / "a")
    open_index(Settings(index=folder, raw_url=f"{bucket_url}/one"), index_id="a")

    with pytest.raises(ConfigError, match=f"keeps what it fetched and parsed in {bucket_url}/one; unset"):
        open_index(Settings(index=folder, raw_url=f"{bucket_url}/other"))


@pytest.mark.parametrize("hours", [-1, 5, 25, 24 * 3, 24 * 365])
@pytest.mark.parametrize("kind", ["run", "lease", "renewed", "generation"])
def test_times_go_on_from_the_latest_of_the_index_unless_that_was_wrong_itself(
    tmp_path: Path, hours: int, kind: str
) -> None:
    """Of a clock that was a year ahead once, and of one that is a day behind now."""
    now, ahead = datetime.now(UTC), timedelta(hours=hours)
    latest, longer, early = (f"{now + at:%FT%T}+00:00" for at in (ahead, ahead + TTL, timedelta(days=-9)))
    settings = Settings(index=str(make_index(tmp_path / "a", "a")))
    write_current(tmp_path / "a", 0)
    with closing(open_index(settings)) as index:
        index.ledger.runs.start("r", source="notes", now=latest if kind == "run" else early)
        times = {"lease": (latest, longer), "renewed": (early, longer)}.get(kind, (early, early))
        index.ledger.leases.acquire("source:notes", holder="other:1:2", now=times[0], expires_at=times[1])
        if kind == "generation":
            manifest = replace(load_generation(index.layout, 0), generation=1, as_of=latest)
            dump_generation(index.layout, manifest)
            write_current(tmp_path / "a", 1)

    with closing(open_index(settings)) as index:
        shown, told = index.clock.now() - now, [problem.reason for problem in told_clock(index)]

    goes_on = hours in (5, 25)
    assert abs(shown - (ahead if goes_on else timedelta())) < timedelta(seconds=30)
    assert [one[:9] for one in told if "go on from there" in one] == [f"{hours}.0 hours"[:9]] * goes_on
    assert any("times go by this clock" in one for one in told) == (hours > 25 and kind == "generation")
