"""One coding undone, its end demanded, its size counted."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import brotli
import pytest
from backports import zstd

from ingest.fetch.body import build_decoder
from ingest.fetch.faults import FetchFault, FetchFaultKind
from schemas.fetch import FetchStatus
from tests.fakes.fetching import fetch_one, session_for
from tests.fakes.site_server import Reply, Site, serve

_TEXT = b"<html>" + bytes(range(32, 127)) * 3000 + b"</html>"
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
_codings = pytest.mark.parametrize("coding", sorted(_PACK))


def _decode(coding: str, data: bytes, *, step: int = 1000) -> tuple[bytes, bool]:
    decoder = build_decoder(coding)
    assert decoder is not None
    pieces = [p for at in range(0, len(data), step) for p in decoder.feed(data[at : at + step])]
    return b"".join(pieces), decoder.ended()


@_codings
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_body_comes_back_however_it_is_cut_into_packets(coding: str, step: int) -> None:
    assert _decode(coding, _PACK[coding](_TEXT), step=step) == (_TEXT, True)


@_codings
def test_a_truncated_body_has_not_ended(coding: str) -> None:
    packed = _PACK[coding](_TEXT)
    assert not any(_decode(coding, packed[:length], step=50)[1] for length in range(0, len(packed), 7))


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("behind", [b"\0" * 16, b"<!-- kept -->", b"\x1f no member", b"\n"])
@pytest.mark.parametrize("step", [1, 1000])
def test_what_follows_a_whole_body_and_is_none_is_ignored(coding: str, behind: bytes, step: int) -> None:
    assert _decode(coding, _PACK[coding](b"a page") + behind, step=step) == (b"a page", True)


@pytest.mark.parametrize("coding", ["deflate", "gzip, gzip", "compress", "br, gzip", "aws-chunked"])
def test_a_coding_we_did_not_ask_for_is_refused(coding: str) -> None:
    with pytest.raises(FetchFault) as caught:
        build_decoder(coding)
    assert caught.value.kind is FetchFaultKind.CODING


@_codings
def test_bytes_that_are_not_the_coding_are_undecodable(coding: str) -> None:
    with pytest.raises(FetchFault) as caught:
        _decode(coding, b"\x00plain text under the wrong name, long enough for any decoder to notice")
    assert caught.value.kind is FetchFaultKind.UNDECODABLE


@pytest.mark.parametrize(
    "coding", [None, "", "identity", " Identity ", "utf-8", "none", "8bit", "UTF-8, none"]
)
def test_no_coding_needs_no_decoder(coding: str | None) -> None:
    assert build_decoder(coding) is None


@_codings
def test_a_truncated_body_with_right_framing_is_never_a_document(coding: str) -> None:
    cut = Reply(_PACK[coding](_TEXT)[:-10], headers={"Content-Encoding": coding})
    with serve(Site({"/": cut})) as site, session_for(site) as session:
        result = fetch_one(session, site.url("/"))
        assert (result.status, result.body, result.requests) == (FetchStatus.FAILED, None, 4)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_page_in_two_members_comes_whole(coding: str) -> None:
    packed = _PACK[coding](_TEXT[:1000]) + _PACK[coding](_TEXT[1000:])
    site = Site({"/": Reply(packed, headers={"Content-Encoding": coding})})
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/")).body == _TEXT


@pytest.mark.parametrize("named", ["gzip, br", "br", "identity", "unheard-of"])
def test_a_page_packed_twice_or_unknown_is_no_document(named: str) -> None:
    packed = Reply(brotli.compress(gzip.compress(_TEXT)), headers={"Content-Encoding": named})
    with serve(Site({"/": packed})) as site, session_for(site) as session:
        result = fetch_one(session, site.url("/"))
        assert result.status in {FetchStatus.REFUSED, FetchStatus.UNSUPPORTED}
        assert (result.body, result.requests) == (None, 1)


@_codings
def test_a_bomb_is_refused_without_filling_memory(coding: str) -> None:
    bomb = Reply(_bomb(coding, 1 << 27), headers={"Content-Encoding": coding})
    with serve(Site({"/": bomb})) as site, session_for(site) as session, growth_in_mb() as growth:
        result = fetch_one(session, site.url("/"))
        assert (result.status, result.requests) == (FetchStatus.REFUSED, 1)
        assert "cap" in result.reason
        assert growth() < 100


@_codings
@pytest.mark.parametrize("layers", ["named", "hidden"])
def test_a_bomb_in_a_bomb_is_refused_without_filling_memory(coding: str, layers: str) -> None:
    nested = _PACK[coding](_bomb(coding, 1 << 27))
    named = f"{coding}, {coding}" if layers == "named" else coding
    bomb = Reply(nested, headers={"Content-Encoding": named})
    with serve(Site({"/": bomb})) as site, session_for(site) as session, growth_in_mb() as growth:
        assert fetch_one(session, site.url("/")).body is None
        assert growth() < 100


@pytest.mark.parametrize("coding", [None, *sorted(_PACK)])
def test_a_sitemap_that_is_a_bomb_is_reported_without_filling_memory(coding: str | None) -> None:
    body = _bomb("gzip", 1 << 28)
    packed = Reply(_PACK[coding](body), headers={"Content-Encoding": coding}) if coding else Reply(body)
    robots = Reply(b"Sitemap: /s.xml.gz", content_type="text/plain")
    site = Site({"/robots.txt": robots, "/s.xml.gz": packed})
    with serve(site), session_for(site) as session, growth_in_mb() as growth:
        assert session.sitemaps((site.url("/"),)) == ()
        assert ["50000000" in problem.reason for problem in session.problems] == [True]
        # 50 MB, as a sitemap may have, and what the allocator copies to grow, by what ran before.
        assert growth() < 160


@cache
def _bomb(coding: str, size: int) -> bytes:
    step = b"a" * (1 << 20)
    if coding == "gzip":
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        return b"".join(packer.compress(step) for _ in range(size >> 20)) + packer.flush()
    if coding == "zstd":
        frames = zstd.ZstdCompressor()
        return b"".join(frames.compress(step) for _ in range(size >> 20)) + frames.flush()
    stream = brotli.Compressor(quality=1)
    packed: bytes = b"".join(stream.process(step) for _ in range(size >> 20)) + stream.finish()
    return packed


@contextmanager
def growth_in_mb() -> Iterator[Callable[[], float]]:
    """Return a question: the peak since the block began, less what was resident then, in MB.

    The kernel's mark (VmHWM) is reset first: it, and `ru_maxrss` the more, remembers whatever ran before.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError as error:
        pytest.skip(f"the kernel's memory mark cannot be reset ({error})")
    before = _status("VmRSS")
    yield lambda: (_status("VmHWM") - before) / 1000


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1])
