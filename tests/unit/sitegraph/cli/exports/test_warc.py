"""What a crawl found goes into a WARC file, and is found in it again."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from schemas.fetch import FetchStatus
from sitegraph.actions.export_warc import write_warc
from tests.fakes.open_sources import opened
from tests.fakes.plain_run import crawl, open_plain_run, source_of
from tests.fakes.site_server import Reply, Site, serve

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def page(title: str, body: str = "") -> Reply:
    words = " ".join(f"{title}{n}" for n in range(60))
    head = f"<html><head><title>{title}</title></head>"
    html = f"{head}<body><main><h1>{title}</h1><p>{words} {body}</p></main></body></html>"
    return Reply(html.encode(), headers={"Content-Type": "text/html; charset=utf-8", "ETag": f'"{title}"'})


@pytest.fixture
def site() -> Site:
    links = "".join(
        f"<a href='/{name}'>{name}</a> " for name in ("a", "old", "lost", "gone", "stub", "hidden", "secret")
    )
    stub = b"<html><head><meta http-equiv='refresh' content='0; url=/a'></head><body>Moved</body></html>"
    hidden = page("hidden")
    return Site(
        {
            "/robots.txt": Reply(b"", 404),
            "/": page("start", links),
            "/a": page("a"),
            "/old": Reply(b"", 301, {"Location": "/a"}),
            "/lost": Reply(b"", 404),
            "/gone": Reply(b"", 410),
            "/stub": Reply(stub, headers={"Content-Type": "text/html"}),
            "/hidden": Reply(hidden.body, headers={**hidden.headers, "X-Robots-Tag": "noindex"}),
            "/secret": page("secret", f"The token is {SECRET}."),
        }
    )


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_every_answer_is_found_in_the_file_again(site: Site, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"site.warc{suffix}"
    with serve(site), open_plain_run(tmp_path / "index", source_of(site)) as plain:
        crawl(plain, "run-1")
        files = [BytesIO(), BytesIO()]
        left_out = [write_warc(plain.index, out, source=None, gzip=bool(suffix)) for out in files]
        fetched = {known.uri: known for known in plain.index.ledger.documents.of_source("handbook")}
    file.write_bytes(files[0].getvalue())

    assert files[0].getvalue() == files[1].getvalue()
    assert dict(left_out[0]) == {"with secrets in their bytes, which are not kept": 1}
    assert SECRET.encode() not in (gzip.decompress(file.read_bytes()) if suffix else file.read_bytes())
    with file.open("rb") as stream:
        kinds = [record.rec_type for record in ArchiveIterator(stream, check_digests="raise")]
    assert kinds == ["warcinfo", *["response"] * 7]
    with opened(f"name: handbook\nkind: warc\narchives: [{file.name}]\n", tmp_path) as source:
        results = source.fetch(source.uris())
        assert source.listing().problems == ()
    statuses = {url.removeprefix(site.url("/")): result.status for url, result in results.items()}
    assert statuses == {
        "": FetchStatus.OK,
        "a": FetchStatus.OK,
        "gone": FetchStatus.GONE,
        "hidden": FetchStatus.OK,
        "lost": FetchStatus.NOT_FOUND,
        "old": FetchStatus.REDIRECTED,
        "stub": FetchStatus.OK,
    }
    assert results[site.url("/old")].location == site.url("/a")
    assert results[site.url("/hidden")].x_robots_tag == "noindex"
    for url, result in results.items():
        assert result.body is None or fetched[url].content_type == result.content_type
