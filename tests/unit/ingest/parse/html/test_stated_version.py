"""Of which version a page says that it is."""

import pytest
from lxml import html

from ingest.parse.html.dates import stated_version
from schemas.families import VersionFamily

PAGE = """<html><head><title>Quickstart &#8212;
 Flask Documentation (2.2.x)</title><meta name="docsearch:Version" content=" 2.2 ">
<meta name="empty" content="">
</head><body><h1>Quickstart</h1><svg><title>Documentation (9.9)</title></svg></body></html>"""


@pytest.mark.parametrize(
    ("family", "version"),
    [
        (VersionFamily(name="m", title=r"Documentation \((\S+)\)"), "2.2.x"),
        (VersionFamily(name="m", title=r"Manual (\d+)"), None),
        (VersionFamily(name="m", title=r"Flask(x?)"), None),  # an empty group says nothing
        (VersionFamily(name="m", meta="docsearch:version"), "2.2"),
        (VersionFamily(name="m", meta="empty"), None),
        (VersionFamily(name="m", meta="other"), None),
    ],
)
def test_the_head_says_the_version(family: VersionFamily, version: str | None) -> None:
    assert stated_version(html.fromstring(PAGE), family) == version


def test_a_page_without_a_head_says_nothing() -> None:
    family = VersionFamily(name="m", title="(.*)")
    assert stated_version(html.fromstring("<p>text</p>"), family) is None
