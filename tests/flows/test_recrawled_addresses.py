"""Pages that go, come back, move, or lead elsewhere: the index follows, and equals a new one."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.handbook import Handbook, topic_article, write_source
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild, outcomes

pytestmark = pytest.mark.server


def test_a_page_that_is_missed_twice_goes_with_the_edges_into_it(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    gone = next(
        row["id"] for row in sitegraph.export(index)["documents"] if row["url"].endswith("/tokens.html")
    )
    handbook.remove("/tokens.html")

    first, second = sitegraph.run(source, index), sitegraph.run(source, index)

    assert outcomes(first) == {"missing": 1, "unchanged": 9}
    assert first["generation"] is None
    assert [problem["url"] for problem in first["problems"]] == [handbook.site.url("/tokens.html")]
    assert outcomes(second) == {"gone": 1, "unchanged": 9}
    exported = assert_equals_clean_rebuild(sitegraph, source, index)
    assert gone not in {row["dst"] for row in exported["edges"]}
    assert gone not in {row["doc"] for row in exported["chunks"]}


def test_a_page_that_comes_back_is_in_again_though_nobody_edited_the_links_to_it(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    article = handbook.articles["/tokens.html"]
    handbook.remove("/tokens.html", status=410)
    assert outcomes(sitegraph.run(source, index)) == {"gone": 1, "unchanged": 9}
    handbook.write("/tokens.html", article)

    report = sitegraph.run(source, index)

    assert outcomes(report) == {"added": 1, "unchanged": 9}
    assert report["chunks"]["embedded"] == 0
    assert sitegraph.export(index) == before


def test_a_renamed_page_keeps_its_vectors(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    article = handbook.articles["/tokens.html"]
    handbook.write("/coins.html", article)
    handbook.remove("/tokens.html", status=410)
    for path in ("/index.html", "/batches.html"):
        text = dict(handbook.articles[path].links)["/tokens.html"]
        handbook.unlink(path, "/tokens.html")
        handbook.link(path, "/coins.html", text)

    report = sitegraph.run(source, index)

    assert outcomes(report) == {"added": 1, "moved": 1, "changed": 2, "unchanged": 7}
    assert report["chunks"]["embedded"] <= 2, "only the list of links of two pages may be new"
    assert_equals_clean_rebuild(sitegraph, source, index)


def test_links_to_an_address_that_leads_elsewhere_lead_there(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    handbook.redirect("/tokens.html", "/guards.html")

    report = sitegraph.run(source, index)

    exported = assert_equals_clean_rebuild(sitegraph, source, index)
    ids = {row["url"]: row["id"] for row in exported["documents"]}
    assert handbook.site.url("/tokens.html") not in ids
    edges = {(row["src"], row["dst"]) for row in exported["edges"]}
    batches, guards = (ids[handbook.site.url(f"/{name}.html")] for name in ("batches", "guards"))
    assert (batches, guards) in edges
    assert outcomes(report) == {"redirected": 1, "unchanged": 9}


@pytest.mark.long
def test_an_edge_through_a_redirect_comes_and_goes_with_its_target(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    handbook.redirect("/tokens.html", "/coins.html")
    sitegraph.run(source, index)
    handbook.write("/coins.html", topic_article("Coins"))
    came = sitegraph.run(source, index)
    exported = sitegraph.export(index)
    coins = next(row["id"] for row in exported["documents"] if row["url"].endswith("/coins.html"))
    linking = {row["src"] for row in exported["edges"] if row["dst"] == coins and row["kind"] == "links_to"}
    handbook.remove("/coins.html", status=410)

    went = sitegraph.run(source, index)

    assert came["documents"]["added"] == 1
    assert len(linking) == 2, "the start page and the page before it still name the old address"
    assert went["documents"]["gone"] == 1
    assert_equals_clean_rebuild(sitegraph, source, index)


def test_a_page_that_leaves_the_scope_leaves_the_index_and_stays_away(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    address = handbook.site.url("/tokens.html")
    handbook.site.pages["/sitemap.xml"] = sitemap(address)
    write_source(source.parent, handbook, more="scope: {exclude: ['*/tokens.html']}\n")

    first, second = sitegraph.run(source, index), sitegraph.run(source, index)

    assert outcomes(first) == {"out_of_scope": 1, "unchanged": 9}
    assert outcomes(second) == {"unchanged": 9}
    assert address not in {row["url"] for row in sitegraph.export(index)["documents"]}
    assert_equals_clean_rebuild(sitegraph, source, index)


def sitemap(*addresses: str) -> Any:
    """A sitemap of the addresses."""
    entries = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    return Reply(xml.encode(), content_type="application/xml")
