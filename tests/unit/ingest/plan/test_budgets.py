"""Who gets the room that is left."""

from ingest.plan.frontier import BudgetUsage, apply_budgets, site_of
from ingest.plan.scope import Variant
from schemas.source import Scope
from tests.fakes.known import known

ONE, TWO = "https://one.example.org/", "https://two.example.org:8443/"


def enqueued(scope: Scope, held: BudgetUsage, *uris: str) -> tuple[list[str], list[str]]:
    """What comes in, and why the rest does not."""
    found = apply_budgets(scope, [known(uri, found_by=ONE) for uri in uris], held)
    return [d.uri for d in found.documents], [problem.reason for problem in found.stopped]


def test_room_is_given_in_the_order_asked_until_the_source_is_full() -> None:
    asked = [ONE + name for name in "zax"]
    assert enqueued(Scope(max_pages=7), BudgetUsage(pages=5), *asked) == (asked[:2], ["max_pages 7 reached"])
    assert enqueued(Scope(max_pages=7), BudgetUsage(pages=9), ONE) == ([], ["max_pages 7 reached"])


def test_a_full_host_leaves_the_others_their_room() -> None:
    scope, held = Scope(max_pages_per_host=2), BudgetUsage(pages=1, by_site={ONE: 1})
    found = enqueued(scope, held, ONE + "a", ONE + "b", TWO + "a", TWO + "b")
    assert found == ([ONE + "a", TWO + "a", TWO + "b"], ["max_pages_per_host 2 reached"])


def test_queries_are_counted_by_path_and_the_bare_path_is_none() -> None:
    held = BudgetUsage(pages=3, variants={ONE + "p": [Variant(uri=ONE + "p"), Variant(uri=ONE + "p?a=1")]})
    found = enqueued(
        Scope(max_queries_per_path=2), held, ONE + "p?a=2", ONE + "p?a=3", ONE + "q?a=1", ONE + "r"
    )
    assert found == ([ONE + "p?a=2", ONE + "q?a=1", ONE + "r"], ["max_queries_per_path 2 reached"])


def test_what_a_seed_or_a_sitemap_names_is_no_trap_whatever_its_query() -> None:
    listed = [known(f"{ONE}p?a={number}") for number in range(5)]
    scope = Scope(max_queries_per_path=2, max_pages=4)
    found = apply_budgets(scope, [*listed, known(ONE + "p?a=9", found_by=ONE)], BudgetUsage(pages=0))
    assert list(found.documents) == listed[:4]
    assert [problem.reason for problem in found.stopped] == [
        "max_pages 4 reached",
        "max_queries_per_path 2 reached",
    ]


def test_what_is_refused_takes_no_room() -> None:
    scope = Scope(max_pages=2, max_queries_per_path=1)
    found = enqueued(scope, BudgetUsage(pages=0), ONE + "p?a=1", ONE + "p?a=2", ONE + "q")
    assert found[0] == [ONE + "p?a=1", ONE + "q"]


def test_a_site_is_scheme_host_and_port() -> None:
    assert site_of(ONE + "a/b?c=/d") == ONE
    assert site_of(TWO) == TWO
