"""What became of the words that a reader of a document sees: kept, left out for a reason, or lost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

NOTABLE = 0.01
"""Share of the words lost above which a document is named in a run's report."""

LOSS = (
    "more than 1 % of its words are in no chunk, and no reason is known; see what is lost: sitegraph inspect"
)

_TOLD = 8

Explained = Iterable[tuple[str, str]]
"""Texts that a parser left out, each behind its reason; made when somebody asks for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostWord:
    """A word that a reader sees, in no chunk and left out for no reason, between the words around it."""

    word: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCoverage:
    """The account of one document, in words.

    seen == kept + the sum of `dropped` + lost. `dropped` has a count for each reason that the parser gave,
    the most first; `invented` counts words of the chunks that no reader sees. `losses` and `inventions` are
    the first of each, in lower case.
    """

    seen: int
    kept: int
    lost: int
    dropped: tuple[tuple[str, int], ...] = ()
    invented: int = 0
    losses: tuple[LostWord, ...] = ()
    inventions: tuple[str, ...] = ()

    @property
    def lost_share(self) -> float:
        """Share of the words seen that is lost."""
        return self.lost / self.seen if self.seen else 0.0

    @property
    def is_notable(self) -> bool:
        """Whether so much is lost that somebody should look."""
        return self.lost_share > NOTABLE

    @property
    def told_loss(self) -> str:
        """Say in a line how much is lost, and the first words of it."""
        words = " ".join(loss.word for loss in self.losses[:_TOLD])
        first = f", first: {words}" if words else ""
        return f"{self.lost} of {self.seen} words are in no chunk, without a reason{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCounts:
    """The accounts of many documents, in words; `unknown` are documents without one, `notable` lose much."""

    documents: int = 0
    unknown: int = 0
    seen: int = 0
    kept: int = 0
    lost: int = 0
    invented: int = 0
    notable: int = 0


@dataclass(slots=True)
class UnreadWords:
    """What a parser says that it leaves out; nothing of it is read before somebody asks."""

    told: list[Explained] = field(default_factory=list)

    def add(self, explained: Explained) -> None:
        """Take texts with their reasons, those that are cheap to tell first."""
        self.told.append(explained)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for explained in self.told:
            yield from explained
