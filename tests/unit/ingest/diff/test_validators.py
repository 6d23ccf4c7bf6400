"""What a site's validators are worth: learnt from answers, forgiven nothing, blamed for nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.diff.validators import (
    MAX_REPEATS,
    after_answer,
    doubt_of,
    hosts_with_false_304,
    is_conditional,
    needs_proof,
    trusts_validators,
)
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from schemas.fetch import FetchRequest, FetchStatus
from tests.fakes.known import SITE, fetched, known, live

HOST = "docs.example.org:443"


def held(**fields: Any) -> KnownDocument:
    """A document whose bytes are here, with an ETag."""
    return known(**{"state": S.FETCHED, "raw_sha": "old", "etag": '"1"', **fields})


def answered(before: KnownDocument, state: S, *, conditional: bool = True, **fields: Any) -> KnownDocument:
    """The document after an answer."""
    return after_answer(before, known(**{**_kept(before), "state": state, **fields}), conditional=conditional)


def _kept(before: KnownDocument) -> dict[str, Any]:
    names = ("raw_sha", "etag", "last_modified", "unmodified", "repeats", "denied")
    return {name: getattr(before, name) for name in names}


def test_after_three_answers_with_the_same_bytes_validators_are_not_sent_again() -> None:
    document = held()
    for number in range(1, MAX_REPEATS + 1):
        assert trusts_validators(document, distrusted=())
        document = answered(document, S.FETCHED)
        assert document.repeats == number
    assert not trusts_validators(document, distrusted=())
    assert answered(document, S.FETCHED, conditional=False).repeats == MAX_REPEATS


@pytest.mark.parametrize(
    ("state", "fields", "repeats"),
    [
        (S.NOT_MODIFIED, {}, 0),
        (S.FETCHED, {"raw_sha": "new"}, 0),
        (S.FAILED, {}, 2),
        (S.MISSING, {}, 2),
        (S.REDIRECTED, {}, 2),
    ],
)
def test_a_304_or_other_bytes_restore_trust_and_errors_say_nothing(
    state: S, fields: dict[str, Any], repeats: int
) -> None:
    assert answered(held(repeats=2), state, **fields).repeats == repeats


def test_an_answer_nobody_set_conditions_for_does_not_count() -> None:
    assert answered(held(), S.FETCHED, conditional=False).repeats == 0


def test_a_distrusted_host_gets_no_validators() -> None:
    assert trusts_validators(held(), distrusted={"docs.example.org:8443": "lies"})
    assert not trusts_validators(held(), distrusted={HOST: "lies"})


def test_new_bytes_under_the_very_validators_of_the_304s_are_a_lie_at_once() -> None:
    before = held(unmodified=2)
    after = answered(before, S.FETCHED, conditional=False, raw_sha="new")
    assert (after.denied, after.unmodified) == (True, 0)
    assert not needs_proof(before, after, conditional=False)


@pytest.mark.parametrize(
    ("before", "conditional", "raw_sha", "doubtful"),
    [
        (held(unmodified=1), False, "new", True),
        (held(unmodified=1), True, "new", False),  # the site itself said that it had changed
        (held(unmodified=1), False, "old", False),
        (held(unmodified=0), False, "new", False),
        (held(unmodified=1, etag=None), False, "new", False),
        (held(unmodified=1, raw_sha=None), False, "new", False),
    ],
)
def test_new_bytes_under_new_validators_are_asked_about_once_more(
    before: KnownDocument, conditional: bool, raw_sha: str, doubtful: bool
) -> None:
    after = answered(before, S.FETCHED, conditional=conditional, raw_sha=raw_sha, etag='"2"')
    assert not after.denied
    assert needs_proof(before, after, conditional=conditional) is doubtful


@pytest.mark.parametrize(
    ("denied", "kind", "lies"),
    [
        (True, ChangeKind.CHANGED, True),
        (True, ChangeKind.REFRESHED, False),  # another nonce or date: not what a reader comes for
        (False, ChangeKind.CHANGED, False),
    ],
)
def test_only_hidden_content_makes_a_host_a_liar(denied: bool, kind: ChangeKind, lies: bool) -> None:
    change = DocumentChange(kind=kind, old=live(), new=live())
    assert (hosts_with_false_304([held(denied=denied)], [change]) == {}) is not lies
    if lies:
        reasons = hosts_with_false_304([held(denied=denied)], [change])
        assert reasons == {HOST: f"{SITE} had changed, and its validators were still answered with 304"}


def test_a_request_is_conditional_by_either_validator() -> None:
    assert not is_conditional(FetchRequest(url=SITE))
    assert is_conditional(FetchRequest(url=SITE, etag='"1"'))
    assert is_conditional(FetchRequest(url=SITE, last_modified="yesterday"))


@given(st.lists(st.sampled_from([S.FETCHED, S.NOT_MODIFIED, S.FAILED, S.MISSING, S.REDIRECTED])))
def test_a_denial_never_outlives_the_look_it_was_made_in(states: list[S]) -> None:
    document = held(denied=True)
    for state in states:
        document = answered(document, state)
        assert not document.denied


EARLIER, LATER = "Sat, 05 Nov 2022 08:49:37 GMT", "Sun, 06 Nov 2022 08:49:37 GMT"


@pytest.mark.parametrize(
    ("sent", "told", "expected"),
    [
        ({"etag": '"1"'}, {"etag": '"1"', "told_etag": True}, False),
        ({"etag": '"1"'}, {"etag": '"2"', "told_etag": True}, True),
        ({"etag": 'W/"1"'}, {"etag": '"1-gzip"', "told_etag": True}, False),
        ({"last_modified": LATER}, {"etag": '"2"', "told_etag": True, "last_modified": LATER}, False),
        ({"last_modified": LATER}, {"last_modified": EARLIER}, True),
        ({"last_modified": EARLIER}, {"last_modified": LATER}, False),  # the time of the answer
        ({"last_modified": "soon"}, {"last_modified": EARLIER}, False),
        (
            {"etag": '"1"', "last_modified": LATER},
            {"etag": '"1"', "told_etag": True, "last_modified": EARLIER},
            False,
        ),
        ({"etag": '"1"', "last_modified": LATER}, {"etag": '"1"', "last_modified": EARLIER}, True),
        ({"etag": '"1"'}, {"etag": '"1"', "length": 9}, True),
        ({"etag": '"1"'}, {"etag": '"1"', "length": 10}, False),
    ],
)
def test_a_304_that_tells_of_something_else_contradicts_what_is_here(
    sent: dict[str, Any], told: dict[str, Any], expected: bool
) -> None:
    request = FetchRequest(url=SITE, **sent)
    assert (doubt_of(request, fetched(FetchStatus.NOT_MODIFIED, **told), held=10) is not None) is expected
    assert doubt_of(request, fetched(FetchStatus.OK, **told), held=10) is None
