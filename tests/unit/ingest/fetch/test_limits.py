"""The sizes that a source names are those that bodies are held against, and the message names the key."""

from ingest.fetch.media import FetchLimits, limits_of
from schemas.fetch import FetchStatus
from schemas.source import SizeLimits
from tests.fakes.fetching import fetch_one, session_for
from tests.fakes.site_server import Reply, Site, serve

LARGE = b"<html><body>" + b"<p>words and words</p>" * 300_000 + b"</body></html>"
"""6.6 MB, as large manuals of a single page are."""


def test_without_a_key_the_usual_caps_hold() -> None:
    assert limits_of(SizeLimits()) == FetchLimits()


def test_a_page_over_the_cap_is_refused_with_the_key_that_lets_it_in() -> None:
    site = Site({"/a": Reply(LARGE), "/b": Reply(LARGE, length=False), "/robots.txt": Reply(b"", 404)})
    with serve(site):
        with session_for(site) as session:
            refused = [fetch_one(session, site.url(path)) for path in ("/a", "/b")]
        with session_for(site, limits=limits_of(SizeLimits(page_mb=7))) as session:
            taken = [fetch_one(session, site.url(path)) for path in ("/a", "/b")]

    assert {result.status for result in refused} == {FetchStatus.REFUSED}
    assert all("limits.page_mb in the source file" in (result.reason or "") for result in refused)
    assert {result.body for result in taken} == {LARGE}
