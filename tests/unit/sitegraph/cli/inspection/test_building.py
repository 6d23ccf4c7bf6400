"""What is shown of an inspection."""

from ingest.parse.html.trace import BlockStatus
from ingest.parse.inspection import inspect_document
from schemas.fragment import ParseRequest
from schemas.nodes import RegionType
from sitegraph.actions.inspection import Report
from sitegraph.actions.inspection_building import build_report
from sitegraph.actions.inspection_text import render_inspection
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.pdfs import Text, count_words, heading, pdf_bytes, prose, request

URI = "http://docs.example/a.html"


def report_of(data: bytes, asked: ParseRequest) -> Report:
    return build_report(inspect_document(data, asked, count_tokens=count_words, draw=False), address="here")


def page_report(body: str) -> Report:
    return report_of(body.encode(), ParseRequest(uri=URI, url=URI, source="docs"))


def test_chunks_are_numbered_and_found_again_under_their_sections() -> None:
    report = page_report("<h1 id=a>Lamps</h1><p>A lamp gives light.</p><h2>Oil</h2><p>Oil burns.</p>")
    assert [(section.heading, section.chunks) for section in report.sections] == [
        ("Lamps", (0,)),
        ("Oil", (1,)),
    ]
    assert [(chunk.number, chunk.text, chunk.tokens) for chunk in report.chunks] == [
        (0, "A lamp gives light.", 4),
        (1, "Oil burns.", 2),
    ]
    assert [(block.text, block.chunk) for block in report.blocks] == [
        ("Lamps", 0),
        ("A lamp gives light.", 0),
        ("Oil", 1),
        ("Oil burns.", 1),
    ]
    assert report.doubts == ()


def test_the_chapters_of_a_book_are_shown_with_their_sections() -> None:
    book = ebooklib_epub("B", {"Lamps": "<h1>Lamps</h1><p>x</p><h2>Wick</h2>", "Oil": "<h1>Oil</h1><p>y</p>"})
    report = report_of(book, ParseRequest(uri="files://s/b.epub", source="s", path="b.epub"))

    assert [(one.title, one.sections) for one in report.chapters] == [("Lamps", (0, 1)), ("Oil", (2,))]
    assert (report.title, report.breadcrumbs) == ("B", ("B",))
    assert f"Lamps  #{report.chapters[0].fragment}  (2 sections)" in render_inspection(report, width=80)


def test_a_page_that_asks_not_to_be_indexed_has_no_chunk_and_no_doubt() -> None:
    report = page_report('<meta name="robots" content="noindex"><p>A lamp gives light to the room.</p>')
    assert (report.hints.noindex, report.chunks, report.doubts) == (True, (), ())


def test_regions_without_chunks_say_why() -> None:
    foot = [Text("\n" * 50), Text("The book of lamps")]
    pages = [[heading(f"Part {n}"), Text(prose(f"lamp{n}")), *foot] for n in (1, 2, 3)]
    report = report_of(pdf_bytes(pages, toc=[(1, f"Part {n}", n) for n in (1, 2, 3)]), request())
    regions = [region for page in report.pages for region in page.regions]
    assert [region.number for region in regions] == list(range(len(regions)))
    for region in regions:
        assert bool(region.chunks) == (not region.reason)
    reasons = {region.type: region.reason for region in regions if region.reason}
    assert reasons == {
        RegionType.HEADING: "stands in the heading path of what follows",
        RegionType.FOOTER: "running footer: returns at the bottom of other pages, or is a page number",
    }


def test_a_product_page_says_that_it_was_cut_down_to_the_vote() -> None:
    others = "".join(
        f"<div class=card><h3>Lamp {n}</h3><span>Buy lamp {n} here</span></div>" for n in range(20)
    )
    report = page_report(
        "<head><meta property=og:type content=product></head><body><div class=top><a href=/a>Shop</a></div>"
        f"<main><div><h1>The lamp</h1><p>{prose('oil', 3)}</p><p>{prose('wick', 3)}</p></div>"
        f"<div class=others>{others}</div></main></body>"
    )
    cut = [block for block in report.blocks if block.reason.startswith("trafilatura took it for boilerplate")]
    assert report.content is not None
    assert report.content.purpose == "product"
    assert {block.verdict for block in cut} == {BlockStatus.LEFT_OUT}
    assert not any(block.lost for block in report.blocks)
