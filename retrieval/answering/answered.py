"""An answer as it is shown: sentences that each rest on one piece of evidence, and what was left out."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

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
    else it rests on: a sentence that tells a path has one for each hop.
    """

    text: str
    S: str | None
    logit: float | None = None
    also: tuple[str, ...] = ()

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
        said = (
            (*(mask_labels(one.text) for one in run), *(f"[{label}]" for label in labels))
            for labels, run in runs
        )
        return " ".join(part for parts in said for part in parts) or NOT_FOUND
