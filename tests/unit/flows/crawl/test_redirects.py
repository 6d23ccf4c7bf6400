"""Where redirects take a page, of a real site on loopback."""

from pathlib import Path

import pytest

from schemas.errors import GuardRefused
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


def folder(path: str, *, rooted: bool) -> dict[str, Reply]:
    """Pages of a folder that link to each other, relative to themselves or to the root."""
    links = [f"{path if rooted else ''}{name}.html" for name in NAMES]
    return {
        f"{path}{name}.html": Reply(
            f"<title>{name}</title><main><h1>{name}</h1><p>{f'about {name} ' * 20}</p>"
            f"{''.join(f'<p>Go <a href={link!r}>on</a></p>' for link in links)}</main>".encode()
        )
        for name in NAMES
    }


@pytest.mark.parametrize(
    ("status", "rooted"), [(301, False), (301, True), (302, False), (410, False), (410, True)]
)
def test_a_folder_that_moved_with_its_links_is_no_loss(tmp_path: Path, status: int, rooted: bool) -> None:
    with serve(Site({"/": page("start " * 40, *(f"/docs/{name}.html" for name in NAMES))})) as site:
        site.pages |= folder("/docs/", rooted=rooted)
        with open_plain_run(tmp_path, source_of(site)) as plain:
            plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
            publish_ledger(plain, crawl(plain, "first"))
            for name in NAMES:
                to = {} if status == 410 else {"Location": f"/manual/{name}.html"}
                site.pages[f"/docs/{name}.html"] = Reply(b"", status, to)
            site.pages |= folder("/manual/", rooted=rooted)
            site.pages["/"] = page("start " * 40, *(f"/manual/{name}.html" for name in NAMES))

            changes = {change.uri: change for change in crawl(plain, "second").changes}

    for name in NAMES:
        went, came = (changes[site.url(f"/{at}/{name}.html")] for at in ("docs", "manual"))
        assert went.successor == came.doc


@pytest.mark.parametrize("status", [301, 410])
def test_a_folder_in_whose_place_something_else_stands_is_a_loss(tmp_path: Path, status: int) -> None:
    with serve(
        Site({"/": page("start " * 40, *(f"/docs/{name}.html" for name in NAMES), "/new.html")})
    ) as site:
        site.pages |= folder("/docs/", rooted=False)
        with open_plain_run(tmp_path, source_of(site)) as plain:
            plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
            publish_ledger(plain, crawl(plain, "first"))
            for name in NAMES:
                to = {} if status == 410 else {"Location": "/new.html"}
                site.pages[f"/docs/{name}.html"] = Reply(b"", status, to)
            site.pages["/new.html"] = page("something else " * 40)

            with pytest.raises(GuardRefused, match="6 of 7 documents would be removed"):
                crawl(plain, "second")
