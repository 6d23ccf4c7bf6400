"""A first run over a small site: report, stores and export agree, and what is cited is there."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.layout import IndexLayout
from indexes.wiring import open_authority_store
from tests.fakes.handbook import TOPICS, Handbook, serve_handbook, write_source
from tests.fakes.sitegraph_runs import Rows, Sitegraph

pytestmark = pytest.mark.server

CHUNK_FIELDS = (
    "id kind source doc doc_id doc_type domain status version url file_path fragment text_fragment "
    "section section_id region_id file_id page_no bbox page_size parent_ids heading_path breadcrumbs "
    "offsets ordinal text codes anchor_texts captions code_languages ocr_conf lang template_type "
    "page_kind tool_names token_count content_hash structure_confidence round_trip stale last_modified "
    "fetched_at changed_at"
)
"""By spaces."""


@pytest.fixture(scope="module")
def site() -> Iterator[Handbook]:
    with serve_handbook() as served:
        yield served


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first") / "index"


@pytest.fixture(scope="module")
def report(sitegraph: Sitegraph, site: Handbook, index: Path) -> dict[str, Any]:
    source = write_source(index.parent, site, more="metadata: {doc_type: manual, version: '7'}\n")
    return sitegraph.run(source, index)


@pytest.fixture(scope="module")
def export(sitegraph: Sitegraph, report: dict[str, Any], index: Path) -> dict[str, Rows]:
    return sitegraph.export(index)


def test_every_page_becomes_a_document_and_the_outcomes_add_up(report: dict[str, Any]) -> None:
    documents = dict(report["documents"])
    scheduled, fetched = documents.pop("scheduled"), documents.pop("fetched")

    assert report["published"]
    assert report["generation"] == 1
    assert (scheduled, fetched, documents.pop("not_modified")) == (len(TOPICS) + 1, len(TOPICS) + 1, 0)
    assert documents == {**dict.fromkeys(documents, 0), "added": len(TOPICS) + 1}
    assert report["problems"] == []
    assert report["http"]["status"]["200"] == scheduled


def test_report_and_export_count_the_same_rows(report: dict[str, Any], export: dict[str, Rows]) -> None:
    assert Counter(row["kind"] for row in export["nodes"]) == report["nodes"]
    assert Counter(row["kind"] for row in export["edges"]) == report["edges"]
    assert len(export["chunks"]) == report["chunks"]["added"] == report["nodes"]["Chunk"]
    assert len(export["documents"]) == report["documents"]["added"] == report["nodes"]["Page"]


def test_every_table_is_exported_in_id_order_without_doubles(export: dict[str, Rows]) -> None:
    for rows in export.values():
        ids = [row["id"] for row in rows]
        assert ids == sorted(set(ids))


def test_passages_of_other_sections_that_say_similar_things_are_joined(
    report: dict[str, Any], export: dict[str, Rows]
) -> None:
    sections = {row["id"]: row["section_id"] for row in export["chunks"]}
    joined = [row for row in export["edges"] if row["kind"] == "similar_to"]
    assert joined
    assert report["similar"]["searched"] == len(sections)
    assert all(sections[row["src"]] != sections[row["dst"]] for row in joined)
    assert all(row["confidence"] == row["score"] >= 0.7 for row in joined)
    assert max(Counter(row["src"] for row in joined).values()) <= 5


def test_every_document_has_an_authority_beside_the_index(index: Path, export: dict[str, Rows]) -> None:
    pages = {row["id"] for row in export["documents"]}
    values = open_authority_store(IndexLayout(index)).at(1).of(pages)
    assert values.keys() == pages
    assert max(values.values()) == 1.0


def test_a_chunk_carries_every_field_of_the_contract(index: Path, sitegraph: Sitegraph, report: Any) -> None:
    done = sitegraph.call("export", "--what", "chunks", "--index", str(index))
    rows = [json.loads(line) for line in done.stdout.splitlines()]

    assert len(rows) == report["chunks"]["added"]
    for row in rows:
        assert row.keys() >= {*CHUNK_FIELDS.split()}
        assert (row["kind"], row["source"]) == ("html", "handbook")
        assert (row["doc_type"], row["version"]) == ("manual", "7")
        assert row["url"].startswith("http://127.0.0.1:")
        assert "#" not in row["url"] + (row["fragment"] or "")
        assert row["fetched_at"]
        assert row["changed_at"]


def test_chunks_stand_in_their_section_where_their_offsets_say(export: dict[str, Rows]) -> None:
    sections = {row["id"]: row for row in export["nodes"] if row["kind"] == "Section"}

    assert export["chunks"]
    for chunk in export["chunks"]:
        start, end = chunk["offsets"]
        assert sections[chunk["section_id"]]["text"][start:end] == chunk["text"]


def test_links_of_pages_become_edges_and_their_texts_go_to_the_target(
    site: Handbook, export: dict[str, Rows]
) -> None:
    ids = {row["url"]: row["id"] for row in export["documents"]}
    leases, ledgers = ids[site.site.url("/leases.html")], ids[site.site.url("/ledgers.html")]
    (link,) = [
        row
        for row in export["edges"]
        if (row["kind"], row["src"], row["dst"]) == ("links_to", leases, ledgers)
    ]
    first = min((row for row in export["chunks"] if row["doc"] == ledgers), key=lambda row: row["ordinal"])

    assert (link["anchor_text"], link["position"]) == ("how ledgers follow", "body")
    assert first["anchor_texts"] == ["all about ledgers", "how ledgers follow"]


def test_both_ends_of_every_edge_are_nodes(export: dict[str, Rows]) -> None:
    nodes = {row["id"] for row in export["nodes"]}

    assert {row["src"] for row in export["edges"]} | {row["dst"] for row in export["edges"]} <= nodes


def test_the_new_index_is_intact(sitegraph: Sitegraph, report: dict[str, Any], index: Path) -> None:
    done = sitegraph.call("verify", "--index", str(index), "--format", "json")

    assert json.loads(done.stdout) == {"generation": 1, "damage": []}
    assert done.returncode == 0


def test_what_a_query_cites_is_on_the_page(
    sitegraph: Sitegraph, site: Handbook, report: dict[str, Any], index: Path
) -> None:
    done = sitegraph.call(
        "query", "what happens when outboxes are lost", "--index", str(index), "--format", "json"
    )
    bundle = json.loads(done.stdout)
    first = bundle["citations"][:2]
    places = [(one["url"], one["fragment"]) for one in first]
    page = site.articles["/outboxes.html"]

    assert bundle["generation"] == 1
    assert bundle["degraded"] == []
    # Without stop words the page's first chunk is as near: both are of the right page.
    assert {url for url, _ in places} == {site.site.url("/outboxes.html")}
    at = places.index((site.site.url("/outboxes.html"), "losing-outboxes"))
    assert bundle["evidence"][at]["text"] in dict(page.passages)["Losing Outboxes"]


def test_status_and_plan_know_the_source(sitegraph: Sitegraph, report: dict[str, Any], index: Path) -> None:
    status = json.loads(sitegraph.call("status", "--index", str(index), "--format", "json").stdout)
    source = str(index.parent / "handbook.yaml")
    plan = json.loads(sitegraph.call("plan", source, "--index", str(index), "--format", "json").stdout)

    assert status["generation"] == 1
    assert status["sources"]["handbook"]["documents"] == {"fetched": len(TOPICS) + 1}
    assert plan["counts"] == {"fetch": len(TOPICS) + 1}
