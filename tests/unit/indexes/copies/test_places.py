"""Where an index may be read from, and where a server may not lead."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import pytest

from indexes.copies.places import HttpPlace, IndexPlace, open_place, read_place_file
from schemas.errors import ConfigError, DamageFound, StoreUnavailable


class _Leading(http.server.BaseHTTPRequestHandler):
    """Leads `/near` to `/CURRENT` here, and everything else to another server; keeps what it was told."""

    told: list[str | None]

    def do_GET(self) -> None:
        self.told.append(self.headers["Authorization"])
        if self.path == "/CURRENT":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"1\n")
            return
        self.send_response(302)
        self.send_header("Location", "/CURRENT" if self.path == "/near" else "http://127.0.0.2:9/CURRENT")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Cutting(http.server.BaseHTTPRequestHandler):
    """Ends each answer before all of its bytes came."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"1\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """A server that leads elsewhere."""
    _Leading.told = []
    with _running(_Leading) as address:
        yield address


@contextmanager
def _running(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_redirect_is_followed_within_a_server_and_refused_to_another(server: str) -> None:
    place = HttpPlace(server, token="t")
    assert read_place_file(place, "near", most=10) == b"1\n"
    with pytest.raises(ConfigError, match="leads to another server"):
        read_place_file(place, "far", most=10)
    assert _Leading.told == ["Bearer t"] * 3


def test_what_is_longer_than_it_may_be_is_not_read(server: str) -> None:
    with pytest.raises(DamageFound, match="more than 1 bytes"):
        read_place_file(HttpPlace(server), "CURRENT", most=1)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable, match=r"cannot be reached: (?!<)"):
        read_place_file(open_place("http://127.0.0.1:9"), "CURRENT", most=1)


def test_a_file_of_a_folder_is_read_from_where_it_was_left(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abcdef")
    with open_place(str(tmp_path)).opened("x", 4) as (start, file):
        assert (start, file.read(10)) == (4, b"ef")


@pytest.fixture(params=["folder", "web server", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> IndexPlace:
    """A place of each kind with a file CURRENT."""
    if request.param == "web server":
        return open_place(request.getfixturevalue("server"))
    if request.param == "bucket":
        url = request.getfixturevalue("bucket_url")
        fsspec.filesystem("s3", skip_instance_cache=True).pipe_file(f"{url}/CURRENT", b"1\n")
        return open_place(url)
    (tmp_path / "CURRENT").write_bytes(b"1\n")
    return open_place(str(tmp_path))


def test_what_goes_wrong_with_the_bytes_that_came_is_no_fault_of_the_place(place: IndexPlace) -> None:
    with (
        pytest.raises(OSError, match="No space left on device"),
        place.opened("CURRENT", 0) as (_, file),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(file.read(10))


def test_a_bucket_that_ends_before_the_file_does_is_unavailable(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _running(_Cutting) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(StoreUnavailable, match="AWS_ENDPOINT_URL"):
            read_place_file(open_place(bucket_url), "CURRENT", most=100)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/x",
        "file:///etc",
        "http://",
        "http://u:p@h/x",
        "s3://k:s@b/p",
        "http://h/x?y=1",
        "http://h /x",
    ],
)
def test_a_url_that_is_no_place_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is no place of an index"):
        open_place(url)
