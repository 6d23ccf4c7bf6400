"""Which links become documents to look at."""

from dataclasses import replace

from ingest.plan.frontier import plan_documents, plan_frontier
from schemas.documents import DocumentState
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link
from schemas.nodes import DocumentKind
from schemas.source import Scope
from tests.fakes.known import SITE, web_source

PAGE = SITE + "index.html"


def page_linking_to(*targets: str) -> GraphFragment:
    """A parsed page with links and nothing else."""
    return GraphFragment(
        uri=PAGE,
        doc="page:1",
        kind=DocumentKind.HTML,
        content_hash="c",
        nodes=(),
        edges=(),
        chunks=(),
        links=tuple(Link(target=target, text="", position=LinkPosition.NAV) for target in targets),
    )


def test_links_in_scope_are_found_once_in_order_one_deeper_with_the_page_that_names_them() -> None:
    fragment = page_linking_to(SITE + "b", SITE + "a", SITE + "b", "https://elsewhere.example/")
    found = plan_frontier(web_source(), fragment, depth=3)
    assert [(d.uri, d.depth, d.found_by) for d in found] == [(SITE + "a", 4, PAGE), (SITE + "b", 4, PAGE)]
    assert {(d.state, d.source) for d in found} == {(DocumentState.NEW, "handbook")}


def test_a_page_does_not_find_itself() -> None:
    assert plan_frontier(web_source(), page_linking_to(PAGE), depth=0) == ()


def test_a_meta_refresh_leads_on_like_a_link() -> None:
    fragment = replace(page_linking_to(), refresh=SITE + "new")
    assert [d.uri for d in plan_frontier(web_source(), fragment, depth=0)] == [SITE + "new"]


def test_a_page_that_says_nofollow_adds_nothing() -> None:
    fragment = replace(page_linking_to(SITE + "a"), nofollow=True, refresh=SITE + "new")
    assert plan_frontier(web_source(), fragment, depth=0) == ()


def test_links_below_the_greatest_depth_are_left() -> None:
    source = web_source(scope=Scope(max_depth=1))
    assert len(plan_frontier(source, page_linking_to(SITE + "a"), depth=0)) == 1
    assert plan_frontier(source, page_linking_to(SITE + "a"), depth=1) == ()


def test_starting_points_are_at_depth_nought_and_found_by_nobody() -> None:
    found = plan_documents(web_source(), [SITE, SITE + "b", SITE], depth=0, found_by=None)
    assert [(d.uri, d.depth, d.found_by) for d in found] == [(SITE, 0, None), (SITE + "b", 0, None)]
