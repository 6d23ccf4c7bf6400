"""Questions of the usage log, as checks to review."""

from collections.abc import Collection
from dataclasses import replace

from retrieval.checks.proposing import propose_checks, render_proposals
from retrieval.learning.usage import Usage
from runtime.check_file import parse_checks
from schemas.nodes import Chunk
from tests.unit.retrieval.checks.test_states import chunk

ROWS = (
    replace(chunk("A lease.", ordinal=1), url="https://example.org/a.html", fragment="x"),
    replace(chunk("A page.", ordinal=2), file_path="m.pdf", file_id="m.pdf", page_no=4),
)


def get(ids: Collection[str]) -> tuple[Chunk, ...]:
    return tuple(one for one in ROWS if one.id in ids)


def query(text: str, *winners: str, **more: object) -> dict[str, object]:
    return {"timestamp": "2026-01-01T00:00:00+00:00", "query": text, "winners": list(winners), **more}


USAGE = Usage(
    queries=(
        query("What is: a lease?", "chunk:1"),
        query("what is: a  LEASE?", "chunk:1"),
        query("Where is page 4?", "chunk:1"),
        query("Filtered?", "chunk:1", filters={"source": ["a"]}),
        query("Gone?", "chunk:9"),
        query("Nothing?"),
    ),
    clicks=({"timestamp": "", "query": "where is page 4?", "chunk_id": "chunk:2", "doc": "page:a"},),
    unreadable=0,
)


def test_each_question_is_proposed_once_with_what_was_opened_or_found_first() -> None:
    found = propose_checks(USAGE, get)
    assert [(one.question, one.asked, one.opened, one.cites) for one in found] == [
        ("What is: a lease?", 2, 0, ("https://example.org/a.html#x",)),
        ("Where is page 4?", 1, 1, ("m.pdf#page=4",)),
    ]


def test_what_is_asked_already_is_left_out() -> None:
    assert len(propose_checks(USAGE, get, known=["What is: a Lease?"])) == 1


def test_the_file_reads_as_checks() -> None:
    checks = parse_checks(render_proposals(propose_checks(USAGE, get)), subject="proposed.yaml")
    assert [one.question for one in checks] == ["What is: a lease?", "Where is page 4?"]
    assert parse_checks(render_proposals(()), subject="proposed.yaml") == ()
