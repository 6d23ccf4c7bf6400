"""Questions of the usage log, as checks to review."""

from collections.abc import Collection
from dataclasses import replace

from retrieval.checks.proposing import propose_checks, render_proposals
from retrieval.learning.usage import Usage
from runtime.yaml_files import parse_checks
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


def test_a_question_that_was_last_asked_of_then_is_proposed_with_what_it_finds_now() -> None:
    queries = (
        query("What is: a lease?", "chunk:1", generation=7),
        query("What is: a lease?", "chunk:2", generation=2),
        query("Where is page 4?", "chunk:2", generation=7),
        query("Where is page 4?", "chunk:9", generation=2),
    )
    found = propose_checks(Usage(queries=queries, clicks=(), unreadable=0), get)
    assert [one.cites for one in found] == [("https://example.org/a.html#x",), ("m.pdf#page=4",)]


def test_clicks_on_what_is_gone_leave_what_was_found_first() -> None:
    clicks = (
        {"timestamp": "", "query": "What is: a lease?", "chunk_id": "chunk:9", "doc": "page:a"},
        *USAGE.clicks,
        {"timestamp": "", "query": "Where is page 4?", "chunk_id": "chunk:8", "doc": "page:a"},
    )
    found = propose_checks(replace(USAGE, clicks=clicks), get)
    assert [(one.opened, one.cites) for one in found] == [
        (0, ("https://example.org/a.html#x",)),
        (1, ("m.pdf#page=4",)),
    ]


def test_what_is_asked_already_is_left_out() -> None:
    assert len(propose_checks(USAGE, get, known=["What is: a Lease?"])) == 1


def test_the_file_reads_as_checks() -> None:
    checks = parse_checks(render_proposals(propose_checks(USAGE, get)), subject="proposed.yaml")
    assert [one.question for one in checks] == ["What is: a lease?", "Where is page 4?"]
    assert parse_checks(render_proposals(()), subject="proposed.yaml") == ()
