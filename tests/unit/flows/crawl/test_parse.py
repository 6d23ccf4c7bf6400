"""What is kept of a document that holds a secret, and what is asked of its site again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_leftovers
from flows.crawl.plan import plan_source, plan_wave
from flows.run.pipeline import Pipeline, pipeline_version
from flows.run.problems import problems_of
from ingest.plan.preview import Action, plan_actions
from schemas.documents import DocumentState, KnownDocument
from schemas.report import Problem, SecretCounts
from schemas.source import Source
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_pipeline import SetClock, open_plain_pipeline, source_of
from tests.fakes.secret_samples import github_token
from tests.fakes.site_server import Reply, Site, serve, with_validators

TOKEN = github_token()
PAGES = {
    "/": "<a href=/plain>plain</a> <a href=/secret>secret</a>",
    "/plain": "<h1>Lamps</h1><p>The lamp is lit at night.</p>",
    "/secret": f"<h1>Doors</h1><p>The door opens by {TOKEN} alone.</p>",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site()) as site:
        for path, body in PAGES.items():
            site.pages[path] = with_validators(body.encode(), etag=f'"{path}"')
        yield site


@pytest.fixture
def pipeline(site: Site, tmp_path: Path) -> Iterator[Pipeline]:
    with open_plain_pipeline(tmp_path, source_of(site)) as pipeline:
        pipeline.__dict__["parsers"] = ParserInThisThread()
        yield pipeline


def crawl(pipeline: Pipeline, run_id: str, *, version: str = "v1", keep_raw: bool = False) -> None:
    """Look at everything once more, a day later, with a parser of this version."""
    assert isinstance(pipeline.index.clock, SetClock)
    pipeline.index.clock.forward(days=1)
    pipeline.run_id = run_id
    pipeline.source = Source(**{**_fields(pipeline.source), "keep_raw": keep_raw})
    pipeline.__dict__["pipeline_version"] = f"{version} {keep_raw}"
    plan_source(pipeline)
    parse_leftovers(pipeline)
    while wave := plan_wave(pipeline, due_by=None):
        for batch in wave:
            fetch_batch(pipeline, batch.uris)
            parse_batch(pipeline, batch.uris)


def _fields(source: Source) -> dict[str, object]:
    return {name: getattr(source, name) for name in Source.__slots__}


def row(pipeline: Pipeline, site: Site, path: str = "/secret") -> KnownDocument:
    uri = site.url(path)
    return pipeline.index.ledger.documents.get(pipeline.source.name, [uri])[uri]


def is_kept(pipeline: Pipeline, site: Site, path: str = "/secret") -> bool:
    return pipeline.index.raw.has(row(pipeline, site, path).raw_sha or "")


def answers(site: Site) -> dict[str, bool]:
    """Paths that were asked for since the last call, and whether with a validator."""
    asked = {ask.path: "if-none-match" in ask.headers for ask in site.log if ask.path in PAGES}
    site.log.clear()
    return asked


def test_bytes_with_a_secret_are_read_and_not_kept(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1")

    secret, ledger = row(pipeline, site), pipeline.index.ledger
    assert (secret.state, secret.secrets, secret.withheld) == (DocumentState.FETCHED, 1, True)
    assert (is_kept(pipeline, site), is_kept(pipeline, site, "/plain")) == (False, True)
    assert secret.raw_sha not in ledger.retention.raw_shas()
    assert ledger.seen.secrets(pipeline.source.name) == SecretCounts(values=1, documents=1)
    told = Problem(url=site.url("/secret"), reason="secrets redacted: 1 github_token")
    assert told in problems_of(pipeline, ledger.seen.of_run(pipeline.source.name, "run-1"))
    for file in Path(pipeline.index.layout.root).rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()
    for sha256 in pipeline.index.fragments.hashes():
        assert TOKEN.encode() not in pipeline.index.fragments.get(sha256)


def test_a_304_is_still_an_answer_where_the_bytes_are_not_kept(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1")
    answers(site)
    crawl(pipeline, "run-2")

    assert answers(site) == {"/": True, "/plain": True, "/secret": True}
    assert row(pipeline, site).state is DocumentState.NOT_MODIFIED


def test_the_same_bytes_sent_again_are_dropped_again(pipeline: Pipeline, site: Site) -> None:
    site.pages["/secret"] = Reply(PAGES["/secret"].encode())
    crawl(pipeline, "run-1")
    crawl(pipeline, "run-2")

    assert row(pipeline, site).state is DocumentState.FETCHED
    assert not is_kept(pipeline, site)


def test_a_new_parser_fetches_what_was_not_kept_and_nothing_else(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1")
    known = pipeline.index.ledger.documents.of_source(pipeline.source.name)
    planned = plan_actions(pipeline.source, known, (), pipeline_versions=("v2 False",), due_by="2026")
    held_back = [action for action in planned if "secrets" in action.reason]
    assert [(action.action, action.uri) for action in held_back] == [(Action.FETCH, site.url("/secret"))]
    answers(site)
    crawl(pipeline, "run-2", version="v2")

    assert answers(site) == {"/": True, "/plain": True, "/secret": False}
    again = row(pipeline, site)
    assert (again.state, again.pipeline_version, again.withheld) == (DocumentState.FETCHED, "v2 False", True)
    assert not is_kept(pipeline, site)


def test_with_keep_raw_the_bytes_stay_until_it_is_taken_back(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1", keep_raw=True)
    secret = row(pipeline, site)
    assert (secret.secrets, secret.withheld, is_kept(pipeline, site)) == (1, False, True)
    answers(site)

    crawl(pipeline, "run-2", keep_raw=False)
    assert not is_kept(pipeline, site)
    crawl(pipeline, "run-3", keep_raw=True)
    assert is_kept(pipeline, site)


def test_keep_raw_is_part_of_what_a_fragment_depends_on(pipeline: Pipeline) -> None:
    sources = [Source(**{**_fields(pipeline.source), "keep_raw": keep}) for keep in (True, False)]
    assert len({pipeline_version(pipeline.model, source) for source in sources}) == 2


def test_a_page_whose_secret_has_gone_is_kept_again(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1")
    site.pages["/secret"] = with_validators(b"<h1>Doors</h1><p>Ask the porter.</p>", etag='"new"')
    crawl(pipeline, "run-2")

    assert (row(pipeline, site).secrets, is_kept(pipeline, site)) == (0, True)
    assert pipeline.index.ledger.seen.secrets(pipeline.source.name) == SecretCounts()


def test_equal_bytes_that_another_document_keeps_stay(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline, "run-1")
    secret = row(pipeline, site)
    other = KnownDocument(
        source="other", uri=secret.uri, state=DocumentState.FETCHED, raw_sha=secret.raw_sha, parsed_sha=None
    )
    pipeline.index.ledger.documents.save([other])
    site.pages["/secret"] = Reply(PAGES["/secret"].encode())
    crawl(pipeline, "run-2")

    assert is_kept(pipeline, site)
