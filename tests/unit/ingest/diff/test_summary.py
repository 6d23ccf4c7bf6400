"""Many documents in one line of a log."""

from ingest.diff.lifecycle import summarise_states
from schemas.documents import DocumentState as S
from tests.fakes.known import known


def test_states_are_counted_and_trouble_is_told_with_its_reasons() -> None:
    documents = [
        *(known(str(n), state=S.FETCHED, reason="") for n in range(3)),
        *(known(f"f{n}", state=S.FAILED, reason="HTTP 500") for n in range(2)),
        known("m", state=S.MISSING, reason="HTTP 404"),
    ]

    assert summarise_states(documents) == "3 fetched, 2 failed, 1 missing (HTTP 500: 2; HTTP 404: 1)"


def test_no_documents_are_nothing() -> None:
    assert summarise_states([]) == "nothing"
