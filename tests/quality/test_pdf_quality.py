"""Real PDFs, held against their bookmarks, their HTML twins, and what people say they hold."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pymupdf
import pytest

from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ParseError, UnsupportedMedia
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import PdfDoc, RegionType
from tests.quality.floors import hold
from tests.quality.pdf_bombs import flate_bomb, link_bomb, outline_loop
from tests.quality.pdf_boxes import lost_chunks
from tests.quality.pdf_checks import holds, load_checks
from tests.quality.pdf_documents import (
    Twin,
    data_folder,
    load_twins,
    parse_file,
    regions_of,
    tokenizer_file,
)
from tests.quality.pdf_edits import PARAGRAPH, embedded_again, set_again, with_page, with_paragraph
from tests.quality.pdf_outlined import with_outline
from tests.quality.pdf_tables import Score, found_tables, gold_tables, matched
from tests.quality.pdf_twins import bookmarks, missed_bookmarks, shared_paths

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
GOLD = "pdf-gold"
SECONDS = 30.0
"""Deadline of one hostile PDF; the killing itself may take a little longer."""


@cache
def twins() -> tuple[tuple[Twin, GraphFragment], ...]:
    return tuple((twin, parse_file(twin.pdf, f"{twin.name}.pdf")) for twin in load_twins())


@cache
def parsed(file: Path) -> GraphFragment:
    return parse_file(file.read_bytes(), file.name)


def test_bookmarks_are_headings_on_their_page_and_at_their_height(figures: list[str]) -> None:
    found = total = 0
    for twin, fragment in twins():
        marks = bookmarks(twin.pdf)
        missed = missed_bookmarks(marks, fragment)
        total += len(marks)
        found += len(marks) - len(missed)
        figures.extend(f"  {twin.name} p. {mark.page_no}: missed {mark.title}" for mark in missed)
    hold(figures, "pdf", "outline_titles", found / total, note=f"of {total}")


def test_heading_paths_are_those_of_the_html_twin(figures: list[str]) -> None:
    same = total = 0
    for twin, fragment in twins():
        pages = [parse_file(data, name) for name, data in twin.html]
        shared, others = shared_paths(bookmarks(twin.pdf), fragment, pages)
        same += len(shared)
        total += len(shared) + len(others)
        figures.extend(f"  {twin.name}: not in the HTML: {' > '.join(path)}" for path in others)
    hold(figures, "pdf", "same_heading_path", same / total, note=f"of {total}")


def test_tables_lie_where_people_drew_them_with_the_same_neighbours(figures: list[str]) -> None:
    files = sorted(data_folder(f"{GOLD}/icdar2013-tables").glob("*.pdf"))
    _hold_tables(figures, "table", {file: parsed(file) for file in files})


def test_an_outline_costs_a_report_none_of_its_tables(figures: list[str]) -> None:
    files = sorted(data_folder(f"{GOLD}/icdar2013-tables").glob("*.pdf"))
    outlined = {file: parse_file(with_outline(file.read_bytes()), file.name) for file in files}
    _hold_tables(figures, "outlined_table", outlined)


def _hold_tables(figures: list[str], name: str, reports: Mapping[Path, GraphFragment]) -> None:
    regions, cells = Score(), Score()
    for pdf, fragment in reports.items():
        gold, found = gold_tables(pdf), found_tables(pdf, fragment)
        pairs = matched(gold, found)
        regions.add(len(gold), len(found), len(pairs))
        cells.add(
            sum(table.relations.total() for table in gold),
            sum(table.relations.total() for table in found),
            sum((one.relations & other.relations).total() for one, other in pairs),
        )
    hold(figures, "pdf", f"{name}_region_recall", regions.recall, note=f"of {regions.stated}")
    hold(figures, "pdf", f"{name}_region_precision", regions.precision, note=f"of {regions.found}")
    hold(figures, "pdf", f"{name}_cell_recall", cells.recall, note=f"of {cells.stated} neighbours")
    hold(figures, "pdf", f"{name}_cell_precision", cells.precision, note=f"of {cells.found} neighbours")


def test_pages_pass_the_checks_that_plain_text_passes_and_more(figures: list[str]) -> None:
    folder = data_folder(f"{GOLD}/olmocr-bench-sample")
    ours: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for check in load_checks(folder):
        file, page_no, kind = folder / "pdfs" / check["pdf"], int(check["page"]), check["type"]
        text, tables = _page(file, page_no)
        passed = holds(check, text, tables)
        total[kind] += 1
        ours[kind] += passed
        plain[kind] += holds(check, _plain_text(file, page_no), [])
        if kind in ("order", "table") and not passed:
            figures.append(f"  missed: {check['id']}")
    for kind in sorted(total):
        figures.append(f"  {kind}: {ours[kind]} of {total[kind]}, plain text {plain[kind]}")
        assert ours[kind] >= plain[kind], kind
    for kind in ("order", "table"):
        hold(figures, "pdf", f"olmocr_{kind}", ours[kind], note=f"of {total[kind]}")


def _page(file: Path, page_no: int) -> tuple[str, list[list[list[str]]]]:
    content = set(RegionType) - {RegionType.HEADER, RegionType.FOOTER}
    regions = [region for region in regions_of(parsed(file), *content) if region.page_no == page_no]
    tables = [region.text for region in regions if region.region_type is RegionType.TABLE]
    text = "\n\n".join(region.text for region in regions)
    return text, [[row.split("\t") for row in table.split("\n")] for table in tables]


def _plain_text(file: Path, page_no: int) -> str:
    with pymupdf.open(file) as document:
        return str(document[page_no - 1].get_text())


def test_text_of_chunks_stands_inside_their_boxes(figures: list[str]) -> None:
    manuals = [(twin.name, twin.pdf, fragment) for twin, fragment in twins()]
    hold(figures, "pdf", "text_at_bbox", _found_at_box(manuals, figures))
    files = [
        file
        for folder in ("icdar2013-tables", "docling-pdf/sources", "olmocr-bench-sample/pdfs")
        for file in sorted(data_folder(f"{GOLD}/{folder}").rglob("*.pdf"))
    ]
    hold(
        figures,
        "pdf",
        "text_at_bbox_of_reports",
        _found_at_box([(file.name, file.read_bytes(), parsed(file)) for file in files], figures),
    )


def _found_at_box(documents: list[tuple[str, bytes, GraphFragment]], figures: list[str]) -> float:
    lost = total = 0
    for name, data, fragment in documents:
        chunks = lost_chunks(data, fragment)
        judged = {chunk.id for chunk in fragment.chunks if chunk.round_trip is False}
        # What the parser does not find is not there; of what it finds, neighbours' letters may part some.
        assert judged <= {chunk.id for chunk in chunks}, name
        lost += len(chunks)
        total += len(fragment.chunks)
        figures.extend(
            f"  {name} p. {chunk.page_no}: not at its box: {chunk.text[:60]!r}" for chunk in chunks
        )
    return 1 - lost / total


def test_an_edit_costs_what_it_changed(figures: list[str]) -> None:
    long = next((twin, old) for twin, old in twins() if _pages(old) >= 190)
    twin, old = long
    longer = parse_file(with_page(twin.pdf, 1), "manual.pdf")
    own = sum(chunk.page_no == 2 for chunk in longer.chunks)
    again = parse_file(with_paragraph(twin.pdf), "manual.pdf")
    hold(
        figures,
        "pdf_at_most",
        "embedded_after_paragraph",
        embedded_again(old, again),
        note=f"{_pages(old)} pages",
    )
    hold(figures, "pdf_at_most", "embedded_after_page_over_its_own", embedded_again(old, longer) - own)
    texts = [chunk.text for chunk in old.chunks]
    before, after = (parse_file(set_again(given), "set.pdf") for given in (texts, [PARAGRAPH, *texts]))
    figures.append(f"  with reflow: {embedded_again(before, after)} of {len(after.chunks)} chunks")


def _pages(fragment: GraphFragment) -> int:
    return next(node.page_count for node in fragment.nodes if isinstance(node, PdfDoc))


def test_hostile_pdfs_end_within_their_limit_and_cost_the_parent_nothing(figures: list[str]) -> None:
    ends: Counter[str] = Counter()
    slowest = 0.0
    before = _peak_rss_mb()
    limits = ChildLimits(pdf_seconds=SECONDS)
    with ParserPool(workers=1, tokenizer=tokenizer_file(), limits=limits) as pool:
        pool.parse(b"# Lamps\n\nThey give light.\n", _request("warm.md"))
        for name, data in _hostile():
            started = time.monotonic()
            ends[_end(pool, name, data)] += 1
            slowest = max(slowest, time.monotonic() - started)
        # A parser that serves on after all of them is whole.
        assert pool.parse(outline_loop(), _request("last.pdf")).record
    figures.append(f"  {sum(ends.values())} hostile PDFs: {dict(sorted(ends.items()))}")
    hold(figures, "pdf_at_most", "hostile_seconds", round(slowest, 1))
    hold(figures, "pdf_at_most", "hostile_parent_rss_mb", round(_peak_rss_mb() - before))


def _hostile() -> Iterator[tuple[str, bytes]]:
    for file in sorted(data_folder("pdf-robust").rglob("*.pdf")):
        yield file.name, file.read_bytes()
    yield "flate-bomb.pdf", flate_bomb()
    yield "link-bomb.pdf", link_bomb()
    yield "outline-loop.pdf", outline_loop()


def _end(pool: ParserPool, name: str, data: bytes) -> str:
    try:
        pool.parse(data, _request(name))
    except (ParseError, UnsupportedMedia) as error:
        if "parser" in error.message:
            return "stopped"
        return "needs_password" if "needs_password" in error.message else "refused"
    return "parsed"


def _request(name: str) -> ParseRequest:
    return ParseRequest(uri=f"https://docs.example/{name}", source="docs", url=f"https://docs.example/{name}")


def _peak_rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_a_manual_is_parsed_at_forty_pages_a_cpu_second(figures: list[str]) -> None:
    twin = next(twin for twin, _ in twins() if twin.name.startswith("developers-reference"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "manual.pdf"
        file.write_bytes(twin.pdf)
        command = [sys.executable, "-m", "tests.quality.pdf_speed", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    measured = json.loads(done.stdout)
    seconds, reading = measured["parse_seconds"], measured["read_seconds"]
    figures.append(
        f"  {measured['megabytes'] / seconds:.2f} MB per CPU-second; "
        f"{seconds / reading:.1f} times get_text('dict') alone"
    )
    hold(figures, "pdf", "pages_per_cpu_second", measured["pages"] / seconds)
