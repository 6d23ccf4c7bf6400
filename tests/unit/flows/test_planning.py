"""What a run would do, told from a source file and a ledger, with no request sent."""

from pathlib import Path

import pytest

from flows.planning import plan_run
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, ModelManifest, dump_manifest
from indexes.publish.current import write_current
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import ConfigError, GuardRefused
from schemas.settings import Settings

MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source file beside a folder of two notes."""
    (tmp_path / "notes").mkdir()
    for name in ("a", "b"):
        (tmp_path / "notes" / f"{name}.md").write_text(f"# {name}\n")
    file = tmp_path / "notes.yaml"
    file.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return file


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=str(tmp_path / "index"))


def know(settings: Settings, *documents: KnownDocument) -> None:
    """Leave an index whose ledger knows the documents."""
    layout = IndexLayout(Path(settings.index))
    layout.root.mkdir()
    write_current(layout.root, 0)
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="lance", model=MODEL)))
    ledger = open_ledger(f"sqlite:///{layout.ledger}")
    ledger.documents.save(documents)
    ledger.close()


def note(name: str, **fields: object) -> KnownDocument:
    """A ledger row of one note."""
    return KnownDocument(**{"source": "notes", "uri": f"files://notes/{name}.md", **fields})  # type: ignore[arg-type]


def test_before_the_first_run_every_file_is_new_and_no_index_is_made(
    source: Path, settings: Settings
) -> None:
    record = plan_run(source, settings, due=False)
    assert record == {
        "source": "notes",
        "counts": {"fetch": 2},
        "documents": [
            {"url": f"files://notes/{name}.md", "action": "fetch", "reason": "new"} for name in "ab"
        ],
    }
    assert not Path(settings.index).exists()


def test_a_deleted_file_goes_and_an_older_parse_is_done_again(source: Path, settings: Settings) -> None:
    know(
        settings,
        note("a", state=DocumentState.FETCHED, pipeline_version="older"),
        note("gone", state=DocumentState.FETCHED),
    )
    record = plan_run(source, settings, due=False)
    assert record["counts"] == {"fetch": 2, "parse": 1, "remove": 1}
    assert record["documents"][-1]["reason"] == "file deleted"


def test_only_what_is_due_is_planned_when_asked(source: Path, settings: Settings) -> None:
    know(
        settings,
        note("a", state=DocumentState.FETCHED, next_due="2999-01-01T00:00:00+00:00"),
        note("b", state=DocumentState.FETCHED, next_due="2000-01-01T00:00:00+00:00"),
    )
    assert plan_run(source, settings, due=False)["counts"] == {"fetch": 2}
    due = plan_run(source, settings, due=True)["documents"]
    assert [(row["url"], row["reason"]) for row in due] == [
        ("files://notes/b.md", "due since 2000-01-01T00:00:00+00:00")
    ]


def test_of_a_web_source_the_seeds_are_planned(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("name: site\nkind: web\nseeds: ['HTTPS://Docs.Example.org/a#b']\n")
    (row,) = plan_run(file, settings, due=False)["documents"]
    assert row == {"url": "https://docs.example.org/a", "action": "fetch", "reason": "new"}


def test_a_missing_root_is_refused_before_anything_is_said_to_be_deleted(
    source: Path, settings: Settings
) -> None:
    know(settings, note("a", state=DocumentState.FETCHED))
    (source.parent / "notes").rename(source.parent / "elsewhere")
    with pytest.raises(GuardRefused, match="root folder is not there"):
        plan_run(source, settings, due=False)


def test_a_wrong_source_file_is_told_first(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml: cannot be read"):
        plan_run(tmp_path / "missing.yaml", settings, due=False)
