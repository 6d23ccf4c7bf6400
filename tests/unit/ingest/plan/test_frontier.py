"""Which links become documents to look at."""

from dataclasses import replace

from ingest.plan.frontier import (
    MAX_REDIRECTS,
    Frontier,
    plan_frontier,
    plan_redirect,
    plan_targets,
)
from schemas.documents import DocumentState
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link
from schemas.nodes import DocumentKind
from schemas.report import Problem
from schemas.source import Scope
from tests.fakes.known import SITE, known, web_source

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


def uris(found: Frontier) -> list[str]:
    """What is to be looked at."""
    return [document.uri for document in found.documents]


def test_links_in_scope_are_found_once_in_order_one_deeper_with_the_page_that_names_them() -> None:
    fragment = page_linking_to(SITE + "b", SITE + "a", SITE + "b", "https://elsewhere.example/")
    found = plan_frontier(web_source(), fragment, depth=3).documents
    assert [(d.uri, d.depth, d.found_by) for d in found] == [(SITE + "a", 4, PAGE), (SITE + "b", 4, PAGE)]
    assert {(d.state, d.source) for d in found} == {(DocumentState.NEW, "handbook")}


def test_a_page_does_not_find_itself() -> None:
    assert plan_frontier(web_source(), page_linking_to(PAGE), depth=0) == Frontier()


def test_a_meta_refresh_leads_on_like_a_link() -> None:
    fragment = replace(page_linking_to(), refresh=SITE + "new")
    assert uris(plan_frontier(web_source(), fragment, depth=0)) == [SITE + "new"]


def test_a_page_that_says_nofollow_adds_nothing() -> None:
    fragment = replace(page_linking_to(SITE + "a"), nofollow=True, refresh=SITE + "new")
    assert plan_frontier(web_source(), fragment, depth=0) == Frontier()


def test_links_below_the_greatest_depth_are_left() -> None:
    source = web_source(scope=Scope(max_depth=1))
    assert uris(plan_frontier(source, page_linking_to(SITE + "a"), depth=0)) == [SITE + "a"]
    assert plan_frontier(source, page_linking_to(SITE + "a"), depth=1) == Frontier(
        stopped=(Problem(url=SITE + "a", reason="deeper than max_depth 1"),)
    )


def test_starting_points_are_at_depth_nought_and_found_by_nobody() -> None:
    found = plan_targets(web_source(), [SITE, SITE + "b", SITE], depth=0, found_by=None)
    assert [(d.uri, d.depth, d.found_by) for d in found.documents] == [(SITE, 0, None), (SITE + "b", 0, None)]


def test_translations_and_the_canonical_address_are_documents_of_their_own() -> None:
    fragment = replace(
        page_linking_to(), canonical=SITE + "own", alternates=(SITE + "de/", "https://elsewhere.example/de/")
    )
    assert uris(plan_frontier(web_source(), fragment, depth=0)) == [SITE + "de/", SITE + "own"]


def test_what_lies_outside_the_scope_is_no_stop_but_what_a_budget_refuses_is() -> None:
    endless = SITE + "a/a/a/a/"
    found = plan_frontier(web_source(), page_linking_to("https://elsewhere.example/", endless), depth=0)
    assert found == Frontier(stopped=(Problem(url=endless, reason="a path segment more than 3 times"),))


def test_a_link_with_a_session_id_is_tried_without_it_as_well() -> None:
    found = plan_frontier(web_source(), page_linking_to(SITE + "p?sid=7&a=1"), depth=0)
    assert uris(found) == [SITE + "p?a=1", SITE + "p?sid=7&a=1"]


def test_a_redirect_leads_on_at_the_same_depth_so_many_times() -> None:
    moved = known(SITE + "a", depth=3, location=SITE + "b", hops=MAX_REDIRECTS - 1)
    (target,) = plan_redirect(web_source(), moved).documents
    assert (target.uri, target.depth, target.hops, target.found_by) == (SITE + "b", 3, 10, SITE + "a")
    assert plan_redirect(web_source(), replace(moved, hops=MAX_REDIRECTS)) == Frontier(
        stopped=(Problem(url=SITE + "a", reason="more than 10 redirects in a row"),)
    )
    assert plan_redirect(web_source(), replace(moved, location="https://elsewhere.example/")) == Frontier()
    assert plan_redirect(web_source(), replace(moved, location=None)) == Frontier()
