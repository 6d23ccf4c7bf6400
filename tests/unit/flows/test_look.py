"""A look goes as far as nothing is new, and leaves a run that the flow can go on with as its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_leftovers
from flows.crawl.plan import plan_wave
from flows.look import look
from flows.run.process_cache import shared
from flows.run.stages import Stages
from indexes.ports import GraphStore
from indexes.publish.generation import GenerationManifest, dump_generation
from schemas.errors import StoreUnavailable
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_run import (
    PlainRun,
    SetClock,
    crawl,
    open_plain_run,
    publish_ledger,
    source_of,
    states,
)
from tests.fakes.site_server import Reply, Script, Site, serve, with_validators

STUB = page("Moved.", head='<meta http-equiv="refresh" content="0; url=/new">')


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site()) as site:
        pages = {"/": page("Start", "/old"), "/old": STUB, "/new": page("Whoever comes asks the keeper.")}
        for path, reply in pages.items():
            site.pages[path] = kept(reply)
        yield site


def kept(reply: Reply) -> Script:
    return with_validators(reply.body, etag=f'"{hash(reply.body)}"')


@pytest.fixture
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    """A source that was published by its first run, and whose second is to begin a day later."""
    with open_plain_run(tmp_path, source_of(site)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(plain, crawl(plain, "run-1"))
        assert isinstance(plain.index.clock, SetClock)
        plain.index.clock.forward(days=1)
        plain.run_id = "run-2"
        yield plain


def look_at(plain: PlainRun) -> object:
    with shared(plain.resources):
        return look(plain.resources, due=False, stages=Stages(plain.index.clock))


def go_on(plain: PlainRun) -> None:
    """Crawl on as the flow does."""
    parse_leftovers(plain.crawling)
    while wave := plan_wave(plain.crawling, due_by=None):
        for batch in wave:
            fetch_batch(plain.crawling, batch.uris)
            parse_batch(plain.crawling, batch.uris)


def test_a_stub_beside_a_page_that_changed_goes_on_leading_elsewhere(plain: PlainRun, site: Site) -> None:
    site.pages["/new"] = kept(page("Whoever comes now asks the porter."))

    assert look_at(plain) is None
    go_on(plain)

    assert states(plain)["/old"] == ("redirected", "meta refresh")


def test_a_stub_that_was_asked_for_when_a_run_was_killed_goes_on_leading_elsewhere(
    plain: PlainRun, site: Site
) -> None:
    fetch_batch(plain.crawling, [site.url(path) for path in ("/", "/old", "/new")])

    go_on(plain)

    assert states(plain)["/old"] == ("redirected", "meta refresh")


def test_an_error_in_a_wave_is_what_it_is_and_the_run_may_go_on(
    plain: PlainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> int:
        raise StoreUnavailable("went away", subject="ledger")

    monkeypatch.setattr("flows.crawl.fetch.fetch_batch", lost)

    with pytest.raises(StoreUnavailable, match="went away"):
        look_at(plain)

    assert not plain.stop.is_set()


class Server:
    """A graph on a server, as far as people look into it."""

    def __init__(self) -> None:
        self.shown: list[int] = []

    def show(self, generation: int, _chunks: object, *, written: object) -> None:
        self.shown.append(generation)

    def close(self) -> None:
        """It is nobody's."""


def test_people_see_what_readers_see_though_nothing_is_new(
    plain: PlainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed run may have published it, or the setting that asks for vectors there may have changed."""
    index, server = plain.index, Server()
    published = GenerationManifest(
        generation=index.current(), base=0, as_of="", source="site", run_id="run-1", plan_sha=""
    )
    dump_generation(index.layout, published)
    monkeypatch.setattr("flows.look.find_damaged_files", lambda *_, **__: ())  # only ledger rows are there
    monkeypatch.setattr("flows.derive.diff.redirects_matter", lambda *_: False)
    index.manifest = replace(index.manifest, graph="neo4j")
    index.opened_graph = cast("GraphStore", server)

    assert look_at(plain) is not None

    assert server.shown == [index.current()]
