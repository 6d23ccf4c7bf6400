"""Where redirects take a page, of a real site on loopback."""

from pathlib import Path

import pytest

from schemas.source import Scope
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_run import crawl, open_plain_run, publish_ledger, source_of
from tests.fakes.site_server import Reply, Site, serve

NAMES = tuple("abcdef")


@pytest.mark.parametrize("limit", [{}, {"max_pages": len(NAMES) + 1}])
def test_a_page_stays_while_its_redirects_lead_on_and_on_or_past_a_budget(
    tmp_path: Path, limit: dict[str, int]
) -> None:
    with serve(Site({f"/{name}.html": page(f"{name} " * 40) for name in NAMES})) as site:
        site.pages["/"] = page("start " * 40, *site.pages)
        with open_plain_run(tmp_path, source_of(site, scope=Scope(**limit))) as plain:
            plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
            publish_ledger(plain, crawl(plain, "first"))
            site.pages["/a.html"] = Reply(b"", 302, {"Location": "/wait-0"})
            for number in range(20):
                site.pages[f"/wait-{number}"] = Reply(b"", 302, {"Location": f"/wait-{number + 1}"})
            assert crawl(plain, "second").changes == ()
