"""From answers to differences, over a real site on loopback: what is a change and what only looks so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.values import Difference
from runtime.parser_pool import ParserPool
from schemas.documents import Outcome
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of
from tests.fakes.site_server import Reply, Script, Site, with_validators

WORDS = " ".join(f"word-{number}" for number in range(40))
ROWS = ("<tr><td>max_size</td><td>1024</td></tr>", "<tr><td>min_size</td><td>80</td></tr>")


def table(*rows: str, footer: str = "Printed in January", etag: str = '"1"') -> Script:
    """A page with a table, a nonce in its head and a footer; its ETag says nothing of its content."""
    body = f"<main><h1>Sizes</h1><p>{WORDS}</p><table>{''.join(rows)}</table></main><footer>{footer}</footer>"
    page = f"<html><head><meta name=nonce content='{footer}'></head><body>{body}</body></html>"
    return with_validators(page.encode(), etag=etag)


HUB = b"<html><body><main><h1>Hub</h1><p>There are <a href='/sizes.html'>sizes</a>.</p></main></body></html>"


@pytest.fixture
def plain(site: Site, tmp_path: Path, parsers: ParserPool) -> Iterator[PlainRun]:
    """A run's parts, after a first run that readers see."""
    site.pages = {"/": with_validators(HUB, etag='"hub"'), "/sizes.html": table(*ROWS)}
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        yield plain


def outcomes(difference: Difference) -> dict[str, int]:
    """The outcomes that occurred; they add up to what was scheduled."""
    counts = difference.documents
    assert sum(counts[outcome] for outcome in Outcome) == counts["scheduled"]
    return {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]}


def test_what_a_reader_would_see_is_a_change_and_nothing_else_is(plain: PlainRun, site: Site) -> None:
    site.pages["/sizes.html"] = table(*ROWS, footer="Printed in March", etag='"2"')
    footer = crawl(plain, "footer")
    assert (outcomes(footer), footer.documents["fetched"]) == ({"unchanged": 2}, 1)

    site.pages["/sizes.html"] = table(*reversed(ROWS), etag='"3"')
    assert outcomes(crawl(plain, "rows swapped")) == {"changed": 1, "unchanged": 1}

    site.pages["/sizes.html"] = table(ROWS[0].replace("1024", "1025"), ROWS[1], etag='"4"')
    assert outcomes(crawl(plain, "a digit")) == {"changed": 1, "unchanged": 1}

    site.pages["/sizes.html"] = table(*ROWS, etag='"5"')
    assert outcomes(crawl(plain, "as before")) == {"unchanged": 2}


def test_a_hub_that_is_not_modified_or_down_takes_no_page_with_it(plain: PlainRun, site: Site) -> None:
    site.log.clear()
    same = crawl(plain, "304")
    assert (outcomes(same), same.documents["not_modified"]) == ({"unchanged": 2}, 2)
    assert set(site.paths()) >= {"/", "/sizes.html"}

    plain.source = source_of(site, seeds=(site.url("/sizes.html"),))
    site.pages["/"] = Reply(b"sorry", 503)
    down = crawl(plain, "down")
    assert (outcomes(down), down.changes) == ({"failed": 1, "unchanged": 1}, ())


def test_a_host_whose_304_hid_a_change_is_never_believed_again(plain: PlainRun, site: Site) -> None:
    changed = table(ROWS[0].replace("1024", "2048"), ROWS[1])
    site.pages["/sizes.html"] = changed
    assert outcomes(crawl(plain, "hidden")) == {"unchanged": 2}

    found = crawl(plain, "full", days=31)

    assert outcomes(found) == {"changed": 1, "unchanged": 1}
    (problem,) = plain.index.ledger.runs.problems("full")
    assert problem.url == site.address
    assert "its 304 is no longer believed" in problem.reason
    site.log.clear()
    assert crawl(plain, "after").documents["not_modified"] == 0
    assert not any("if-none-match" in ask.headers for ask in site.log)


def test_another_date_behind_a_304_makes_no_host_a_liar(plain: PlainRun, site: Site) -> None:
    site.pages["/sizes.html"] = table(*ROWS, footer="Printed in March")
    crawl(plain, "hidden")

    assert outcomes(crawl(plain, "full", days=31)) == {"unchanged": 2}
    assert plain.index.ledger.hosts.distrusted() == {}
