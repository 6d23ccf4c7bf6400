"""`sitegraph changes`: the feed for people and programs, and what is said when it leads nowhere."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from flows.run.index import Index
from indexes.changes import read_changes
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.ledger.generations import GenerationState
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.errors import ChangesUnavailable, ConfigError
from sitegraph.cli.app import run_app
from tests.fakes.ledger_index import ledger_index
from tests.fakes.ledger_rows import begin

CONTRACT = Path(__file__).parents[5] / "docs" / "reference" / "changes.md"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index of two generations: a passage came, another took its place."""
    with ledger_index(tmp_path / "index") as opened:
        publish(opened, entry_of(FeedKind.CHUNK, FeedChange.ADDED, None, "chunk:1"))
        publish(opened, entry_of(FeedKind.CHUNK, FeedChange.REPLACED, "chunk:1", "chunk:2"))
        yield opened


def entry_of(
    kind: FeedKind, change: FeedChange, old: str | None, new: str | None, uri: str = "u"
) -> FeedEntry:
    return FeedEntry(
        kind=kind, change=change, old_id=old, new_id=new, source="site", uri=uri, reason="because"
    )


def publish(index: Index, *entries: FeedEntry) -> None:
    """Publish a generation with this feed."""
    base = index.current()
    number = begin(index.ledger, base=base)
    index.ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={}, feed=entries)
    index.ledger.generations.mark(number, GenerationState.PUBLISHED)
    manifest = GenerationManifest(
        generation=number,
        base=base,
        as_of="2026",
        source="site",
        run_id="r",
        plan_sha="p",
        sources={"site": {}},
    )
    dump_generation(index.layout, manifest)
    write_current(index.layout.root, number)


def run(index: Index, *arguments: str) -> int:
    return run_app(["changes", "--index", str(index.layout.root), *arguments])


def test_a_program_reads_one_object_a_line_with_the_fields_of_the_contract(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(index, "--since", "0", "--format", "jsonl") == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())

    named = set(re.findall(r"^\| `(\w+)` \|", CONTRACT.read_text("utf-8").split("| change |")[0], re.M))
    assert named == set(first) == {field.name for field in fields(FeedEntry)}
    assert (first["generation"], first["change"], first["new_id"]) == (1, "added", "chunk:1")
    assert (second["generation"], second["old_id"], second["new_id"]) == (2, "chunk:1", "chunk:2")


def test_the_contract_names_every_change() -> None:
    table = CONTRACT.read_text("utf-8").split("| change |")[1]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.M)) == {change.value for change in FeedChange}


def test_a_person_reads_of_the_last_generation_one_line_a_document(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(
        index,
        *(entry_of(FeedKind.DOCUMENT, FeedChange.REPLACED, "page:d", "page:d", uri) for uri in "uv"),
        entry_of(FeedKind.CHUNK, FeedChange.REPLACED, "chunk:2", "chunk:3"),
        *(entry_of(FeedKind.CHUNK, FeedChange.REFRESHED, f"chunk:{n}", f"chunk:{n}") for n in range(4, 9)),
        entry_of(FeedKind.CHUNK, FeedChange.REMOVED, "chunk:9", None, "w"),
        entry_of(FeedKind.CHUNK, FeedChange.ADDED, None, "chunk:10", "w"),
        entry_of(FeedKind.TOOL, FeedChange.REFRESHED, "tool:1", "tool:1", "tools://t"),
    )
    lines = [
        "   3  replaced   u  (because; passages: 1 replaced, 5 refreshed)",
        "   3  replaced   v  (because)",
        "   3  changed    w  (passages: 1 removed, 1 added)",
        "   3  refreshed  tools://t  (tools: 1 refreshed)",
    ]
    assert run(index) == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert run(index, "--since", "1", "--until", "2") == run(index, "--until", "2") == 0
    assert capsys.readouterr().out == "   2  replaced   u  (passages: 1 replaced)\n" * 2
    assert run(index, "--format", "jsonl") == 0
    assert len(capsys.readouterr().out.splitlines()) == 11, "programs read every row"


def test_nothing_new_is_said_to_a_person_and_is_no_line_to_a_program(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(index, "--since", "2") == 0
    assert capsys.readouterr().out == "nothing changed from generation 2 to 2\n"
    assert run(index, "--since", "2", "--format", "jsonl") == 0
    assert capsys.readouterr().out == ""


def test_a_source_that_is_not_there_is_a_warning(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(index, "--since", "0", "--source", "sit", "--format", "jsonl") == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "sitegraph: warning: sit: no such source in this generation; it has: site\n")


def test_an_index_before_its_first_generation_has_no_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ledger_index(tmp_path / "new") as empty:
        for since in ([], ["--since", "0"]):
            assert run(empty, *since, "--format", "jsonl") == 0
            assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--since", "-1"], 2, "'--since'"),
        (["--since", "x"], 2, "'--since'"),
        (["--since", "0", "--format", "json"], 2, "'--format'"),
        (["--since", "9"], 2, "--since: generation 9 is not published; readers see 2"),
        (["--since", "1", "--until", "9"], 2, "--until: generation 9 is not one that readers saw"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    index: Index, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(index, *arguments) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_who_has_what_was_rolled_back_is_told_to_copy_again(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    write_current(index.layout.root, 1)
    index.ledger.generations.roll_back(above=1)

    assert run(index, "--since", "2") == 1
    assert "generation 2: did not lead to generation 1, which readers see; take a whole copy" in (
        capsys.readouterr().err
    )
    with pytest.raises(ChangesUnavailable):
        read_changes(index.layout.root, since=2)
    assert [entry.new_id for entry in read_changes(index.layout.root, since=0).entries] == ["chunk:1"]


def test_what_was_made_before_there_was_a_feed_is_too_long_ago(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    from indexes.stores.ledger.tables import feed

    with index.ledger.engine.begin() as connection:
        connection.execute(feed.delete().where(feed.c.generation == 1))
    assert run(index, "--since", "0") == 1
    assert "generation 0: the feed goes back to generation 1 only" in capsys.readouterr().err
    assert run(index, "--since", "1") == 0


def test_the_feed_of_another_index_is_not_this_ones(index: Index, tmp_path: Path) -> None:
    with ledger_index(tmp_path / "other") as other:
        other.ledger.owner.claim(other.manifest.index_id + "x")
        url = f"sqlite:///{other.layout.ledger}"
        with pytest.raises(ConfigError, match="names the ledger of another index"):
            read_changes(index.layout.root, since=0, ledger_url=url)


def test_a_ledger_that_is_gone_is_said_and_not_made(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    index.ledger.close()
    index.layout.ledger.unlink()

    for command in (["changes", "--since", "0"], ["status"], ["export", "--what", "documents"], ["why", "x"]):
        assert run_app([*command, "--index", str(index.layout.root)]) == 3
        assert "has no ledger" in capsys.readouterr().err
    assert not index.layout.ledger.exists()
