"""What a run would do, told from a source file and a ledger, with no request sent."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.preview import plan_run
from flows.run.leases import set_hold
from flows.run.versions import pipeline_version
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.pending import vector_texts
from indexes.embed.weights import load_model_spec, model_key
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.ledger.ledger import open_ledger
from indexes.stores.raw import FileRawStore
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.errors import ConfigError, GuardRefused
from schemas.fragment import GraphFragment
from schemas.ids import canonical_json, page_id
from schemas.nodes import DocumentKind
from schemas.records import to_record
from schemas.settings import Settings
from tests.fakes.chunk_generations import publish as publish_rows
from tests.fakes.chunk_generations import row
from tests.fakes.graph_samples import make_chunk
from tests.fakes.ledger_rows import begin, freeze, publish, put
from tests.fakes.site_server import Reply, Site, serve

SPEC = load_model_spec()
MODEL = ModelManifest(name=SPEC.name, sha256=SPEC.sha256, dim=SPEC.dim, max_tokens=SPEC.max_tokens)
LATER, LONG_AGO = "2999-01-01T00:00:00+00:00", "2000-01-01T00:00:00+00:00"


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


def know(
    settings: Settings,
    *documents: KnownDocument,
    live: Iterable[LiveDocument] = (),
    model: ModelManifest = MODEL,
) -> IndexLayout:
    """Leave an index whose ledger knows the documents, and whose generation 1 holds the *live* ones."""
    layout = IndexLayout(Path(settings.index))
    layout.root.mkdir()
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="lance", model=model)))
    ledger = open_ledger(f"sqlite:///{layout.ledger}")
    ledger.documents.save(documents)
    held = [put(document) for document in live]
    number = publish(ledger, *held, base=0, source="notes") if held else 0
    ledger.close()
    if number:
        counts = {"notes": {"chunks": {"markdown": 12}}, "other": {"chunks": {"html": 99}}}
        told = {"as_of": LONG_AGO, "source": "notes", "run_id": "r", "plan_sha": "p"}
        dump_generation(layout, GenerationManifest(generation=1, base=0, sources=counts, **told))  # type: ignore[arg-type]
    write_current(layout.root, number)
    return layout


def note(name: str, **fields: object) -> KnownDocument:
    """A ledger row of one note."""
    uri = f"files://notes/{name}.md"
    return KnownDocument(**{"source": "notes", "uri": uri, "doc": page_id(uri), **fields})  # type: ignore[arg-type]


def parsed(name: str, version: str = "v", **fields: object) -> KnownDocument:
    """A note that was read and parsed."""
    shas = {"raw_sha": "r", "parsed_sha": "r", "fragment_sha": f"f{name}", "content_hash": f"c{name}"}
    return note(name, state=DocumentState.FETCHED, pipeline_version=version, **shas, **fields)


def live(name: str) -> LiveDocument:
    """The same note as readers see it."""
    row = parsed(name)
    assert row.doc is not None
    return LiveDocument(
        doc=row.doc, source="notes", uri=row.uri, fragment_sha=f"f{name}", content_hash=f"c{name}"
    )


def rows(record: dict[str, Any], action: str) -> list[tuple[str, str]]:
    """Note and reason of one action."""
    return [(row["url"][-4:-3], row["reason"]) for row in record["documents"] if row["action"] == action]


def test_before_the_first_run_every_file_is_new_and_no_index_is_made(
    source: Path, settings: Settings
) -> None:
    record = plan_run(source, settings, due=False)
    assert record == {
        "source": "notes",
        "generation": 0,
        "known": 0,
        "counts": {"fetch": 2},
        "reasons": {"fetch": {"new": 2}},
        "embed": {"texts": 0, "passages_up_to": 0},
        "model": None,
        "guard": None,
        "held_since": None,
        "documents": [
            {"url": f"files://notes/{name}.md", "action": "fetch", "reason": "new", "detail": ""}
            for name in "ab"
        ],
        "left_out": [],
    }
    assert not Path(settings.index).exists()


def test_a_deleted_file_goes_and_an_older_parse_is_done_again(source: Path, settings: Settings) -> None:
    know(settings, parsed("a", "older"), parsed("g"), live=[live("a"), live("g")])
    record = plan_run(source, settings, due=False)
    assert record["counts"] == {"fetch": 2, "parse": 1, "remove": 1}
    assert record["reasons"]["fetch"] == {"known": 1, "new": 1}
    assert rows(record, "parse") == [("a", "parsed by another version")]
    assert rows(record, "remove") == [("g", "file deleted")]
    assert record["embed"] == {"texts": 0, "passages_up_to": 12}


def test_the_guard_is_told_in_advance(source: Path, settings: Settings) -> None:
    know(settings, parsed("a"), parsed("b"), parsed("g"), live=[live("a"), live("b"), live("g")])
    assert plan_run(source, settings, due=False)["guard"] == "1 of 3 documents would be removed"
    (source.parent / "notes" / "g.md").write_text("# back\n")
    assert plan_run(source, settings, due=False)["guard"] is None


def test_a_narrower_scope_says_what_would_leave(source: Path, settings: Settings) -> None:
    know(settings, parsed("a"), parsed("b"), live=[live("a"), live("b")])
    source.write_text(source.read_text() + "scope: {exclude: ['b.md']}\n")
    record = plan_run(source, settings, due=False)
    assert rows(record, "remove") == [("b", "excluded by scope.exclude")]
    assert record["guard"] == "1 of 2 documents would be removed"


def test_only_what_is_due_is_planned_when_asked(source: Path, settings: Settings) -> None:
    version = {"pipeline_version": "v", "state": DocumentState.FETCHED}
    know(settings, note("a", next_due=LATER, **version), note("b", next_due=LONG_AGO, **version))
    assert plan_run(source, settings, due=False)["counts"]["fetch"] == 2
    due = [row for row in plan_run(source, settings, due=True)["documents"] if row["action"] == "fetch"]
    assert [(row["url"], row["reason"], row["detail"]) for row in due] == [
        ("files://notes/b.md", "due", f"since {LONG_AGO}")
    ]


def test_what_was_rolled_back_is_published_again_and_its_missing_vectors_are_counted(
    source: Path, settings: Settings
) -> None:
    """Every text of the note has its vectors but the second."""
    from runtime.source_file import load_source

    chunks = (make_chunk("one"), make_chunk("two", ordinal=1))
    row = parsed("a", pipeline_version(SPEC, load_source(source)))
    fragment = GraphFragment(
        uri=row.uri,
        doc=row.doc or "",
        kind=DocumentKind.MARKDOWN,
        content_hash="c",
        nodes=(),
        edges=(),
        chunks=chunks,
    )
    store = FileRawStore(IndexLayout(Path(settings.index)).fragments)
    layout = know(settings, live=[live("b")])
    sha = store.put(canonical_json(to_record(fragment)).encode())
    ledger = open_ledger(f"sqlite:///{layout.ledger}")
    ledger.documents.save([KnownDocument(**{**to_record(row), "state": row.state, "fragment_sha": sha})])
    ledger.close()
    missing = {*vector_texts(chunks[0]), *vector_texts(chunks[1])}

    record = plan_run(source, settings, due=False)
    assert rows(record, "publish") == [("a", "added, not published yet")]
    assert record["embed"] == {"texts": len(missing), "passages_up_to": 0}
    cache = SqliteVectorCache(layout.vectors, model_key=model_key(SPEC))
    known = vector_texts(chunks[0])
    import numpy as np

    cache.put(known, np.ones((len(known), 2), np.float32))
    cache.close()
    assert plan_run(source, settings, due=False)["embed"]["texts"] == len(missing - {*known}) == 1


def test_nothing_waits_where_readers_see_what_was_parsed(source: Path, settings: Settings) -> None:
    from runtime.source_file import load_source

    version = pipeline_version(SPEC, load_source(source))
    know(settings, parsed("a", version), parsed("b", version), live=[live("a"), live("b")])
    assert plan_run(source, settings, due=False)["reasons"] == {"fetch": {"known": 2}}


def test_what_an_aborted_generation_held_is_not_live(source: Path, settings: Settings) -> None:
    layout = know(settings, parsed("a"), parsed("b"), live=[live("a")])
    ledger = open_ledger(f"sqlite:///{layout.ledger}")
    number = begin(ledger, base=1)
    freeze(ledger, number, [put(live("b"))])
    ledger.generations.abort(number)
    ledger.close()
    # Both were parsed by an older version: that alone says why they are looked at.
    assert plan_run(source, settings, due=False)["counts"] == {"fetch": 2, "parse": 2}


def test_a_hold_is_told(source: Path, settings: Settings) -> None:
    layout = know(settings)
    set_hold(layout, now=LONG_AGO)
    assert plan_run(source, settings, due=False)["held_since"] == LONG_AGO


def test_another_model_is_told_with_what_it_costs(source: Path, settings: Settings) -> None:
    other = ModelManifest(name="other", sha256="0" * 64, dim=8, max_tokens=16)
    layout = know(settings, live=[live("a")], model=other)
    rows = [row("one"), row("two", heading_path=()), row("two again")]
    publish_rows(LanceChunkStore.create(layout.lance, dim=8), 1, rows)
    cache = SqliteVectorCache(layout.vectors, model_key=model_key(SPEC))
    cache.put(["two"], np.ones((1, 384), np.float32))
    cache.close()

    record = plan_run(source, replace(settings, model=SPEC.name), due=False)

    # Texts of headings and passages, the one of heading `Guide` once, the one that has its vector not at all.
    assert record["model"] == {"from": "other", "to": SPEC.name, "passages": 3, "texts": 3}


def test_another_dtype_is_a_change_of_model_and_no_vector_of_the_other_counts(
    source: Path, settings: Settings
) -> None:
    layout = know(settings, live=[live("a")], model=replace(MODEL, dim=8))
    publish_rows(LanceChunkStore.create(layout.lance, dim=8), 1, [row("one"), row("two", heading_path=())])
    cache = SqliteVectorCache(layout.vectors, model_key=model_key(SPEC))
    cache.put(["two"], np.ones((1, 384), np.float32))
    cache.close()

    record = plan_run(source, replace(settings, dtype="fp32"), due=False)

    name = SPEC.name
    assert record["model"] == {"from": f"{name} (auto)", "to": f"{name} (fp32)", "passages": 2, "texts": 3}


def test_without_a_setting_the_model_stays_what_it_is(source: Path, settings: Settings) -> None:
    know(settings, live=[live("a")])

    assert plan_run(source, settings, due=False)["model"] is None


def test_of_a_web_source_the_seeds_are_planned_and_nothing_is_asked(
    tmp_path: Path, settings: Settings
) -> None:
    with serve(Site({"/a": Reply(b"<p>x</p>")})) as site:
        file = tmp_path / "site.yaml"
        seed = site.url("/x/../a#b").replace("http", "HTTP", 1)
        file.write_text(f"name: site\nkind: web\nseeds: ['{seed}']\nallow_private: ['{site.address}']\n")
        know(settings, KnownDocument(source="site", uri=site.url("/b"), state=DocumentState.FETCHED))
        (fetch_a, fetch_b) = plan_run(file, settings, due=False)["documents"]
        assert fetch_a == {"url": site.url("/a"), "action": "fetch", "reason": "new", "detail": ""}
        assert (fetch_b["url"], fetch_b["reason"]) == (site.url("/b"), "known")
        assert site.log == []
        assert site.open_connections == site.most_connections == 0


def test_a_missing_root_is_refused_before_anything_is_said_to_be_deleted(
    source: Path, settings: Settings
) -> None:
    know(settings, note("a", state=DocumentState.FETCHED))
    (source.parent / "notes").rename(source.parent / "elsewhere")
    with pytest.raises(GuardRefused, match="root folder does not exist"):
        plan_run(source, settings, due=False)


def test_a_wrong_source_file_is_told_first(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml: cannot be read"):
        plan_run(tmp_path / "missing.yaml", settings, due=False)


def test_files_of_tools_that_differ_from_the_index_are_published(source: Path, settings: Settings) -> None:
    (source.parent / "tools.yaml").write_text("tools: [{name: till}]\n")
    source.write_text(source.read_text() + "tools: [tools.yaml]\n")
    first = plan_run(source, settings, due=False)
    told = {row["url"]: (row["action"], row["reason"]) for row in first["documents"]}
    assert told["tools://notes/tools.yaml"] == ("publish", "added, not published yet")

    gone = LiveDocument(
        doc="tools:gone", source="notes", uri="tools://notes/gone.yaml", fragment_sha="f", content_hash="c"
    )
    know(settings, live=[gone])
    told = {row["url"]: row["action"] for row in plan_run(source, settings, due=False)["documents"]}
    assert told["tools://notes/gone.yaml"] == "remove"
    assert told["tools://notes/tools.yaml"] == "publish"


def test_a_file_of_tools_that_is_wrong_is_refused_as_a_run_would(source: Path, settings: Settings) -> None:
    source.write_text(source.read_text() + "tools: [tools.yaml]\n")
    with pytest.raises(ConfigError, match=r"tools\.0: tools\.yaml: it cannot be read"):
        plan_run(source, settings, due=False)
