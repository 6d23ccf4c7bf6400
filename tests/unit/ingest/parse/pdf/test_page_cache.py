"""A parse that takes pages over gives what one that reads them all gives, and says how many it read."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf import page_cache
from ingest.parse.pdf.document import parse_pdf
from ingest.parse.pdf.page_cache import PageCache
from ingest.parse.pdf.reading import PageReader
from schemas.errors import ParseError
from schemas.fragment import GraphFragment
from schemas.ids import canonical_json
from schemas.records import to_record
from schemas.report import PageCounts
from tests.fakes.pdfs import Text, count_words, heading, new_pdf, prose, request, set_block

TOPICS = ("lamp", "plug", "switch", "shade", "bulb")


def book() -> Any:
    """Pages with headings, links inside and out, a table, a picture, and one that is turned."""
    pages = [[heading(f"{number} {topic}"), Text(prose(topic, 12))] for number, topic in enumerate(TOPICS)]
    document = new_pdf(pages, toc=[(1, topic, at) for at, topic in enumerate(TOPICS, start=1)])
    for number, page in enumerate(document):
        inner = {"kind": pymupdf.LINK_GOTO, "page": (number + 1) % 5, "to": pymupdf.Point(72, 100)}
        page.insert_link({**inner, "from": pymupdf.Rect(72, 140, 160, 155)})
        outer = {"kind": pymupdf.LINK_URI, "uri": f"https://docs.example/{number}"}
        page.insert_link({**outer, "from": pymupdf.Rect(170, 140, 260, 155)})
        page.insert_text((72, 825), f"The Lamp Book, {number + 1}", fontsize=8)
    draw_table(document[1])
    document[2].insert_image((72, 500, 300, 700), pixmap=plain_picture(128))
    document[3].set_rotation(90)
    document.set_page_labels([{"startpage": 1, "style": "D", "firstpagenum": 1}])
    return document


def plain_picture(shade: int) -> Any:
    return pymupdf.Pixmap(pymupdf.csGRAY, 60, 84, bytes([shade] * 60 * 84), False)


def draw_table(page: Any) -> None:
    for row in range(4):
        for column in range(3):
            box = pymupdf.Rect(0, 0, 100, 20) + (72 + 100 * column, 500 + 20 * row) * 2
            page.draw_rect(box)
            page.insert_text((box.x0 + 4, box.y1 - 5), f"cell {row} {column}", fontsize=9)


def parse(document: Any, cache: PageCache | None = None, **more: Any) -> GraphFragment:
    recognise = more.pop("recognise", None)
    data = document.tobytes()
    return parse_pdf(data, request(**more), count_tokens=count_words, recognise=recognise, cache=cache)


def kept(document: Any, **more: Any) -> bytes:
    """What its pages gave."""
    cache = PageCache()
    parse(document, cache, **more)
    return cache.dump()


@cache
def kept_of_the_book() -> bytes:
    return kept(book())


def dumped(fragment: GraphFragment) -> str:
    return canonical_json(to_record(fragment))


def insert(document: Any) -> None:
    set_block(document.new_page(pno=1), Text(prose("fuse", 12)), 100)


def change(document: Any) -> None:
    document[2].insert_text((72, 750), "A switch is pressed.", fontsize=9)


def move_a_link(document: Any) -> None:
    link = document[1].get_links()[0]
    document[1].update_link({**link, "from": pymupdf.Rect(72, 158, 200, 170)})


def lead_elsewhere(document: Any) -> None:
    for link in document[0].get_links():
        document[0].delete_link(link)
    target = {"kind": pymupdf.LINK_GOTO, "page": 4, "to": pymupdf.Point(72, 100)}
    document[0].insert_link({**target, "from": pymupdf.Rect(72, 140, 160, 155)})


@pytest.mark.parametrize(
    ("edit", "read", "reused"),
    [
        (lambda document: None, 0, 5),
        (change, 1, 4),
        (insert, 1, 5),
        (lambda document: document.delete_page(1), 1, 3),  # the link that led there goes too
        (lambda document: document.move_page(4, 0), 0, 5),
        (lambda document: document.select([4, 3, 2, 1, 0, 0]), 0, 6),
        (lambda document: document.set_page_labels([{"startpage": 0, "style": "R"}]), 0, 5),
        (lambda document: document.set_metadata({"title": "Lamps for all"}), 0, 5),
        (lambda document: document.set_toc([[1, "lamp", 2]]), 0, 5),
        (move_a_link, 1, 4),
        (lead_elsewhere, 1, 4),
        (lambda document: document[0].set_rotation(180), 1, 4),
    ],
    ids=[
        "same",
        "changed",
        "inserted",
        "removed",
        "moved",
        "reversed",
        "labels",
        "title",
        "outline",
        "link-moved",
        "link-gone",
        "turned",
    ],
)
def test_the_fragment_is_the_same_and_only_what_changed_is_read(
    edit: Callable[[Any], object], read: int, reused: int
) -> None:
    document = book()
    edit(document)
    cache, fresh = PageCache(kept_of_the_book()), PageCache()

    assert dumped(parse(document, cache)) == dumped(parse(document, fresh))
    assert cache.counts == PageCounts(read=read, reused=reused)
    assert cache.dump() == fresh.dump()


def test_filling_a_cache_changes_nothing() -> None:
    assert parse(book(), PageCache()) == parse(book())


def test_pages_are_read_again_where_tables_are_looked_for_in_another_way() -> None:
    document = new_pdf([[Text(prose(topic))] for topic in TOPICS], toc=[(1, "lamp", 1)])
    cache = PageCache(kept(document))
    document.set_toc([])
    parse(document, cache)

    assert cache.counts == PageCounts(read=5)


def test_pages_are_read_again_where_something_else_reads_them() -> None:
    cache = PageCache(kept_of_the_book(), made_by="a newer parser")
    parse(book(), cache)

    assert cache.counts == PageCounts(read=5)


def test_without_an_outline_as_many_pages_are_searched_as_without_a_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page that comes after the last one that the layout model may look at is read by its rulings."""
    monkeypatch.setattr("ingest.parse.pdf.reading.MAX_LAYOUT_PAGES", 1)
    document = new_pdf([[Text(prose(topic))] for topic in ("lamp", "plug")])
    for page in document:
        draw_table(page)
    earlier = kept(document)
    document.move_page(0, -1)
    cache = PageCache(earlier)

    assert dumped(parse(document, cache)) == dumped(parse(document))
    assert cache.counts == PageCounts(read=2)


def scan(*shades: int) -> Any:
    document = pymupdf.open()
    for shade in shades:
        document.new_page(width=60, height=84).insert_image((0, 0, 60, 84), pixmap=plain_picture(shade))
    return document


HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def says(png: bytes, languages: str) -> str:
    """A word of its own for each shade."""
    shade = pymupdf.Pixmap(png).pixel(5, 5)[0]
    return f"{HEAD}\n5\t1\t1\t1\t1\t1\t30\t30\t50\t20\t90\tshade{shade} {languages}"


def test_of_a_scan_only_the_changed_page_is_recognised() -> None:
    ocr = {"recognise": says, "ocr": ("eng",)}
    cache = PageCache(kept(scan(10, 20, 30, 40), **ocr))
    new = scan(10, 20, 99, 40)

    assert dumped(parse(new, cache, **ocr)) == dumped(parse(new, **ocr))
    assert cache.counts == PageCounts(read=1, recognised=1, reused=3)
    others = PageCache(kept(scan(10), **ocr))
    parse(scan(10), others, recognise=says, ocr=("deu",))
    assert others.counts == PageCounts(read=1, recognised=1)


def test_pages_that_were_recognised_before_count_towards_the_most_that_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ocr = {"recognise": says, "ocr": ("eng",)}
    earlier = kept(scan(10, 20, 30), **ocr)
    monkeypatch.setattr(PageReader.__init__, "__defaults__", (2, True))
    new = scan(99, 10, 20, 30)

    assert dumped(parse(new, PageCache(earlier), **ocr)) == dumped(parse(new, **ocr))


def test_what_could_not_be_recognised_is_tried_again() -> None:
    def fails(png: bytes, languages: str) -> str:
        raise ParseError("Tesseract took longer than 60 s", subject="tesseract")

    cache = PageCache(kept(scan(10), recognise=fails, ocr=("eng",)))
    parse(scan(10), cache, recognise=says, ocr=("eng",))

    assert cache.counts == PageCounts(read=1, recognised=1)


def test_a_repaired_file_is_read_as_a_whole_and_nothing_of_it_is_kept() -> None:
    broken = book().tobytes().replace(b"startxref", b"startxxxx")
    plain = parse_pdf(broken, request(), count_tokens=count_words)
    assert "repaired" in plain.warnings

    for used in (PageCache(kept_of_the_book()), PageCache()):
        assert parse_pdf(broken, request(), count_tokens=count_words, cache=used) == plain
        assert (used.dump(), used.counts) == (b"", PageCounts(read=5))


def test_a_document_keeps_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = len(kept_of_the_book())
    monkeypatch.setattr(page_cache, "MAX_BYTES", whole // 2)
    some = kept(book())
    cache = PageCache(some)
    parse(book(), cache)

    assert 0 < len(some) < whole
    assert 0 < cache.counts.reused < 5
