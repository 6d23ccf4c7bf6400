"""An answer as it is shown: sentences that each rest on one piece of evidence, and what was left out."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from retrieval.answering.sentences import is_set_line
from retrieval.bundle.parse_answer import mask_labels
from retrieval.bundle.prompt import NOT_FOUND


class AnsweredBy(StrEnum):
    """Who worded an answer."""

    EXTRACT = "extract"
    GRAPH = "graph"
    MODEL = "model"
    WIKI = "wiki"


_QUOTED = frozenset({AnsweredBy.EXTRACT, AnsweredBy.WIKI})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """A sentence and the label of the evidence that it rests on; `logit` is a cross-encoder's, or None: of a
    quotation that of the passage, for the whole question.

    Only a sentence that a person wrote on a page of the wiki may have no label. `also` are the labels of what
    else it rests on: a sentence that tells a path has one for each hop. `joint` is what parts it from the one
    before it in its passage: a space, or line ends where it begins a block, an item or a line of code.
    """

    text: str
    S: str | None
    logit: float | None = None
    also: tuple[str, ...] = ()
    joint: str = " "

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels."""
        return (self.S, *self.also) if self.S else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A sentence that was left out, with the evidence that came nearest, and why."""

    text: str
    S: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer to a question.

    `verified`: a cross-encoder held each sentence against its evidence, or it is copied from there. `nearest`
    are labels of the evidence that came nearest where nothing was found. `notes` are for people.
    """

    by: AnsweredBy
    sentences: tuple[Grounded, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    nearest: tuple[str, ...] = ()
    verified: bool = True
    notes: tuple[str, ...] = ()

    @property
    def not_found(self) -> bool:
        """Whether nothing is left to say."""
        return not self.sentences

    @property
    def text(self) -> str:
        """The sentences, each with its label, which is the only one in it; else "not found".

        Sentences that are quoted in a row from one passage have its label once, behind the last of them.
        """
        if self.by not in _QUOTED:
            runs = [(one.labels, [one]) for one in self.sentences]
        else:
            runs = [(labels, list(run)) for labels, run in groupby(self.sentences, lambda one: one.labels)]
        gap = "\n\n" if any("\n" in one.joint for _, run in runs for one in run[1:]) else " "
        return gap.join(_shown(run, labels) for labels, run in runs) or NOT_FOUND


def _shown(run: list[Grounded], labels: tuple[str, ...]) -> str:
    said = "".join(f"{one.joint if at else ''}{mask_labels(one.text)}" for at, one in enumerate(run))
    # Right behind code a label would read as part of it.
    parted = "\n" if is_set_line(said.rpartition("\n")[2]) else " "
    return parted.join(filter(None, (said, " ".join(f"[{label}]" for label in labels))))
