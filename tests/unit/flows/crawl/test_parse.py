"""What is kept of a document that holds a secret, and what is asked of its site again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_what_is_left
from flows.crawl.plan import plan_next_wave, plan_source
from flows.run.account import problems_of
from flows.run.versions import pipeline_version
from indexes.stores.ledger.retention import FileKind
from ingest.plan.start import Action, plan_actions
from schemas.documents import DocumentState, KnownDocument
from schemas.report import Problem, SecretCounts
from schemas.source import Source
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import PlainRun, SetClock, open_plain_run, source_of
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
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    with open_plain_run(tmp_path, source_of(site)) as plain:
        plain.give(parsers=ParserInThisThread())
        yield plain


def crawl(plain: PlainRun, run_id: str, *, version: str = "v1", keep_raw: bool = False) -> None:
    """Look at everything once more, a day later, with a parser of this version."""
    assert isinstance(plain.index.clock, SetClock)
    plain.index.clock.forward(days=1)
    plain.run_id = run_id
    plain.source = Source(**{**_fields(plain.source), "keep_raw": keep_raw})
    plain.give(pipeline_version=f"{version} {keep_raw}")
    plan_source(plain.crawling)
    parse_what_is_left(plain.crawling)
    while wave := plan_next_wave(plain.crawling, due_by=None):
        for batch in wave:
            fetch_batch(plain.crawling, batch.uris)
            parse_batch(plain.crawling, batch.uris)


def _fields(source: Source) -> dict[str, object]:
    return {name: getattr(source, name) for name in Source.__slots__}


def row(plain: PlainRun, site: Site, path: str = "/secret") -> KnownDocument:
    uri = site.url(path)
    return plain.index.ledger.documents.get(plain.source.name, [uri])[uri]


def is_kept(plain: PlainRun, site: Site, path: str = "/secret") -> bool:
    return plain.index.raw.has(row(plain, site, path).raw_sha or "")


def answers(site: Site) -> dict[str, bool]:
    """Paths that were asked for since the last call, and whether with a validator."""
    asked = {ask.path: "if-none-match" in ask.headers for ask in site.log if ask.path in PAGES}
    site.log.clear()
    return asked


def test_bytes_with_a_secret_are_read_and_not_kept(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1")

    secret, ledger = row(plain, site), plain.index.ledger
    assert (secret.state, secret.secrets, secret.withheld) == (DocumentState.FETCHED, 1, True)
    assert (is_kept(plain, site), is_kept(plain, site, "/plain")) == (False, True)
    assert secret.raw_sha not in ledger.retention.needed(FileKind.RAW)
    assert ledger.seen.secrets(plain.source.name) == SecretCounts(values=1, documents=1)
    told = Problem(url=site.url("/secret"), reason="secrets redacted: 1 github_token")
    assert told in problems_of(plain.crawling, ledger.seen.of_run(plain.source.name, "run-1"))
    for file in Path(plain.index.layout.root).rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()
    for sha256 in plain.index.fragments.hashes():
        assert TOKEN.encode() not in plain.index.fragments.get(sha256)


def test_a_304_is_still_an_answer_where_the_bytes_are_not_kept(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1")
    answers(site)
    crawl(plain, "run-2")

    assert answers(site) == {"/": True, "/plain": True, "/secret": True}
    assert row(plain, site).state is DocumentState.NOT_MODIFIED


def test_the_same_bytes_sent_again_are_dropped_again(plain: PlainRun, site: Site) -> None:
    site.pages["/secret"] = Reply(PAGES["/secret"].encode())
    crawl(plain, "run-1")
    crawl(plain, "run-2")

    assert row(plain, site).state is DocumentState.FETCHED
    assert not is_kept(plain, site)


def test_a_new_parser_fetches_what_was_not_kept_and_nothing_else(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1")
    known = plain.index.ledger.documents.of_source(plain.source.name)
    planned = plan_actions(plain.source, known, (), pipeline_versions=("v2 False",), due_by="2026")
    held_back = [action for action in planned if "secrets" in action.reason]
    assert [(action.action, action.uri) for action in held_back] == [(Action.FETCH, site.url("/secret"))]
    answers(site)
    crawl(plain, "run-2", version="v2")

    assert answers(site) == {"/": True, "/plain": True, "/secret": False}
    again = row(plain, site)
    assert (again.state, again.pipeline_version, again.withheld) == (DocumentState.FETCHED, "v2 False", True)
    assert not is_kept(plain, site)


def test_with_keep_raw_the_bytes_stay_until_it_is_taken_back(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1", keep_raw=True)
    secret = row(plain, site)
    assert (secret.secrets, secret.withheld, is_kept(plain, site)) == (1, False, True)
    answers(site)

    crawl(plain, "run-2", keep_raw=False)
    assert not is_kept(plain, site)
    crawl(plain, "run-3", keep_raw=True)
    assert is_kept(plain, site)


def test_keep_raw_is_part_of_what_a_fragment_depends_on(plain: PlainRun) -> None:
    sources = [Source(**{**_fields(plain.source), "keep_raw": keep}) for keep in (True, False)]
    assert len({pipeline_version(plain.resources.model, source) for source in sources}) == 2


def test_a_page_whose_secret_has_gone_is_kept_again(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1")
    site.pages["/secret"] = with_validators(b"<h1>Doors</h1><p>Ask the porter.</p>", etag='"new"')
    crawl(plain, "run-2")

    assert (row(plain, site).secrets, is_kept(plain, site)) == (0, True)
    assert plain.index.ledger.seen.secrets(plain.source.name) == SecretCounts()


def test_equal_bytes_that_another_document_keeps_stay(plain: PlainRun, site: Site) -> None:
    crawl(plain, "run-1")
    secret = row(plain, site)
    other = KnownDocument(
        source="other", uri=secret.uri, state=DocumentState.FETCHED, raw_sha=secret.raw_sha, parsed_sha=None
    )
    plain.index.ledger.documents.save([other])
    site.pages["/secret"] = Reply(PAGES["/secret"].encode())
    crawl(plain, "run-2")

    assert is_kept(plain, site)
