"""A look goes as far as nothing is new, and leaves a run that the flow can go on with as its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_leftovers
from flows.crawl.plan import plan_wave
from flows.look import look
from flows.run.pipeline import Pipeline
from flows.run.stages import Stages
from indexes.publish.generation import GenerationManifest, dump_generation
from schemas.errors import StoreUnavailable
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_pipeline import (
    SetClock,
    crawl,
    open_plain_pipeline,
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
def pipeline(site: Site, tmp_path: Path) -> Iterator[Pipeline]:
    """A source that was published by its first run, and whose second is to begin a day later."""
    with open_plain_pipeline(tmp_path, source_of(site)) as pipeline:
        pipeline.__dict__.update(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(pipeline, crawl(pipeline, "run-1"))
        assert isinstance(pipeline.index.clock, SetClock)
        pipeline.index.clock.forward(days=1)
        pipeline.run_id = "run-2"
        yield pipeline


def look_at(pipeline: Pipeline) -> object:
    return look(pipeline, due=False, accept=False, stages=Stages(pipeline.index.clock))


def go_on(pipeline: Pipeline) -> None:
    """Crawl on as the flow does."""
    parse_leftovers(pipeline)
    while wave := plan_wave(pipeline, due_by=None):
        for batch in wave:
            fetch_batch(pipeline, batch.uris)
            parse_batch(pipeline, batch.uris)


def test_a_stub_beside_a_page_that_changed_goes_on_leading_elsewhere(pipeline: Pipeline, site: Site) -> None:
    site.pages["/new"] = kept(page("Whoever comes now asks the porter."))

    assert look_at(pipeline) is None
    go_on(pipeline)

    assert states(pipeline)["/old"] == ("redirected", "meta refresh")


def test_a_stub_that_was_asked_for_when_a_run_was_killed_goes_on_leading_elsewhere(
    pipeline: Pipeline, site: Site
) -> None:
    fetch_batch(pipeline, [site.url(path) for path in ("/", "/old", "/new")])

    go_on(pipeline)

    assert states(pipeline)["/old"] == ("redirected", "meta refresh")


def test_an_error_in_a_wave_is_what_it_is_and_the_run_may_go_on(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> int:
        raise StoreUnavailable("went away", subject="ledger")

    monkeypatch.setattr("flows.look.fetch_batch", lost)

    with pytest.raises(StoreUnavailable, match="went away"):
        look_at(pipeline)

    assert not pipeline.stop.is_set()


class Server:
    """A graph on a server, as far as people look into it."""

    def __init__(self) -> None:
        self.shown: list[int] = []

    def show(self, generation: int, _chunks: object) -> None:
        self.shown.append(generation)

    def close(self) -> None:
        """It is nobody's."""


def test_people_see_what_readers_see_though_nothing_is_new(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed run may have published it, or the setting that asks for vectors there may have changed."""
    index, server = pipeline.index, Server()
    published = GenerationManifest(
        generation=index.current(), base=0, as_of="", source="site", run_id="run-1", plan_sha=""
    )
    dump_generation(index.layout, published)
    monkeypatch.setattr("flows.look.find_damaged_files", lambda *_, **__: ())  # only ledger rows are there
    monkeypatch.setattr("flows.look.redirects_matter", lambda *_: False)
    index.manifest = replace(index.manifest, graph="neo4j")
    index.__dict__["graph"] = server

    assert look_at(pipeline) is not None

    assert server.shown == [index.current()]
