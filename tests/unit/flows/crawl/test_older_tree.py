"""A site that is set back to an older state, on servers that go by dates."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from flows.crawl.fetch import fetch_batch
from runtime.parser_pool import ParserPool
from schemas.documents import Outcome
from schemas.source import Rate
from tests.fakes.folder_server import FolderServer, nginx_server, python_server
from tests.fakes.known import web_source
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger

PAGES = 14
OLD, NEW = "2023-05-06", "2024-05-06"


def write_tree(folder: Path, *, edition: str, day: str) -> None:
    """A start page that links to all others; their text names the edition."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    links = " ".join(f"<a href=p{number}.html>Part {number}</a>" for number in range(PAGES))
    texts = {"index.html": f"<h1>Start</h1><p>All parts: {links}"}
    for number in range(PAGES):
        words = " ".join(f"word-{number}-{nth}" for nth in range(40))
        texts[f"p{number}.html"] = f"<h1>Part {number}</h1><p>The {edition} edition. {words}"
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    for name, text in texts.items():
        (folder / name).write_text(f"<html lang=en><body><main>{text}</main></body></html>")
        os.utime(folder / name, (moment, moment))


@contextmanager
def crawled(server: FolderServer, folder: Path, parsers: ParserPool) -> Iterator[PlainRun]:
    """A run's parts after a first run over what is served."""
    rate = Rate(per_host_delay=0)
    source = web_source(seeds=(server.url,), allow_private=(server.address,), rate=rate)
    with open_plain_run(folder, source, parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        server.take_pages()
        yield plain


def changed(plain: PlainRun, run_id: str) -> int:
    """How many documents a run finds changed; it is published."""
    difference = crawl(plain, run_id)
    publish_ledger(plain, difference)
    return difference.documents[Outcome.CHANGED]


def test_an_older_tree_is_seen_where_the_server_goes_by_dates_and_later_runs_are_cheap(
    tmp_path: Path, parsers: ParserPool
) -> None:
    folder = tmp_path / "site"
    write_tree(folder, edition="second", day=NEW)
    with python_server(folder) as server, crawled(server, tmp_path / "index", parsers) as plain:
        assert changed(plain, "nothing new") == 0
        asked = server.take_pages()
        assert len(asked) == PAGES + 1, "each page once"
        assert sum(status == 304 for _, status, _ in asked) == PAGES + 1 - 5, "all but the sample"

        write_tree(folder, edition="first", day=OLD)
        assert changed(plain, "set back") == PAGES
        told = [p for p in plain.index.ledger.runs.problems("set back") if "dates went back" in p.reason]
        assert [problem.url for problem in told] == [server.url]
        server.take_pages()

        for run_id in ("after", "and after"):
            assert changed(plain, run_id) == 0
            asked = server.take_pages()
            assert (len(asked), sum(status == 304 for _, status, _ in asked)) == (PAGES + 1, PAGES + 1 - 5)
        assert plain.index.ledger.hosts.distrusted() == {}


def test_one_page_of_an_older_tree_is_seen_by_the_dates_of_the_others(
    tmp_path: Path, parsers: ParserPool
) -> None:
    folder = tmp_path / "site"
    write_tree(folder, edition="second", day=NEW)
    with python_server(folder) as server, crawled(server, tmp_path / "index", parsers) as plain:
        write_tree(folder, edition="second", day=OLD)
        page = folder / "p7.html"
        before = page.stat().st_mtime
        page.write_text(page.read_text().replace("second edition", "first edition"))
        os.utime(page, (before, before))

        assert changed(plain, "set back") == 1


def test_what_was_called_unmodified_before_the_dates_went_back_is_looked_at_again(
    tmp_path: Path, parsers: ParserPool
) -> None:
    folder = tmp_path / "site"
    write_tree(folder, edition="second", day=NEW)
    with python_server(folder) as server, crawled(server, tmp_path / "index", parsers) as plain:
        write_tree(folder, edition="first", day=OLD)
        plain.run_id = "interrupted"

        uris = [f"{server.url}p{number}.html" for number in range(3)]
        assert fetch_batch(plain.crawling, uris) == 3
        assert [status for _, status, _ in server.take_pages()] == [304] * 3

        assert changed(plain, "interrupted") == PAGES


def test_an_older_tree_costs_nothing_more_where_the_server_compares_dates_for_equality(
    tmp_path: Path, parsers: ParserPool
) -> None:
    folder = tmp_path / "site"
    write_tree(folder, edition="second", day=NEW)
    with (
        nginx_server(folder, tmp_path / "nginx", rules="etag off;") as server,
        crawled(server, tmp_path / "index", parsers) as plain,
    ):
        write_tree(folder, edition="first", day=OLD)

        assert changed(plain, "set back") == PAGES
        assert plain.index.ledger.hosts.disbelieved_dates() == {}
