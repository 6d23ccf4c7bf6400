"""What every kind of source keeps; an author of another package runs the same with a maker of their own."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.sources.registry import OURS, identify, kind_named
from ingest.urls import canonical_url, is_file_url
from runtime.source_file import parse_source
from schemas.errors import ConfigError, SitegraphError, Stopped
from schemas.fetch import FetchRequest, FetchStatus
from schemas.records import from_record, to_record
from schemas.source import Source
from tests.fakes.git_repositories import make_repository
from tests.fakes.open_sources import opened
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.warc_files import Archive

PAGE = "<html><head><title>{0}</title></head><body><main><h1>{0}</h1><p>{0}.</p></main></body></html>"
FIRST = {"a.html": PAGE.format("Lanterns"), "b/c.html": PAGE.format("Bells")}
SECOND = {"a.html": PAGE.format("Candles"), "b/c.html": PAGE.format("Bells"), "d.html": PAGE.format("New")}


@dataclass(frozen=True)
class Made:
    """A source of one kind: its source file, what its documents are called, and how they change."""

    text: str
    uri: Callable[[str], str]
    put: Callable[[Mapping[str, str]], None]


def _files(folder: Path, _stack: ExitStack) -> Made:
    def put(files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (folder / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "notes" / name).write_text(text)

    return Made("name: notes\nkind: files\nroots: [notes]\n", lambda path: f"files://notes/{path}", put)


def _git(folder: Path, _stack: ExitStack) -> Made:
    repository = make_repository(folder / "repository")
    text = "name: notes\nkind: git\nrepository: repository\n"
    return Made(text, lambda path: f"files://notes/{path}", lambda files: [None, repository.commit(files)][0])


def _web(_folder: Path, stack: ExitStack) -> Made:
    site = Site({"/robots.txt": Reply(b"", 404)})
    stack.enter_context(serve(site))

    def put(files: Mapping[str, str]) -> None:
        site.pages.update({f"/{name}": Reply(text.encode()) for name, text in files.items()})
        listed = "".join(f"<url><loc>{site.url('/' + name)}</loc></url>" for name in files)
        xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
        site.pages["/sitemap.xml"] = Reply(xml.encode(), headers={"Content-Type": "application/xml"})

    text = f"name: notes\nkind: web\nseeds: ['{site.url('/a.html')}']\nallow_private: ['{site.address}']\n"
    return Made(text + "rate: {per_host_delay: 0}\n", lambda path: site.url(f"/{path}"), put)


def _warc(folder: Path, _stack: ExitStack) -> Made:
    archive, date = Archive(folder / "crawl.warc.gz"), iter(range(1, 9))

    def put(files: Mapping[str, str]) -> None:
        day = next(date)
        for name, text in files.items():
            archive.add(name, text.encode(), date=f"2026-01-0{day}T00:00:00Z")

    text = "name: notes\nkind: warc\narchives: [crawl.warc.gz]\n"
    return Made(text, lambda path: f"http://docs.example.org/{path}", put)


MAKERS = {"web": _web, "files": _files, "git": _git, "warc": _warc}


def test_every_kind_of_ours_is_held_to_the_contract() -> None:
    assert set(MAKERS) == set(OURS)


@pytest.fixture(params=sorted(MAKERS))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Made]:
    """A source of each kind with the first documents in it."""
    with ExitStack() as stack:
        source = MAKERS[request.param](tmp_path, stack)
        source.put(FIRST)
        yield source


def source_of(made: Made, folder: Path) -> Source:
    return parse_source(made.text, subject="source.yaml", folder=folder)


def test_what_is_there_is_listed_once_under_canonical_uris(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        uris = source.uris()
        assert source.uris() == uris
    kind = kind_named(source.source.kind)

    assert uris == sorted({made.uri("a.html"), made.uri("b/c.html")})
    assert all(canonical_url(uri) == uri for uri in uris)
    assert all(is_file_url(uri) == kind.by_path for uri in uris)


def test_bytes_come_as_they_are(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        results = source.fetch(source.uris())

    assert {result.status for result in results.values()} == {FetchStatus.OK}
    assert {uri: result.body for uri, result in results.items()} == {
        made.uri(name): text.encode() for name, text in FIRST.items()
    }


def test_some_are_fetched_without_a_listing(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        (result,) = source.fetch([made.uri("b/c.html")]).values()

    assert result.body == FIRST["b/c.html"].encode()


def test_what_an_etag_proves_unchanged_is_not_read(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        known = {uri: result.etag for uri, result in source.fetch(source.uris()).items()}
    made.put(SECOND)
    with opened(made.text, tmp_path) as source:
        after = source.fetch([*known, made.uri("d.html")], known)
    proves = kind_named(source.source.kind).proves_content

    assert after[made.uri("a.html")].body == SECOND["a.html"].encode()
    assert after[made.uri("d.html")].body == SECOND["d.html"].encode()
    same = after[made.uri("b/c.html")]
    assert (same.status is FetchStatus.NOT_MODIFIED, same.body is None) == (proves, proves)
    assert all(etag is not None for etag in known.values()) or not proves


def test_equal_names_of_content_are_equal_bytes(made: Made, tmp_path: Path) -> None:
    def read() -> dict[tuple[str, str], bytes | None]:
        with opened(made.text, tmp_path) as source:
            named = {entry.uri: entry.content for entry in source.listing().entries if entry.content}
            return {(uri, named[uri]): result.body for uri, result in source.fetch(named).items()}

    before = read()
    made.put(SECOND)
    after = read()
    assert all(before[key] == after[key] for key in before.keys() & after.keys())
    assert bool(before.keys() & after.keys()) == bool(before)


def test_what_is_not_there_is_gone_or_missing_and_never_an_exception(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        (result,) = source.fetch([made.uri("nowhere.html")]).values()

    assert result.status in (FetchStatus.GONE, FetchStatus.NOT_FOUND)
    assert result.body is None
    assert result.reason


def test_a_stop_ends_the_reading(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source, pytest.raises(Stopped):
        source.port.fetch(
            [FetchRequest(url=made.uri("a.html"))], on_result=lambda _result: None, should_stop=lambda: True
        )


def test_readers_get_an_address_or_a_path_to_cite(made: Made, tmp_path: Path) -> None:
    with opened(made.text, tmp_path) as source:
        (result,) = source.fetch([made.uri("b/c.html")]).values()
    cited = identify(source.source, result.url, result.etag)
    kind = kind_named(source.source.kind)

    assert cited == identify(source.source, result.url, result.etag)
    assert cited.path == ("b/c.html" if kind.by_path else None)
    assert cited.url is None or (cited.url.startswith("http") and "#" not in cited.url)
    assert cited.url is not None or cited.path is not None


def test_a_source_goes_through_the_ledger_as_it_is(made: Made, tmp_path: Path) -> None:
    source = source_of(made, tmp_path)

    assert from_record(Source, to_record(source)) == source
    keys = kind_named(source.kind).keys
    assert keys.of(source) == keys.of(from_record(Source, to_record(source)))


def test_a_key_that_is_unknown_is_named(made: Made, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no_such_key: unknown key; known: "):
        parse_source(made.text + "no_such_key: 1\n", subject="source.yaml", folder=tmp_path)


def test_a_place_that_is_lost_is_no_empty_one(made: Made, tmp_path: Path) -> None:
    source = source_of(made, tmp_path)
    if not kind_named(source.kind).lists_all:
        assert source.seeds, "a site that is down is told by its seeds"
        return
    for name in os.listdir(tmp_path):
        (tmp_path / name).rename(tmp_path.with_name(f"{tmp_path.name}-{name}"))
    with pytest.raises(SitegraphError), opened(made.text, tmp_path) as again:
        again.listing()
