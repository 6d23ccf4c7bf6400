"""The phases of the race: what is done to the documents before each, in order. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.peers import edits
from bench.peers.documents import Documents

CHANGED = 10
SHARE = 0.01
KILLED_AT = (0.3, 0.6, 0.9)
"""Shares of the CPU seconds of the cold run."""
AGAIN = 3
"""The pass that changes nothing is measured so often; the median counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """An edit of the documents and its name in the table; `recut`: by the chunker of another release."""

    name: str
    edit: Callable[[Documents], Documents] = lambda documents: documents
    times: int = 1
    recut: bool = False


def make_phases(sentences: Sequence[str], count: int) -> tuple[Phase, ...]:
    """Return the phases that go on from each other, for so many documents."""
    few, gone = min(CHANGED, count), max(1, round(count * SHARE))
    return (
        Phase(name="cold"),
        Phase(name="no change", times=AGAIN),
        Phase(
            name=f"a paragraph into {few} documents",
            edit=lambda texts: edits.insert_paragraphs(texts, sentences, few, seed=1),
        ),
        Phase(
            name=f"a number in {few} documents",
            edit=lambda texts: edits.change_numbers(texts, few, seed=2),
        ),
        Phase(
            name=f"a heading in {few} documents",
            edit=lambda texts: edits.rename_headings(texts, sentences, few, seed=3),
        ),
        Phase(
            name=f"{gone} of {count} documents deleted",
            edit=lambda texts: edits.delete_documents(texts, gone, seed=4),
        ),
        Phase(name="another chunker", recut=True),
    )
