"""What a run makes of the rows it knows before it asks for anything."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.plan.start import plan_claims, plan_rescope, plan_revival, plan_starts, plan_translations
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from schemas.fragment import FormsBy
from schemas.source import Scope
from tests.fakes.known import SITE, known, web_source

MONDAY, TUESDAY = "2026-02-02T00:00:00+00:00", "2026-02-03T00:00:00+00:00"


def rows(*documents: KnownDocument) -> dict[str, KnownDocument]:
    return {document.uri: document for document in documents}


def test_what_left_the_scope_goes_and_what_came_into_it_is_new() -> None:
    source = web_source(scope=Scope(exclude=("*/old/*",)))
    here = known(SITE + "a", state=S.FETCHED)
    left = known(SITE + "old/b", state=S.FETCHED)
    back = known(SITE + "c", state=S.OUT_OF_SCOPE, reason="excluded", run_id="run-0")
    changed = plan_rescope(source, rows(here, left, back), run_id="run-1")
    assert {uri: (d.state, d.reason, d.run_id) for uri, d in changed.items()} == {
        left.uri: (S.OUT_OF_SCOPE, "excluded by scope.exclude", "run-1"),
        back.uri: (S.NEW, "", None),
    }


def test_variants_that_told_enough_stay_out() -> None:
    alike = [
        known(f"{SITE}p?v={n}", state=S.FETCHED, content_hash="a", fetched_at=f"2026-01-01T{n:02}")
        for n in range(10)
    ]
    left = known(SITE + "p?v=10", state=S.OUT_OF_SCOPE)
    other = known(SITE + "q?v=10", state=S.OUT_OF_SCOPE)
    assert plan_rescope(web_source(), rows(*alike, left, other), run_id="r").keys() == {other.uri}


def test_only_gone_documents_that_something_names_come_back() -> None:
    named, unnamed = known(SITE + "a", state=S.GONE), known(SITE + "b", state=S.GONE)
    just_now = known(SITE + "c", state=S.GONE, run_id="run-1")
    names = {named.uri, just_now.uri}
    revived = plan_revival(rows(named, unnamed, just_now), names, at_once=(), run_id="run-1", due_by=None)
    assert [d.state for d in revived.values()] == [S.NEW]
    assert revived.keys() == {named.uri}


def test_a_gone_document_comes_back_when_it_is_due_or_at_once() -> None:
    due, undated, later, shown = (
        known(SITE + name, state=S.GONE, next_due=next_due)
        for name, next_due in (("a", MONDAY), ("b", None), ("c", TUESDAY), ("d", TUESDAY))
    )
    known_rows = rows(due, undated, later, shown)
    named = {due.uri, undated.uri, later.uri}
    revived = plan_revival(known_rows, named, at_once={shown.uri}, run_id="run-1", due_by=MONDAY)
    assert revived.keys() == {due.uri, undated.uri, shown.uri}


def test_claims_are_kept_as_they_change_and_dropped_with_the_listing() -> None:
    same, later, unlisted, silent = (
        known(SITE + "a", lastmod=MONDAY),
        known(SITE + "b", lastmod=MONDAY),
        known(SITE + "c", lastmod=MONDAY),
        known(SITE + "d"),
    )
    starts = {same.uri: MONDAY, later.uri: TUESDAY, silent.uri: None}
    claims = plan_claims(rows(same, later, unlisted, silent), starts)
    assert {uri: d.lastmod for uri, d in claims.items()} == {later.uri: TUESDAY, unlisted.uri: None}


def test_a_site_that_told_lies_claims_nothing_any_more() -> None:
    liars = [known(f"{SITE}{n}", lastmod=MONDAY, lastmod_held=False) for n in range(5)]
    claims = plan_claims(rows(*liars), {d.uri: TUESDAY for d in liars})
    assert {d.lastmod for d in claims.values()} == {None}
    assert len(claims) == 5
    found = plan_starts(web_source(), rows(*liars), {SITE + "new": TUESDAY})
    assert [d.lastmod for d in found.documents] == [None]


def test_seeds_come_first_then_the_latest_change() -> None:
    starts = {SITE: None, SITE + "a": None, SITE + "b": MONDAY, SITE + "c": TUESDAY, SITE + "d": MONDAY}
    found = plan_starts(web_source(), {}, starts)
    assert [d.uri for d in found.documents] == [SITE, SITE + "c", SITE + "b", SITE + "d", SITE + "a"]


def test_what_is_known_at_the_start_already_is_not_enqueued_again() -> None:
    there, deeper = known(SITE + "a"), known(SITE + "b", depth=4)
    found = plan_starts(web_source(), rows(there, deeper), dict.fromkeys([there.uri, deeper.uri]))
    assert [(d.uri, d.depth) for d in found.documents] == [(deeper.uri, 0)]


def test_a_listed_address_beyond_a_budget_is_counted_and_one_out_of_scope_is_not() -> None:
    starts = dict.fromkeys([SITE + "a/a/a/a", "https://elsewhere.example/"])
    found = plan_starts(web_source(), {}, starts)
    assert found.documents == ()
    assert [problem.url for problem in found.stopped] == [SITE + "a/a/a/a"]


URIS = st.sampled_from([SITE + name for name in "abcd"])
FORMS = st.dictionaries(URIS, st.lists(URIS, max_size=3).map(tuple), max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["sitemap", "header"]), FORMS), max_size=8))
def test_what_is_said_last_of_translations_counts_whatever_was_said_before(
    said: list[tuple[str, dict[str, tuple[str, ...]]]],
) -> None:
    held: dict[str, FormsBy] = {}
    for by, now in said:
        held |= plan_translations(held, now, by=by, whole=True)
        assert plan_translations(held, now, by=by, whole=True) == {}
    last = dict(said)
    anew: dict[str, FormsBy] = {}
    for by, now in last.items():
        anew |= plan_translations(anew, now, by=by, whole=True)
    assert {uri: forms for uri, forms in held.items() if forms} == anew


def test_what_could_not_be_read_takes_back_nothing() -> None:
    held: dict[str, FormsBy] = {uri: {"sitemap": (uri, "x"), "header": ("y",)} for uri in ("a", "b")}
    assert plan_translations(held, {"a": ()}, by="sitemap", whole=False) == {"a": {"header": ("y",)}}
    assert plan_translations(held, {}, by="sitemap", whole=True) == {key: {"header": ("y",)} for key in "ab"}
