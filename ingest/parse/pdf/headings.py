"""Which printed lines are headings: the outline says so, or the type does."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.parse.pdf.captions import is_caption
from ingest.parse.pdf.lines import Line, same_baseline
from ingest.parse.pdf.links import Entry, title_key
from ingest.parse.wording import after_number, is_bare_number, strip_numbering

OUTLINE_AND_FONT, OUTLINE, FONT, NONE = 1.0, 0.9, 0.7, 0.4
"""structure_confidence by what told the heading (docs/chunks.md)."""

FONT_LEVEL = 100
"""Level of headings told by type alone where there is an outline: below all of its levels."""

LARGER = 0.9
"""Points above the size of the body that make a line a heading; measured over six manuals."""

_WINDOW_ABOVE, _WINDOW_BELOW = 72.0, 8.0
"""Points around a heading within which its bookmark points (chapters lie up to 60 pt above)."""

_MOST_LINES_OF_ENTRY = 12
"""Lines, as MuPDF cuts them, that one bookmark's title may be printed on."""

_SAME_SIZE = 0.88
"""Ratio of two sizes above which they are one heading: a code font in it is set smaller."""

_DISPLAY = 1.4
"""Times the size of the body from which type is display type, where sentences are titles too: the second step
above the text is 1.44 in LaTeX (`\\Large`) and 1.5 in CSS (`h2`); the first is 1.2 and 1.17.
"""

_NARROWEST_LINE, _WIDEST_LINE = 40, 75
"""Letters of a line in the narrowest column, and in the widest that reads well (Bringhurst 2.1.2)."""

_STOP = re.compile(r"(?:\w{4}(?<!Prof|Corp|Dept|Univ|Chap|Sect)|\d|[^\w\s.])\.\s+(\w)|。\w")
"""A full stop and what follows it; not after initials and abbreviations."""

_MOST_LINES_OF_PLAIN_TITLE = 3
"""Lines that a title without bold type or capitals has: more of one type are a paragraph."""

_WORDS_OF_LABEL = 4
"""Words before a full stop that may be a label: "Part II. Article 5. Scope"."""

_NO_END_OF_TITLE = ".,;:"
_ENDS_OF_SENTENCES = (*_NO_END_OF_TITLE, "。")
_QUESTION = ("?", "？")
_NOT_BROKEN_OFF = (".", "!", "?", ":", ";", "…", "。")
_CLOSERS = "\"'’”»)]」』"
_MAX_LINES, _MAX_CHARS = 6, 300
_MOST_LINES_OF_HEAD = 2
_OPENING = "\"'‘“«¿¡$%@#/-–−_"
"""Signs a title may begin with; dots are leaders, and brackets label drawings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfHeading:
    """A heading and the lines [start, end) of its page that print it; none where they were not found.

    `bookmark` is the height on the page that its bookmark points to.
    """

    title: str
    level: int
    confidence: float
    start: int
    end: int
    bookmark: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """What type a document is set in: the size of most letters, and levels of heading sizes."""

    body: float
    levels: Mapping[float, int]

    def stands_out(self, line: Line) -> bool:
        """Whether a line is larger than the body, or bold."""
        return line.size > self.body + LARGER or line.bold


def body_size(lines: Iterable[Line]) -> float:
    """Return the size that most letters are set in; 0 for no text."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], size), default=0.0)


def locate_entries(entries: Sequence[Entry], lines: Sequence[Line], type_: Type) -> tuple[PdfHeading, ...]:
    """Find the lines of one page that print the bookmarks leading there, in reading order.

    A bookmark whose title is not printed keeps its place by height, or the top of the page.
    """
    texts = [" ".join(line.text.split()) for line in lines]
    # Bookmarks often leave the number out, also where the printed line might be a phrase.
    keys = [[title_key(after(text)) for text in texts] for after in (strip_numbering, after_number)]
    taken: set[int] = set()
    headings: list[PdfHeading] = []
    for entry in entries:
        run = _printed(entry, lines, keys, taken, type_)
        if run is None:
            at = _place(entry, lines)
            headings.append(_listed(entry, (at, at), OUTLINE))
            continue
        taken.update(range(*run))
        sure = OUTLINE_AND_FONT if type_.stands_out(lines[run[1] - 1]) else OUTLINE
        headings.append(_listed(entry, run, sure))
    return tuple(sorted(headings, key=lambda heading: (heading.start, heading.end)))


def _listed(entry: Entry, run: tuple[int, int], confidence: float) -> PdfHeading:
    return PdfHeading(
        title=entry.title,
        level=entry.level,
        confidence=confidence,
        start=run[0],
        end=run[1],
        bookmark=entry.y,
    )


def _printed(
    entry: Entry, lines: Sequence[Line], keys: Sequence[Sequence[str]], taken: set[int], type_: Type
) -> tuple[int, int] | None:
    wanted = title_key(entry.title)
    found = ([run for run in _matches(wanted, lines, each) if not taken & set(range(*run))] for each in keys)
    runs = next((runs for runs in found if runs), [])

    def rank(run: tuple[int, int]) -> tuple[bool, bool, int]:
        first = lines[run[1] - 1]
        return not _in_window(entry.y, lines[run[0]]), not type_.stands_out(first), run[0]

    return min(runs, key=rank, default=None)


def _in_window(y: float | None, line: Line) -> bool:
    return y is None or line.bbox.y0 - _WINDOW_ABOVE <= y <= line.bbox.y1 + _WINDOW_BELOW


def _matches(wanted: str, lines: Sequence[Line], keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    for start, key in enumerate(keys):
        if not key or not wanted.startswith(key):
            continue
        end = _end_of(wanted, start, lines, keys)
        if end is not None:
            yield _with_number(start, lines), end


def _end_of(wanted: str, start: int, lines: Sequence[Line], keys: Sequence[str]) -> int | None:
    found = keys[start]
    end = start + 1
    while found != wanted:
        if end == len(lines) or end - start == _MOST_LINES_OF_ENTRY or not wanted.startswith(found):
            return None
        # The numbering of a line inside a title belongs to the title.
        found += title_key(lines[end].text)
        end += 1
    return end


def _with_number(start: int, lines: Sequence[Line]) -> int:
    """Take in the number printed before the title: beside it, or as "Chapter 3" above it."""
    while start and is_bare_number(lines[start - 1].text) and _belongs(lines[start - 1], lines[start]):
        start -= 1
    return start


def _belongs(number: Line, title: Line) -> bool:
    if same_baseline(number, title):
        return True
    gap = title.bbox.y0 - number.bbox.y1
    return number.bold == title.bold and 0 <= gap < 4 * title.size


def _place(entry: Entry, lines: Sequence[Line]) -> int:
    if entry.y is None:
        return 0
    below = (index for index, line in enumerate(lines) if line.bbox.y1 >= entry.y)
    return next(below, len(lines))


def find_by_font(
    blocks: Sequence[tuple[int, int]], lines: Sequence[Line], type_: Type, *, bold_alone: bool
) -> tuple[tuple[int, int], ...]:
    """Return the runs of lines [start, end) that look like headings on one page.

    Lines larger than the body, or (`bold_alone`) a short block that is bold throughout. Blocks that
    follow each other closely in one style are one heading. Running text in larger type is none.
    """
    runs: list[tuple[int, int]] = []
    for start, end in blocks:
        for found in _runs_in_block(start, end, lines, type_, bold_alone):
            if runs and runs[-1][1] == found[0] and _continues(lines[found[0] - 1], lines[found[0]]):
                runs[-1] = (runs[-1][0], found[1])
            else:
                runs.append(found)
    return tuple(
        run
        for run in runs
        if _is_title(lines[run[0] : run[1]], type_) and not _is_running_text(*run, lines, type_)
    )


def _runs_in_block(
    start: int, end: int, lines: Sequence[Line], type_: Type, bold_alone: bool
) -> Iterator[tuple[int, int]]:
    """MuPDF puts headings that stand close into one block with each other and with the text."""
    if bold_alone and all(line.bold and not line.mono for line in lines[start:end]):
        yield from _of_one_size(start, end, lines)
        return
    first = None
    if bold_alone and (above := _set_above(start, end, lines)):
        yield from _of_one_size(start, above, lines)
        start = above
    for index in range(start, end + 1):
        if index < end and lines[index].size > type_.body + LARGER:
            first = index if first is None else first
        elif first is not None:
            yield from _of_one_size(first, index, lines)
            first = None


def _set_above(start: int, end: int, lines: Sequence[Line]) -> int | None:
    """Where the text of a block begins below lines that are bold, or in italics behind a number."""
    first = next((at for at in range(start, end) if not _is_marked_out(lines[at])), end)
    if not start < first < end or first - start > _MOST_LINES_OF_HEAD:
        return None
    last, below = lines[first - 1], lines[first]
    stands_in = below.bbox.x0 >= lines[start].bbox.x0 + below.size  # the description of a term
    longest = max(line.bbox.x1 for line in lines[first:end])
    if stands_in or same_baseline(last, below) or last.bbox.x1 > longest or last.size < below.size:
        return None
    return first


def _is_marked_out(line: Line) -> bool:
    return not line.mono and (line.bold or (line.italic and numbered_depth(line.text) > 0))


def _of_one_size(start: int, end: int, lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    first = start
    for index in range(start + 1, end):
        above, below = sorted((lines[index - 1].size, lines[index].size))
        if above < _SAME_SIZE * below:
            yield first, index
            first = index
    yield first, end


def _continues(above: Line, below: Line) -> bool:
    gap = below.bbox.y0 - above.bbox.y1
    return above.size == below.size and above.bold == below.bold and -above.size < gap < 0.6 * above.size


def _is_title(lines: Sequence[Line], type_: Type) -> bool:
    text = " ".join(line.text for line in lines)
    if len(lines) > _MAX_LINES or len(text) > _MAX_CHARS or sum(map(str.isalpha, text)) < 3:
        return False
    if is_caption(lines) or not (text.lstrip()[0].isalnum() or text.lstrip()[0] in _OPENING):
        return False
    if not all(line.upright for line in lines) or all(is_bare_number(line.text) for line in lines):
        return False
    return lines[0].size > type_.body + LARGER or text.rstrip()[-1] not in _NO_END_OF_TITLE


def _is_running_text(start: int, end: int, lines: Sequence[Line], type_: Type) -> bool:
    """Whether lines that only their size, a little above the body, makes a heading are read as sentences.

    They are part of a sentence that began above or goes on below, or fill more than a line with whole ones.
    Bold type and capitals are chosen for headings, also for those that are sentences; and a question of
    several sentences is a heading, as in lists of questions and answers.
    """
    run = lines[start:end]
    text = " ".join(line.text.strip() for line in run)
    if any(line.bold for line in run) or text.isupper() or run[0].size >= _DISPLAY * type_.body:
        return False
    if _lines_of_one_type(start, end, lines) > _MOST_LINES_OF_PLAIN_TITLE and (
        (start and _goes_on(lines[start - 1], run[0])) or (end < len(lines) and _goes_on(run[-1], lines[end]))
    ):
        return True
    if len(text) <= _WIDEST_LINE or text.rstrip(_CLOSERS).endswith(_QUESTION):
        return False
    return text.rstrip(_CLOSERS).endswith(_ENDS_OF_SENTENCES) or _holds_sentence_end(text)


def _lines_of_one_type(start: int, end: int, lines: Sequence[Line]) -> int:
    """How many lines follow each other closely in the type of some of them; a title is few."""
    first, last = start, end
    while first and _follows(lines[first - 1], lines[first]):
        first -= 1
    while last < len(lines) and _follows(lines[last - 1], lines[last]):
        last += 1
    return last - first


def _follows(above: Line, below: Line) -> bool:
    same_type = above.bold == below.bold and abs(above.size - below.size) < LARGER
    return same_type and abs(below.bbox.y0 - above.bbox.y1) < above.size


def _holds_sentence_end(text: str) -> bool:
    return any(
        stop[1] is None or (stop[1].isupper() and len(text[: stop.start()].split()) > _WORDS_OF_LABEL)
        for stop in _STOP.finditer(text)
    )


def _goes_on(above: Line, below: Line) -> bool:
    """Whether a sentence runs over the end of a line: it fills the line, and goes on in lower case below."""
    filled = len(above.text.strip()) >= _NARROWEST_LINE and below.bbox.x1 < above.bbox.x1 + above.size
    return (
        _follows(above, below)
        and filled
        and below.text.lstrip()[:1].islower()
        and not above.text.rstrip().rstrip(_CLOSERS).endswith(_NOT_BROKEN_OFF)
        and above.bbox.x0 < below.bbox.x1
    )


def rank_sizes(titles: Iterable[tuple[float, str]]) -> dict[float, int]:
    """Return the sizes that headings are set in their levels from 1, from the numbers in the titles.

    A size whose titles carry numbers has the depth of most of them ("3.2" is 2); another is one level
    below the next larger size.
    """
    depths: dict[float, Counter[int]] = {}
    for size, text in titles:
        depth = numbered_depth(text)
        depths.setdefault(size, Counter()).update([depth] if depth else [])
    levels: dict[float, int] = {}
    above = 0
    for size in sorted(depths, reverse=True):
        counted = depths[size]
        above = max(counted, key=lambda depth: (counted[depth], -depth)) if counted else above + 1
        levels[size] = above
    return levels


def numbered_depth(text: str) -> int:
    """Return 2 for "3.2 Title", 1 for "3 Title", 0 for a title without number."""
    number, _, rest = text.strip().partition(" ")
    digits = number.rstrip(".").split(".")
    return len(digits) if rest and all(part.isdigit() and len(part) < 4 for part in digits) else 0
