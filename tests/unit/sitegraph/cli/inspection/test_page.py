"""The report as one HTML file: nothing that a document says becomes markup, nothing is loaded."""

import re
from html.parser import HTMLParser

from ingest.parse.inspection import inspect_document
from schemas.fragment import ParseRequest
from sitegraph.actions.inspection_building import build_report
from sitegraph.actions.inspection_text import render_page
from tests.fakes.pdfs import Text, count_words, heading, new_pdf, prose, request

HOSTILE = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>'{{ 7 * 7 }}\x1b[2J\u202e"
URI = "http://docs.example/a.html"


class Elements(HTMLParser):
    """Tags, and what would be loaded or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.targets: set[str] = set()
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in {"src", "href"} and value is not None:
                self.targets.add(value.split(",")[0] if value.startswith("data:") else value[:1])
            if name.startswith("on") or name == "style":
                self.handlers.append(name)


def page_of(data: bytes, asked: ParseRequest) -> str:
    inspection = inspect_document(data, asked, count_tokens=count_words, draw=True)
    return render_page(build_report(inspection, address="here"), inspection.pictures)


def hostile_page() -> str:
    text = HOSTILE.replace("<", "&lt;")
    body = f'<title>{text}</title><nav id="&lt;b>">{text}</nav><h1 id="&lt;i>">{text}</h1><p>{text} more'
    link = "<a href=\"javascript:alert(3)\">run</a> <a href='x.html'>&lt;script></a>"
    return page_of(f"{body}{link}".encode(), ParseRequest(uri=URI, url=URI, source="docs"))


def test_a_hostile_page_is_shown_and_does_nothing() -> None:
    page = hostile_page()
    elements = Elements(page)
    assert {"script", "img", "iframe", "object", "link", "base"} & set(elements.tags) == set()
    assert (elements.targets, elements.handlers) == ({"#"}, [])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_policy_lets_nothing_in_but_its_own_style_and_pictures() -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', hostile_page())
    assert re.sub(r"sha256-[\w+/=]{44}", "HASH", policy).split("; ") == [
        "default-src 'none'",
        "img-src data:",
        "style-src 'HASH'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_style_is_the_one_that_the_policy_names() -> None:
    import base64
    import hashlib

    page = hostile_page()
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in page


def test_regions_of_a_pdf_are_framed_in_its_pictures() -> None:
    document = new_pdf([[heading("Lamps"), Text(prose("lamp"))]], toc=[(1, "Lamps", 1)], title=HOSTILE[:60])
    document[0].set_rotation(90)
    page = page_of(document.tobytes(), request())
    elements = Elements(page)
    assert elements.targets == {"#", "data:image/png;base64"}
    assert (elements.tags.count("image"), elements.tags.count("g"), "script" in elements.tags) == (
        1,
        2,
        False,
    )
    assert 'viewBox="0 0 842.0 595.0"' in page
    for x, width in re.findall(r'class="box" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', page):
        assert float(x) + float(width) <= 842


def test_a_page_that_is_not_drawn_shows_its_frames_all_the_same() -> None:
    document = new_pdf([[heading("Lamps"), Text(prose("lamp"))]])
    inspection = inspect_document(document.tobytes(), request(), count_tokens=count_words, draw=False)
    page = render_page(build_report(inspection, address="here"), ())
    assert "not drawn" in page
    assert 'class="box"' in page
