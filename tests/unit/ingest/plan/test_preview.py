"""What a run would begin with, and the reason for each."""

import pytest

from ingest.plan.start import Action, PlannedAction, plan_actions
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from schemas.source import Scope, Source
from tests.fakes.known import SITE, file_source, known, web_source

PAGE = SITE + "leave.html"
NOW, EARLIER, LATER = "2026-03-01T12:00:00", "2026-02-28T12:00:00", "2026-03-02T12:00:00"
Row = tuple[str, str]


def plan(
    *documents: KnownDocument,
    source: Source | None = None,
    starts: tuple[str, ...] = (),
    due_by: str | None = None,
) -> list[Row]:
    """Action and reason, in order, of a run with parser version v2."""
    chosen = source or web_source()
    actions = plan_actions(
        chosen, documents, starts, pipeline_versions=("v2",), due_by=due_by, lists_all=not chosen.seeds
    )
    return [(action.action.value, action.reason) for action in actions]


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        (known(PAGE), [("fetch", "new")]),
        (known(PAGE, state=S.FETCHED, pipeline_version="v2"), [("fetch", "known")]),
        (
            known(PAGE, state=S.NOT_MODIFIED, pipeline_version="v1"),
            [("fetch", "known"), ("parse", "parsed by another version")],
        ),
        (
            known(PAGE, state=S.FETCHED, pipeline_version="v1", withheld=True, raw_sha="r", parsed_sha="r"),
            [
                ("fetch", "its bytes held secrets and were not kept"),
                ("parse", "parsed by another version"),
            ],
        ),
        (known(PAGE, state=S.FAILED, pipeline_version="v1"), [("fetch", "failed before")]),
        (known(PAGE, state=S.MISSING), [("fetch", "missing before")]),
        (known(PAGE, state=S.QUARANTINED), [("fetch", "quarantined before")]),
        (known(PAGE, state=S.GONE), []),
        (known(PAGE, state=S.OUT_OF_SCOPE), [("fetch", "back in scope")]),
        (known("https://elsewhere.example/", state=S.FETCHED), [("remove", "outside the source's scope")]),
        (known("https://elsewhere.example/", state=S.OUT_OF_SCOPE), []),
        (known("https://elsewhere.example/", state=S.GONE), []),
        (known("https://elsewhere.example/", state=S.REDIRECTED), []),
    ],
)
def test_each_known_document_has_its_action_and_reason(document: KnownDocument, rows: list[Row]) -> None:
    assert plan(document) == rows


@pytest.mark.parametrize(
    ("next_due", "due_by", "rows"),
    [
        (LATER, None, [("fetch", "known")]),
        (LATER, NOW, []),
        (EARLIER, NOW, [("fetch", "due")]),
        (NOW, NOW, [("fetch", "due")]),
        (None, NOW, [("fetch", "due")]),
    ],
)
def test_what_is_not_due_is_kept_back_only_when_asked(
    next_due: str | None, due_by: str | None, rows: list[Row]
) -> None:
    document = known(PAGE, state=S.FETCHED, pipeline_version="v2", next_due=next_due)
    assert plan(document, due_by=due_by) == rows
    actions = plan_actions(web_source(), [document], (), pipeline_versions=("v2",), due_by=due_by)
    late = f"since {next_due}" if due_by and next_due else ""
    assert [action.detail for action in actions] == [late] * len(rows)


def test_a_seed_nobody_knows_yet_is_new() -> None:
    assert plan(starts=(SITE,)) == [("fetch", "new")]
    assert plan(known(SITE, state=S.FETCHED, pipeline_version="v2"), starts=(SITE,)) == [("fetch", "known")]


def test_a_seed_that_was_gone_is_looked_at_again() -> None:
    assert plan(known(SITE, state=S.GONE), starts=(SITE,)) == [("fetch", "was gone")]


def test_a_seed_that_was_gone_waits_until_it_is_due_but_a_file_that_is_there_does_not() -> None:
    late = known(SITE, state=S.GONE, next_due=LATER)
    assert plan(late, starts=(SITE,), due_by=NOW) == []
    uri = "files://notes/a.md"
    back = known(uri, state=S.GONE, next_due=LATER)
    assert plan(back, source=file_source(), starts=(uri,), due_by=NOW) == [("fetch", "was gone")]


def test_variants_that_told_enough_are_not_back_in_scope() -> None:
    looked_at = {"state": S.FETCHED, "content_hash": "same", "pipeline_version": "v2"}
    pages = [known(f"{SITE}p", **looked_at), known(f"{SITE}p?sid=1", **looked_at)]
    left = known(f"{SITE}p?sid=2", state=S.OUT_OF_SCOPE)
    assert plan(*pages, left) == [("fetch", "known")] * 2


def test_a_listed_address_out_of_scope_is_not_planned() -> None:
    assert plan(starts=("https://elsewhere.example/",)) == []


def test_actions_come_in_order_of_action_and_address() -> None:
    documents = [known(SITE + "b"), known("https://elsewhere.example/", state=S.FETCHED), known(SITE + "a")]
    actions = plan_actions(web_source(), documents, (), pipeline_versions=("v2",), due_by=None)
    assert actions == tuple(sorted(actions, key=lambda a: (a.action, a.uri)))
    assert actions[0] == PlannedAction(action=Action.FETCH, uri=SITE + "a", reason="new")


@pytest.mark.parametrize(
    ("state", "rows"),
    [(S.FETCHED, [("remove", "file deleted")]), (S.FAILED, [("remove", "file deleted")]), (S.GONE, [])],
)
def test_a_file_that_is_not_there_any_more_goes(state: S, rows: list[Row]) -> None:
    document = known("files://notes/a.md", source="notes", state=state)
    assert plan(document, source=file_source()) == rows


def test_a_file_that_came_back_is_read_again() -> None:
    uri = "files://notes/a.md"
    assert plan(known(uri, state=S.GONE), source=file_source(), starts=(uri,)) == [("fetch", "was gone")]


def test_a_narrower_scope_removes_what_it_leaves_out() -> None:
    source = web_source(scope=Scope(exclude=("*/leave.html",)))
    assert plan(known(PAGE, state=S.FETCHED), source=source) == [("remove", "excluded by scope.exclude")]
