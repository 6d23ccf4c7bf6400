"""Verdicts, and what was lost between two of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from retrieval.checks.examine import Examined, examine
from retrieval.checks.losses import GONE, find_losses, render_losses, render_verdicts
from schemas.evidence import ContextBundle, Query
from schemas.nodes import Chunk
from schemas.report import Check, OnFailure, Requirement, ShownPassage, Verdict
from tests.fakes.plain_evidence import plain_bundle, plain_evidence
from tests.unit.retrieval.checks.test_states import PASSAGE, chunk

URL = "https://example.org/leases.html"
LEASE = Check(
    id="lease",
    question="How long is a lease valid?",
    cites=(f"{URL}#expiry",),
    states=("It is valid for 30 seconds and may be renewed by its holder.",),
)
NOTHING = Check(id="price", question="What does it cost?", answered=False)


@dataclass
class Chunks:
    """The two methods of a chunk store that checks read by."""

    rows: Sequence[Chunk]

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        return tuple(one for one in self.rows if one.id in ids)

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        return tuple(one for one in self.rows if one.doc in docs)


def placed(text: str) -> Chunk:
    return replace(chunk(text), url=URL, fragment="expiry")


def asked(
    check: Check, *found: Chunk, there: Sequence[Chunk] = (), says: Sequence[ShownPassage] = ()
) -> Verdict:
    """Ask a generation that has *there* and finds *found*."""

    def retrieve(_: Query) -> ContextBundle:
        evidence = tuple(
            replace(plain_evidence(f"S{n}", one.text), chunk_id=one.id) for n, one in enumerate(found, 1)
        )
        return replace(plain_bundle({}), evidence=evidence)

    store = Chunks([*found, *there])
    (verdict,) = examine([check], Examined(retrieve=retrieve, answers=lambda _: says, chunks=store))  # type: ignore[arg-type]
    return verdict


def losses(before: Verdict, after: Verdict, *there: Chunk):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return find_losses([before], [after], Chunks(there))  # type: ignore[arg-type]


def test_a_check_passes_where_the_entry_is_found_and_says_what_it_must() -> None:
    assert asked(LEASE, placed(PASSAGE)).passed


def test_an_entry_that_is_not_found_fails() -> None:
    verdict = asked(LEASE, chunk("Something else."))
    assert [one.requirement for one in verdict.failures] == [Requirement.CITES, Requirement.STATES]
    assert "is not among the first 10 passages" in render_verdicts([verdict], generation=2)


def test_what_was_never_met_is_no_loss() -> None:
    gone = asked(LEASE)
    assert losses(gone, gone) == ()


def test_another_number_is_a_loss_of_the_statement_alone() -> None:
    now = placed(PASSAGE.replace("30", "45"))
    (loss,) = losses(asked(LEASE, placed(PASSAGE)), asked(LEASE, now), now)
    assert loss.requirement is Requirement.STATES
    shown = render_losses([loss])
    assert "- It is valid for 30 seconds" in shown
    assert "+ It is valid for 45 seconds" in shown


def test_an_entry_that_is_gone_is_told_from_one_that_others_outrank() -> None:
    before = asked(LEASE, placed(PASSAGE))
    gone = losses(before, asked(LEASE))[0]
    outranked = losses(before, asked(LEASE, there=[placed(PASSAGE)]), placed(PASSAGE))[0]
    assert gone.why == GONE
    assert gone.after is None
    assert "still there" in outranked.why
    assert outranked.after


def test_an_answer_where_none_may_be_is_a_loss() -> None:
    said = ShownPassage(text="It costs nothing.", citation="a.md", doc="page:a")
    (loss,) = losses(asked(NOTHING), asked(NOTHING, says=[said]))
    assert (loss.requirement, loss.after) == (Requirement.ANSWERED, said)


def test_what_is_only_reported_says_so() -> None:
    check = replace(LEASE, on_failure=OnFailure.REPORT)
    shown = render_losses(losses(asked(check, placed(PASSAGE)), asked(check)))
    assert "(reported only)" in shown
