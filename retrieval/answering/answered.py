"""An answer as it is shown: quotable sentences, each on one piece of evidence, and what was left out."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from retrieval.bundle.build import is_whole_line
from retrieval.bundle.prompt import NOT_FOUND, mask_labels
from retrieval.bundle.render import cite_line, label_of, show_line, tell_version, wrap_text
from schemas.evidence import ContextBundle, Evidence

UNIT_MAX = 500
"""Characters; longer code and tables are quoted by lines. A longer sentence is one of these in one line."""
_END = re.compile(r"[.!?…][\"'”’)\]]*(?:\s?\[\d{1,3}\])*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_SHORT = re.compile(
    r"(?:^|[\s(\"'“‘.])(?:[A-Z]|[A-Za-z]\.[A-Za-z]"
    r"|e\.g|i\.e|cf|vs|etc|al|approx|ca|c|b|d|no|nos|vol|fig|figs|eq|sec|ch|p|pp|ed|eds"
    r"|Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Jr|Sr|Inc|Ltd|Co|Corp|Bros)\.$",
    re.IGNORECASE,
)
"""How a text ends whose full stop ends an abbreviation; of "U.S. Army" nobody can tell, so it stays whole."""
_SHORT_MAX = 8
"""Length of the longest of them with what stands before it; a list of initials is not read again at each."""
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)*\n")
_ITEM = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s")
_NOTE = re.compile(r"\[\d{1,3}\](?:\s|$)")
"""The mark that a footnote begins with, on its line or alone over its text."""
_OPEN = re.compile(r"[\w,:][\"'”’)]?$")
"""How a block ends whose sentence may go on behind what is set into it."""
_GOES_ON = re.compile(r"[^\W\d_]+[\s,;]")
"""A word and no name of a program, which may begin a sentence in lower case."""


@dataclass(frozen=True, slots=True)
class QuotablePart:
    """A sentence or a line of a passage, white space folded.

    `joint` is what stands before it: a space within a line, else line ends and the indentation. Parts of one
    `unit` are quoted together or not at all: a listing, a footnote, a sentence around what is set into it.
    """

    text: str
    joint: str = " "
    unit: int = 0


def split_quotable(text: str) -> tuple[str, ...]:
    """Cut a passage at line ends and behind sentences; the parts are its own words, white space folded."""
    return tuple(part.text for part in quotable_parts(text))


def quotable_parts(text: str) -> tuple[QuotablePart, ...]:
    """Cut a passage as `split_quotable` does, and say how the parts stand to each other."""
    parts: list[QuotablePart] = []
    for blocks in _units([block.strip("\n") for block in _BLANK.split(text) if block.strip()]):
        cut = [tuple(_cut(block)) for block in blocks]
        bound = _bound(blocks, cut)
        first = parts[-1].unit + 1 if parts else 0
        for at, part in enumerate(one for block in cut for one in block):
            parts.append(replace(part, unit=first + (bound.start if at in bound else at)))
    return tuple(parts)


def _bound(blocks: list[str], cut: list[tuple[QuotablePart, ...]]) -> range:
    """Return which parts of a unit must stay together."""
    count = sum(map(len, cut))
    if _NOTE.match(blocks[0]):
        return range(count)
    if len(blocks) > 1:
        return range(0 if is_solid(blocks[0]) else len(cut[0]) - 1, count - len(cut[-1]) + 1)
    fits = sum(len(part.text) + 1 for part in cut[0]) <= UNIT_MAX
    return range(count if fits and is_solid(blocks[0]) else 0)


def _units(blocks: list[str]) -> list[list[str]]:
    """Join the text of a footnote to its mark, and a sentence to its beginning before what is set into it."""
    units: list[list[str]] = []
    for block in blocks:
        begun = _begun(units, block)
        units[begun:] = [[*(one for unit in units[begun:] for one in unit), block]]
    return units


def _begun(units: list[list[str]], block: str) -> int:
    """Return the unit that *block* goes on with, else where the next one begins."""
    if units and _NOTE.fullmatch(units[-1][-1].strip()):
        return len(units) - 1
    if not (block[:1].islower() and _GOES_ON.match(block)) or is_solid(block):
        return len(units)
    lead = next((at for at in range(len(units) - 1, -1, -1) if not is_solid(units[at][-1])), 0)
    is_set_in = any(is_solid(unit[-1]) for unit in units[lead:])
    is_open = bool(units) and (is_solid(units[lead][-1]) or bool(_OPEN.search(units[lead][-1])))
    return lead if is_set_in and is_open else len(units)


def is_solid(block: str) -> bool:
    """Whether a block is code or a table, by half of its lines."""
    lines = [line for line in block.split("\n") if not _ITEM.match(line)]
    return 0 < block.count("\n") + 1 <= 2 * sum(map(is_set_line, lines))


def is_set_line(line: str) -> bool:
    """Whether a line is of code or a table, by its form."""
    return line[:2].isspace() or is_whole_line(line)


def _cut(block: str) -> Iterator[QuotablePart]:
    for at, line in enumerate(block.split("\n")):
        before = "\n\n" if at == 0 else "\n"
        for part in filter(None, _sentences(" ".join(line.split()))):
            yield QuotablePart(
                part, before if before == " " else before + line[: len(line) - len(line.lstrip())]
            )
            before = " "


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        stop = match.start() + 1
        if not _SHORT.search(line, max(0, stop - _SHORT_MAX), stop):
            yield line[start : match.end()].strip()
            start = match.end()
    yield line[start:].strip()


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


_PROSE = re.compile(r"(?:[^\W\d_]{2,}[,;]? ){4}[^\W\d_]{2,}")
"""Five words in a row."""


def is_bare_code(quotation: Iterable[Grounded]) -> bool:
    """Whether a quotation is code without a word about it; the row of a table is none."""
    lines = ["".join((one.joint.rpartition("\n")[2], one.text)) for one in quotation]
    return is_solid("\n".join(lines)) and not any(" | " in line or _PROSE.search(line) for line in lines)


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


INDENT = "     "
SHOWN = 300
"""Characters of a passage that is near and no answer."""


def cited_labels(answer: Answered) -> tuple[str, ...]:
    """Return the labels that an answer uses, or, where nothing was found, those of the nearest evidence."""
    return tuple(label for one in answer.sentences for label in one.labels) or answer.nearest


def render_answer(answer: Answered, bundle: ContextBundle, *, width: int) -> str:
    """Return the answer as a paragraph and a line for each label; else "not found" with what came nearest.

    Of an answer that tells how things are joined, the chains stand between the two.
    """
    cited = cited_labels(answer)
    shown = [one for one in bundle.evidence if one.S in cited]
    parts = [wrap_text(answer.text, width=width), *_chains(answer, bundle)]
    if answer.not_found and shown:
        parts += ["Nearest:", *(_passage(one, width) for one in shown)]
    elif shown:
        parts.append("\n".join(map(_line, shown)))
    return "\n\n".join(parts)


def _chains(answer: Answered, bundle: ContextBundle) -> list[str]:
    told = {one.text for one in answer.sentences}
    chains = [chain for one in bundle.relations if one.text in told for chain in one.chains]
    return ["\n".join(show_line(chain) for chain in dict.fromkeys(chains))] if chains else []


def _line(evidence: Evidence) -> str:
    version = f", {tell_version(evidence.versions)}" if evidence.versions else ""
    return show_line(f"{label_of(evidence)} {cite_line(evidence, evidence.pdf)}{version}")


def _passage(evidence: Evidence, width: int) -> str:
    return f"{_line(evidence)}\n{wrap_text(_shortened(evidence.text), width=width, indent=INDENT)}"


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN].rsplit(maxsplit=1)[0]} ..."
