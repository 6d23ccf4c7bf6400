"""When a page says that it was last modified, as generators and publishing systems write it."""

from time import process_time

import pytest

from ingest.parse.html.dates import stated_date
from ingest.parse.html.dom import parse_tree
from schemas.nodes import Dated, DateOrigin
from tests.fakes.pages import parse_page

DAY = "2024-05-03T00:00:00+00:00"


def data(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def date_of(page: str) -> tuple[str, str] | None:
    found = parse_page(f"{page}<h1>Guide</h1><p>Pallets stay for a week.</p>").modified
    return (found.at, found.origin) if found else None


@pytest.mark.parametrize(
    ("page", "at", "origin"),
    [
        # WordPress with Yoast
        (
            data(
                '{"@context":"https://schema.org","@graph":[{"@type":"WebPage","datePublished":"2020-01-01",'
                '"dateModified":"2024-05-03T10:20:30+02:00"},{"@type":"Person","dateModified":"1999-01-01"}]}'
            ),
            "2024-05-03T08:20:30+00:00",
            "json_ld",
        ),
        (data('[{"@type":["TechArticle"],"dateModified":"2024-05-03"}]'), DAY, "json_ld"),
        ("<meta property=article:modified_time content=2024-05-03>", DAY, "meta"),
        ("<meta name=DCTERMS.modified content=2024-05-03>", DAY, "meta"),
        ("<meta name=DC.date.modified content=2024-05-03>", DAY, "meta"),
        ("<meta http-equiv=last-modified content='Fri, 03 May 2024 00:00:00 GMT'>", DAY, "meta"),
        # Docusaurus
        (
            "<span class=theme-last-updated>Last updated<!-- --> on <b>"
            "<time datetime=2024-05-03T00:00:00.000Z itemprop=dateModified>May 3, 2024</time></b></span>",
            DAY,
            "time",
        ),
        # VitePress, MDN
        ("<p class=VPLastUpdated>Last updated: <time datetime=2024-05-03>5/3/24</time></p>", DAY, "time"),
        ("<p>This page was last modified on <time datetime=2024-05-03>a day</time> by us</p>", DAY, "time"),
        # MkDocs with git-revision-date-localized
        ("<span class='git-revision-date-localized-plugin-date'>May 3, 2024</span>", DAY, "text"),
        # Sphinx: classic themes, and that of Read the Docs
        (
            "<div class=footer>&copy; 2010, Ada.\n      Last updated on May 03, 2024.\n  Created</div>",
            DAY,
            "text",
        ),
        ("<p>&copy; 2010<span class=lastupdated>Last updated on May 03, 2024.</span></p>", DAY, "text"),
        # AsciiDoctor, MediaWiki
        ("<div id=footer-text>\nLast updated\n 2024-05-03 00:00:00 UTC\n</div>", DAY, "text"),
        ("<ul><li> This page was last edited on 3 May 2024, at 09:36.</li></ul>", DAY, "text"),
        ("<meta property=article:published_time content=2024-05-03>", DAY, "published"),
        (data('{"@type":"BlogPosting","datePublished":"2024-05-03"}'), DAY, "published"),
    ],
)
def test_a_page_says_when_it_was_modified(page: str, at: str, origin: str) -> None:
    assert date_of(page) == (at, origin)


PUBLISHED = "Published <time datetime=2020-01-01>January 1, 2020</time>"
UPDATED = "Last updated <time datetime=2024-05-03>May 3, 2024</time>"


@pytest.mark.parametrize(
    ("page", "origin"),
    [
        (f"<p>{PUBLISHED} | {UPDATED}</p>", "time"),
        (f"<p>{UPDATED} | {PUBLISHED}</p>", "time"),
        (f"<p>Last updated May 3, 2024 | {PUBLISHED}</p>", "text"),
        (f"<p>Last updated: May 3, 2024<br>{PUBLISHED}</p>", "text"),
        (f"<div>Last updated<p>{PUBLISHED}</p>{UPDATED}</div>", "time"),
        ("<footer>Copyright <time datetime=2001>2001</time><br>Last updated: May 3, 2024.</footer>", "text"),
        ("<p>Last updated: <time datetime=soon>May 3, 2024</time></p>", "text"),
        ("<p>Last updated: <span><time datetime=2024-05-03>5/3/24</time></span></p>", "time"),
        ("<p><time datetime=2024-05-03>Last updated a while ago</time></p>", "time"),
        ("<p><span class=updated><time datetime=soon>May 3, 2024</time></span></p>", "text"),
        ("<p>Last updated never<br>Last updated May 3, 2024</p>", "text"),
        ("<p>Last updated never.\n Last updated <b>May 3</b>, 2024</p>", "text"),
        (f"<p>Last updated <i>never</i> | Last modified 2024-05-03<br>{PUBLISHED}</p>", "text"),
    ],
)
def test_of_several_dates_in_a_line_that_after_the_words_counts(page: str, origin: str) -> None:
    assert date_of(page) == (DAY, origin)


def test_two_lines_of_one_element_that_say_different_days_give_none() -> None:
    assert date_of("<p>Last updated May 3, 2024<br>Last updated June 1, 2024</p>") is None


@pytest.mark.parametrize(
    "line",
    [
        "Last updated never mind<br>",
        "Last updated never mind\n",
        "<i>Last updated</i> ",
        "Last updated<b></b>",
    ],
)
def test_many_lines_are_read_in_time_that_grows_with_them_alone(line: str) -> None:
    def seconds(count: int) -> float:
        root = parse_tree(f"<body><p>{line * count}</p></body>", subject="page")
        start = process_time()
        assert stated_date(root) is None
        return process_time() - start

    assert min(seconds(8000), seconds(8000)) < 20 * max(seconds(1000), 0.02)


def test_the_surest_place_counts_and_what_was_modified_before_what_came_out() -> None:
    meta = "<meta property=article:modified_time content=2024-05-03>"
    published = "<meta property=article:published_time content=2020-01-01>"
    footer = "<footer>Last updated on June 1, 2024</footer>"
    assert date_of(published + meta + footer) == (DAY, "meta")
    assert date_of(published + footer) == ("2024-06-01T00:00:00+00:00", "text")
    assert date_of(meta.replace("2024-05-03", "never") + footer) == ("2024-06-01T00:00:00+00:00", "text")


@pytest.mark.parametrize(
    "page",
    [
        "<p>The build of May 3, 2024 failed.</p><time datetime=2024-05-03>an event</time>",
        "<pre>Last updated on May 3, 2024</pre><table><tr><td>Last modified 2024-05-03</table>",
        "<p>Last updated: <time datetime=2024-05-03>a</time></p>"
        "<p>Last updated: <time datetime=2024-06-01>b</time></p>",
        "<p>Last updated 3 months ago</p><p>Last updated on 03/04/2024</p>",
        "<p>Last edited: 3 May 2024</p>",  # one message of a thread
        data('{"@type":"ItemList","dateModified":"2024-05-03"}')
        + data("{broken")
        + data("[[[1]]]")
        + data("3"),
        data('{"@type":"WebPage","dateModified":{"a":1}}') + data("[" * 9000),
        "<meta name=date content=''><meta property=article:modified_time content=1970-01-01>",
    ],
)
def test_what_is_not_clearly_the_date_of_the_page_gives_none(page: str) -> None:
    assert date_of(page) is None


def test_a_new_date_alone_is_no_change_of_content() -> None:
    pages = [
        parse_page(f"<meta property=article:modified_time content={day}><h1>A</h1><p>Text.</p>")
        for day in ("2024-05-03", "2024-06-01")
    ]
    assert pages[0].content_hash == pages[1].content_hash
    assert [page.modified for page in pages] == [
        Dated(at=DAY, origin=DateOrigin.META),
        Dated(at="2024-06-01T00:00:00+00:00", origin=DateOrigin.META),
    ]
