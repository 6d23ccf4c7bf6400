"""WARC files: of wget, of warcio, and damaged ones."""

import base64
import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ConfigError, GuardRefused
from schemas.fetch import FetchResult, FetchStatus
from tests.fakes.open_sources import Opened, opened
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.warc_files import HOST, HTML, Archive

TEXT = "name: site\nkind: warc\narchives: [crawl.warc.gz]\n"


def page(title: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>".encode()


def digest(title: str) -> str:
    """Digest of a page's bytes, as WARC files name it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(page(title), usedforsecurity=False).digest()).decode()


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "crawl.warc.gz")


def read(tmp_path: Path, text: str = TEXT) -> tuple[dict[str, FetchResult], list[str]]:
    """Results by path, and reasons of the problems."""
    with opened(text, tmp_path) as source:
        listing = source.listing()
        results = source.fetch(source.uris())
    return (
        {url.removeprefix(HOST): result for url, result in results.items()},
        [problem.reason for problem in listing.problems],
    )


def test_the_newest_answer_of_an_address_wins(archive: Archive, tmp_path: Path) -> None:
    archive.add("a", page("second"), date="2026-02-01T00:00:00Z")
    archive.add("a", page("first"), date="2026-01-01T00:00:00Z")
    archive.add("a?utm_source=x#top", page("third"), date="2026-03-01T00:00:00Z")
    results, problems = read(tmp_path)

    assert {path: result.body for path, result in results.items()} == {"a": page("third")}
    assert problems == []


def test_answers_are_seen_as_the_web_gives_them(archive: Archive, tmp_path: Path) -> None:
    archive.add("moved", status="301 Moved", headers={"Location": "/here"})
    archive.add("missing", b"not here", status="404 Not Found")
    archive.add("gone", status="410 Gone")
    archive.add("broken", status="500 Oops")
    headers = [
        ("Content-Type", "text/html"),
        ("X-Robots-Tag", "noindex"),
        ("X-Robots-Tag", "other: nofollow"),
    ]
    archive.add("here", page("here"), headers=dict(headers[:2]))
    archive.add("plain", page("resource"), kind="resource")
    results, _ = read(tmp_path)

    assert {path: result.status for path, result in results.items()} == {
        "broken": FetchStatus.FAILED,
        "gone": FetchStatus.GONE,
        "here": FetchStatus.OK,
        "missing": FetchStatus.NOT_FOUND,
        "moved": FetchStatus.REDIRECTED,
        "plain": FetchStatus.OK,
    }
    assert (results["moved"].location, results["moved"].permanent) == (HOST + "here", True)
    assert results["here"].x_robots_tag == "noindex"
    assert results["here"].content_type == "text/html"


def test_codings_are_undone_and_their_end_is_demanded(archive: Archive, tmp_path: Path) -> None:
    packed = {**HTML, "Content-Encoding": "gzip"}
    chunked = {**packed, "Transfer-Encoding": "chunked"}
    body = gzip.compress(page("x"))
    archive.add("gzip", body, headers=packed)
    archive.add("chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), headers=chunked)
    archive.add("undone", page("x"), headers=chunked)
    archive.add("cut", body[:-9], headers=packed)
    archive.add("bomb", gzip.compress(b" " * 80_000_000), headers=packed)
    archive.add("odd", body, headers={**HTML, "Content-Encoding": "lzma"})
    results, _ = read(tmp_path)

    assert {results[path].body for path in ("gzip", "chunked", "undone")} == {page("x")}
    assert {results[path].status for path in ("cut", "odd", "bomb")} <= {
        FetchStatus.FAILED,
        FetchStatus.REFUSED,
    }
    assert "before its content coding did" in results["cut"].reason
    assert "cap" in results["bomb"].reason


def test_what_is_no_document_is_left_out_and_counted(archive: Archive, tmp_path: Path) -> None:
    archive.add("a", page("a"))
    archive.add("logo.png", b"\x89PNG\0", headers={"Content-Type": "image/png"})
    archive.add("b.png", b"\x89PNG\0", headers={"Content-Type": "image/png"})
    archive.add("robots.txt", b"User-agent: *\n", headers={"Content-Type": "text/plain"})
    archive.add("a", status="304 Not Modified", date="2027-01-01T00:00:00Z")
    results, problems = read(tmp_path)

    assert {path: result.body for path, result in results.items()} == {"a": page("a")}
    assert problems == ["left out: 4 records that are no documents (image/png 2, robots.txt 1, HTTP 304 1)"]


def test_a_record_that_repeats_a_payload_gets_it(archive: Archive, tmp_path: Path) -> None:
    archive.add("a", page("old"), date="2026-01-01T00:00:00Z")
    archive.add("a", page("new"), date="2026-01-02T00:00:00Z")
    archive.add("a", date="2026-01-03T00:00:00Z", kind="revisit", WARC_Payload_Digest=digest("old"))
    archive.add("copy", kind="revisit", WARC_Payload_Digest=digest("new"))
    archive.add("lost", kind="revisit", WARC_Payload_Digest="sha1:ELSEWHERE")
    results, problems = read(tmp_path)

    assert {path: result.body for path, result in results.items()} == {"a": page("old"), "copy": page("new")}
    assert problems == ["left out: repeats a record that is not here"]


def test_what_did_not_change_is_not_read_again(archive: Archive, tmp_path: Path) -> None:
    archive.add("a", page("a"))
    archive.add("b", page("b"))
    with opened(TEXT, tmp_path) as source:
        before = source.fetch(source.uris())
    archive.add("b", page("b2"), date="2026-05-01T00:00:00Z")
    with opened(TEXT, tmp_path) as source:
        after = source.fetch(before, {url: result.etag for url, result in before.items()})

    assert after[HOST + "a"].status is FetchStatus.NOT_MODIFIED
    assert after[HOST + "b"].body == page("b2")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_damage_costs_one_record_and_the_rest_is_read(suffix: str, tmp_path: Path) -> None:
    archive = Archive(tmp_path / f"crawl.warc{suffix}")
    for name in "abcd":
        archive.add(name, page(name * 50))
    whole = archive.file.read_bytes()
    text = TEXT.replace("crawl.warc.gz", archive.file.name)
    second, third = archive.starts[1:3]
    fourth = archive.starts[3]
    for damage in (b"\0" * 40, b"", b"WARC/1.0\r\nContent-Length: 99999999\r\n\r\n"):
        archive.file.write_bytes(whole[: second + 1] + damage + whole[second + 60 :])
        results, problems = read(tmp_path, text)
        assert {"a", "c", "d"} <= set(results), (damage, problems)
        assert any("the rest is read" in reason for reason in problems)
    archive.file.write_bytes(whole[: fourth - 12])
    results, problems = read(tmp_path, text)
    assert set(results) == {"a", "b"}
    assert problems == [f"the record at byte {third} breaks off; the rest is read"]


def test_a_member_that_unfolds_without_end_is_bounded_and_the_rest_is_read(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "crawl.warc.gz")
    archive.add("a", page("a"))
    first = archive.file.read_bytes()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {HOST}b\r\nContent-Length: 300000000\r\n\r\n"
    bomb = gzip.compress(head.encode() + b"HTTP/1.1 200 OK\r\n\r\n" + b"0" * 300_000_000)
    archive.add("c", page("c"))
    archive.file.write_bytes(first + bomb + archive.file.read_bytes()[len(first) :])

    results, problems = read(tmp_path)

    assert set(results) == {"a", "c"}
    assert any("unfolds to more than" in reason for reason in problems)


def test_one_gzip_member_around_a_whole_file_is_read(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "crawl.warc")
    for name in "abc":
        archive.add(name, page(name))
    (tmp_path / "crawl.warc.gz").write_bytes(gzip.compress(archive.file.read_bytes()))
    results, problems = read(tmp_path)

    assert (set(results), problems) == ({"a", "b", "c"}, [])


def test_a_folder_of_files_is_one_archive(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    for name in ("b.warc.gz", "a.warc"):
        Archive(tmp_path / "crawl" / name).add(name[0], page(name))
    (tmp_path / "crawl" / "notes.txt").write_text("no WARC")
    results, problems = read(tmp_path, "name: site\nkind: warc\narchives: [crawl]\n")

    assert (set(results), problems) == ({"a", "b"}, [])


@pytest.mark.parametrize(
    "content", [b"", b"<html>no archive</html>", b"\x1f\x8b\x08 half of gzip", b"\0" * 3_000_000]
)
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "crawl.warc.gz").write_bytes(content)
    with (
        opened(TEXT, tmp_path) as source,
        pytest.raises(GuardRefused, match="holds no record of a WARC file"),
    ):
        source.listing()


def test_an_archive_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GuardRefused, match=r"crawl\.warc\.gz: does not exist"), opened(TEXT, tmp_path):
        pass
    with pytest.raises(ConfigError, match="archives"), opened("name: a\nkind: warc\n", tmp_path):
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    pages: dict[str, Any] = {
        "/": Reply(
            b"<html><body><a href='/a.html'>a</a> <a href='/old'>old</a> <a href='/no'>no</a></body></html>"
        ),
        "/a.html": Reply(page("a")),
        "/old": Reply(b"", 302, {"Location": "/a.html"}),
        "/robots.txt": Reply(b"", 404),
    }
    site = Site(pages)
    with serve(site):
        yield site


@pytest.mark.skipif(shutil.which("wget") is None, reason="needs wget")
def test_what_wget_archived_is_read(site: Site, tmp_path: Path) -> None:
    subprocess.run(
        ["wget", "--quiet", "--recursive", "--no-config", "--warc-file=crawl", site.url("/")],
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    with opened(TEXT, tmp_path) as source:
        results = source.fetch(source.uris())
        archived: Opened = source

    statuses = {url.removeprefix(site.url("/")): result.status for url, result in results.items()}
    assert statuses == {
        "": FetchStatus.OK,
        "a.html": FetchStatus.OK,
        "no": FetchStatus.NOT_FOUND,
        "old": FetchStatus.REDIRECTED,
    }
    assert archived.listing().problems[0].reason.startswith("left out: ") or not archived.listing().problems
