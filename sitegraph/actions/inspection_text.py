"""An inspection as text for a terminal, and as one HTML file without scripts; all words are escaped."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ingest.parse.html.trace import BlockStatus, CleaningStep
from ingest.parse.pdf.opening import PagePicture
from retrieval.bundle.render import show_line, wrap_text
from schemas.fragment import WordCoverage
from schemas.nodes import BBox, PageSize, RegionType, turn
from schemas.text import replace_unseen
from sitegraph.actions.inspection import (
    BlockShown,
    ChapterShown,
    ChunkShown,
    PageShown,
    RegionShown,
    Report,
    SectionShown,
)

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_LINKS = 40
_PREVIEW = 70
_INDENT = "      "


def render_inspection(report: Report, *, width: int) -> str:
    """Return facts, doubts, the tree, the chunks, what was not read, and the links."""
    parts = (
        _facts(report),
        _titled("chapters", _chapters(report.chapters)),
        _titled("sections", _sections(report.sections)),
        _titled("pages", _pages(report.pages)),
        _titled("chunks", _chunks(report.chunks, width)),
        _titled("not read", (*_dropped(report.blocks), *_silent(report.pages))),
        _titled("lost words", _lost(report.coverage)),
        _titled("links", _links(report)),
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines)


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield title
        yield from found


def _facts(report: Report) -> Iterator[str]:
    yield show_line(report.title or "(no title)")
    for name, value in summarise(report):
        yield show_line(f"  {name:<9} {value}")


def summarise(report: Report) -> Iterator[tuple[str, str]]:
    """Return names and values of what is known of the document as a whole."""
    kind = (report.kind, report.template_type, report.lang, report.doc_id)
    yield "address", report.address
    yield "kind", ", ".join(dict.fromkeys(filter(None, kind)))
    if report.last_modified:
        yield "modified", f"{report.last_modified} ({report.last_modified_origin})"
    if report.breadcrumbs:
        yield "trail", " > ".join(report.breadcrumbs)
    if report.content:
        yield "content", f"{report.content.element}: {report.content.explanation}"
    yield from (("cleaned", _step(step)) for step in report.cleaning)
    yield from (("hint", hint) for hint in _hints(report))
    yield from _counts(report)
    yield from (("note", note) for note in report.notes)
    yield from (("warning", warning) for warning in report.warnings)
    yield from (("doubt", doubt.text) for doubt in report.doubts)


def _step(step: CleaningStep) -> str:
    if step.name.startswith("clean "):
        return f"{step.name}: {_change(step.elements, 'element')}, {_change(step.words, 'word')}"
    if not step.elements:
        return f"{step.name}: matches nothing here"
    return f"{step.name}: {_number(step.elements, 'element')}, {_number(step.words, 'word')}"


def _change(taken: int, what: str) -> str:
    return f"{_number(abs(taken), what)} {'added' if taken < 0 else 'taken'}"


def _number(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _hints(report: Report) -> Iterator[str]:
    hints = report.hints
    if hints.noindex:
        yield "noindex: it has no sections and no chunks, since it asks not to be indexed"
    if hints.nofollow:
        yield "nofollow: its links lead to no documents"
    if hints.canonical:
        yield f"canonical {hints.canonical}"
    if hints.refresh:
        yield f"refreshes to {hints.refresh}"
    if hints.alternates:
        yield f"in other languages: {', '.join(hints.alternates)}"
    yield from hints.references


def _counts(report: Report) -> Iterator[tuple[str, str]]:
    if report.blocks:
        words: Counter[BlockStatus] = Counter()
        for block in report.blocks:
            words[block.verdict] += block.words
        yield "words", ", ".join(f"{words[verdict]:,} {name}" for verdict, name in _VERDICTS.items())
    if report.coverage:
        yield "coverage", say_coverage(report.coverage)
    if report.pages:
        types = Counter(region.type.value for page in report.pages for region in page.regions)
        yield "pages", f"{len(report.pages)}, with {_counted(types)}"
    tokens = [chunk.tokens for chunk in report.chunks]
    if tokens:
        found = sum(chunk.in_parent and chunk.at_place is not False for chunk in report.chunks)
        spread = f"{min(tokens)} to {max(tokens)} tokens, median {median(tokens):.0f}"
        yield "chunks", f"{len(tokens)} of {spread}; {found} found where they say they stand"
    if report.links:
        positions = Counter(link.position.value for link in report.links for _ in range(link.count))
        yield "links", _counted(positions)


def say_coverage(coverage: WordCoverage) -> str:
    """What became of the words that a reader sees, in a line."""
    dropped = ", ".join(f"{count:,} {reason}" for reason, count in coverage.dropped)
    left_out = f"left out ({dropped})" if dropped else "left out"
    invented = f"; {coverage.invented:,} in chunks that no reader sees" if coverage.invented else ""
    number = sum(count for _, count in coverage.dropped)
    return (
        f"{coverage.seen:,} words seen: {coverage.kept:,} in chunks, {number:,} {left_out}, "
        f"{coverage.lost:,} lost{invented}"
    )


def _lost(coverage: WordCoverage | None) -> Iterator[str]:
    for loss in coverage.losses if coverage else ():
        yield show_line(f"  {loss.word}: {loss.context}")
    if coverage and coverage.inventions:
        yield show_line(f"  in chunks, and seen by nobody: {', '.join(coverage.inventions)}")


_VERDICTS = {
    BlockStatus.READ: "read",
    BlockStatus.LEFT_OUT: "left out",
    BlockStatus.OUTSIDE: "outside of the content",
}


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def _chapters(chapters: Iterable[ChapterShown]) -> Iterator[str]:
    for chapter in chapters:
        fragment = f"  #{chapter.fragment}" if chapter.fragment else ""
        yield show_line(f"  {chapter.title}{fragment}  ({_number(len(chapter.sections), 'section')})")


def _sections(sections: Iterable[SectionShown]) -> Iterator[str]:
    for section in sections:
        heading = section.heading or "(before the first heading)"
        fragment = f"  #{section.fragment}" if section.fragment else ""
        yield show_line(
            f"  {'  ' * max(0, len(section.heading_path) - 1)}h{section.level} {heading}{fragment}  "
            f"({section.words} words, {_range(section.chunks)})"
        )


def _range(chunks: tuple[int, ...]) -> str:
    if not chunks:
        return "no chunk"
    return f"chunk {chunks[0]}" if len(chunks) == 1 else f"chunks {chunks[0]}-{chunks[-1]}"


def _pages(pages: Iterable[PageShown]) -> Iterator[str]:
    for page in pages:
        label = f" ({page.label})" if page.label else ""
        types = Counter(region.type.value for region in page.regions)
        yield show_line(f"  p. {page.page_no}{label}  {_counted(types) or 'nothing'}")
        for region in page.regions:
            if region.type is RegionType.HEADING:
                yield show_line(f"  {'  ' * len(region.heading_path)}{_preview(region.text)}")


def _chunks(chunks: Iterable[ChunkShown], width: int) -> Iterator[str]:
    for path, group in groupby(chunks, key=lambda chunk: chunk.heading_path):
        yield show_line(f"  {' > '.join(path) or '(no heading)'}")
        for chunk in group:
            yield show_line(
                f"  [{chunk.number}] {chunk.tokens} tokens  {citation_place(chunk)}  "
                f"confidence {chunk.structure_confidence:g}  {verdict_of(chunk)}"
            )
            yield wrap_text(chunk.text, width=width, indent=_INDENT)


def citation_place(chunk: ChunkShown) -> str:
    """Where a citation of the chunk leads."""
    if chunk.bbox is not None:
        box = chunk.bbox
        return f"p. {chunk.page_no} [{box.x0:.1f},{box.y0:.1f},{box.x1:.1f},{box.y1:.1f}]"
    return f"#{chunk.fragment}" if chunk.fragment else "no fragment"


def verdict_of(chunk: ChunkShown) -> str:
    """Whether the chunk was found where it says it stands."""
    if not chunk.in_parent:
        return "NOT in its parent's text"
    return {True: "found", False: "NOT found at its place", None: "in its parent's text"}[chunk.at_place]


def _dropped(blocks: Iterable[BlockShown]) -> Iterator[str]:
    alike: dict[tuple[str, str], list[BlockShown]] = {}
    for block in blocks:
        if block.verdict is not BlockStatus.READ:
            alike.setdefault((block.reason, block.element), []).append(block)
    for (reason, element), group in alike.items():
        times = f" ({len(group)} times)" if len(group) > 1 else ""
        yield show_line(f"  {sum(block.words for block in group):>6} words  {element}{times}: {reason}")
        yield show_line(f"{_INDENT}{_preview(group[0].text)}")


def _silent(pages: Iterable[PageShown]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for page in pages:
        for region in page.regions:
            if region.reason and region.type is not RegionType.HEADING:
                reasons.setdefault(region.reason, []).append(region.text)
    for reason, texts in reasons.items():
        yield show_line(f"  {len(texts):>6} regions  {reason}")
        yield show_line(f"{_INDENT}{_preview(next(filter(None, texts), ''))}")


def _links(report: Report) -> Iterator[str]:
    for link in report.links[:MAX_LINKS]:
        fragment = f"#{link.fragment}" if link.fragment else ""
        times = f" ({link.count} times)" if link.count > 1 else ""
        yield show_line(f"  {link.position.value:<6} {link.target}{fragment}  {_preview(link.text)}{times}")
    if len(report.links) > MAX_LINKS:
        yield f"  … and {len(report.links) - MAX_LINKS} more (--format json)"


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PREVIEW else f"{line[:_PREVIEW]}…"


_FOLDER = Path(__file__).parent
_ABOVE_ALL = frozenset({"warning", "doubt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Displayed:
    """A page as its picture shows it: turned, in points; `tag` is the size of a number on it."""

    width: float
    height: float
    tag: float
    boxes: tuple[tuple[RegionShown, BBox], ...]


def render_page(report: Report, pictures: Iterable[PagePicture]) -> str:
    """Return the whole file as text; a page of a PDF without a picture shows its boxes on white."""
    style = (_FOLDER / "inspection.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment().get_template("inspection.html.j2")
    return template.render(
        report=report,
        facts=[fact for fact in summarise(report) if fact[0] not in _ABOVE_ALL],
        pictures={picture.page_no: picture for picture in pictures},
        region_types=[type_.value for type_ in RegionType],
        style=style,
        style_hash=f"sha256-{digest}",
    )


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, finalize=_show_unseen
    )
    environment.filters |= {
        "place": citation_place,
        "verdict": verdict_of,
        "holds": _holds,
        "displayed": _display,
    }
    return environment


def _show_unseen(value: object) -> object:
    return replace_unseen(value) if type(value) is str else value


def _holds(chunk: ChunkShown) -> bool:
    return chunk.in_parent and chunk.at_place is not False


def _display(page: PageShown, picture: PagePicture | None) -> _Displayed:
    rotation = picture.rotation if picture else 0
    size = page.size
    turned = rotation % 180 == 90
    return _Displayed(
        tag=round(max(size.width, size.height) / 105, 1),
        width=size.height if turned else size.width,
        height=size.width if turned else size.height,
        boxes=tuple((region, _turned(region.bbox, size, rotation)) for region in page.regions),
    )


def _turned(box: BBox, size: PageSize, rotation: int) -> BBox:
    return BBox(*(round(side, 1) for side in astuple(turn(box, size=size, rotation=rotation))))
