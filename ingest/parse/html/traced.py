"""What was found out about the text of a page, block by block."""

from dataclasses import dataclass
from enum import StrEnum

PASSED_OVER = "trafilatura took it for boilerplate, and it does not read as a part of the text"
"""The reason of what the vote cuts out of the content."""


class BlockStatus(StrEnum):
    """What became of a block."""

    READ = "read"
    LEFT_OUT = "left_out"  # inside the content, and by a rule of the reader not read
    OUTSIDE = "outside"  # not in the element that contains the content


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedBlock:
    """Text of a page in one block, or in all of an element that is not read; lines where blocks end.

    `reason` is empty for what is read. `culprit` names the element that the verdict is about, `place` the
    block itself with the two elements around it. `level` is a heading's. `voted` counts the words in blocks
    (of five and more) that trafilatura took for content, None where it was not asked or said next to nothing.
    """

    text: str
    verdict: BlockStatus
    place: str
    reason: str = ""
    culprit: str = ""
    level: int = 0
    words: int = 0
    voted: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningStep:
    """What a selector matched, by its name: elements, and words in them; of a hook, how many it took."""

    name: str
    elements: int
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrace:
    """How a page's content was found, and all of its text.

    `cleaning` has a step for each part of what the source says of cleaning.
    """

    family: str
    purpose: str
    decided_by: str
    content: str
    explanation: str
    blocks: tuple[TracedBlock, ...]
    cleaning: tuple[CleaningStep, ...] = ()
