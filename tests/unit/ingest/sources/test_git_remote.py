"""Repositories over HTTP, from git's own server on loopback."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import urllib3

from ingest.sources import git_http, git_remote
from schemas.errors import GuardRefused
from schemas.fetch import FetchStatus
from tests.fakes.git_repositories import GitRepository, GitServer, make_repository, serve_git
from tests.fakes.name_look_up import resolver
from tests.fakes.open_sources import opened

__all__ = ["resolver"]

SECRET = "Basic b3dubmVyOmxldC1tZS1pbi0xMjM0NTY="


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return make_repository(tmp_path / "served" / "repo")


@pytest.fixture
def server(repository: GitRepository) -> Iterator[GitServer]:
    with serve_git(repository.root.parent) as server:
        yield server


def text(server: GitServer, more: str = "", *, path: str = "repo") -> str:
    return (
        f"name: notes\nkind: git\nrepository: {server.url}{path}\n"
        f"allow_private: ['127.0.0.1:{server.port}']\n{more}\n"
    )


def uri(path: str) -> str:
    return f"files://notes/{path}"


def test_the_next_commit_is_fetched_without_what_is_there_and_without_history(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    noise = {
        f"{n}.md": f"# {n}\n\n" + "".join(chr(97 + (n * k * k) % 26) for k in range(2000)) for n in range(200)
    }
    repository.commit({"old.md": "".join(map(str, range(20_000)))})
    repository.commit({**noise, "old.md": None})
    with opened(text(server), tmp_path) as source:
        first = source.fetch(source.uris())
    assert len(first) == 200
    assert {result.status for result in first.values()} == {FetchStatus.OK}
    whole, server.sent = server.sent, 0
    repository.commit({"7.md": "# Seven\n"})

    with opened(text(server), tmp_path) as source:
        source.listing()
        second = source.fetch(first, {u: result.etag for u, result in first.items()})

    changed = [u for u, result in second.items() if result.status is not FetchStatus.NOT_MODIFIED]
    assert changed == [uri("7.md")]
    assert second[uri("7.md")].body == b"# Seven\n"
    assert server.sent < whole / 10
    cached = GitRepository(tmp_path / "cache" / "git")
    assert cached.git("rev-list", "--count", "refs/heads/read") == "1"
    cached.git("fsck", "--strict")


def test_a_tag_and_a_commit_by_its_id_are_fetched(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    old = repository.commit({"a.md": "old"})
    repository.git("tag", "--annotate", "v1", "--message", "One")
    repository.commit({"a.md": "new"})

    for ref in ("v1", old):
        with opened(text(server, f"ref: '{ref}'"), tmp_path, cache=tmp_path / ref) as source:
            assert source.fetch([uri("a.md")])[uri("a.md")].body == b"old"
    with (
        opened(text(server, "ref: v2"), tmp_path) as source,
        pytest.raises(GuardRefused, match="no branch or tag v2"),
    ):
        source.listing()


def test_a_private_address_is_asked_only_where_the_source_allows_it(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    repository.commit({"a.md": "a"})
    plain = f"name: notes\nkind: git\nrepository: {server.url}repo\n"
    with opened(plain, tmp_path) as source, pytest.raises(GuardRefused, match="allow_private"):
        source.listing()
    assert server.requests == []


def test_a_login_is_asked_for_and_sent_and_kept_nowhere(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    repository.commit({"a.md": "a"})
    server.token = SECRET
    with (
        opened(text(server), tmp_path) as source,
        pytest.raises(GuardRefused, match=r"requires a login \(HTTP 401\); set auth"),
    ):
        source.listing()
    with opened(text(server), tmp_path, login={"Authorization": SECRET}) as source:
        assert source.uris() == [uri("a.md")]
    for file in (tmp_path / "cache").rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_a_repository_that_moved_is_followed(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    repository.commit({"a.md": "a"})
    server.moved = {"/former/": "/repo/"}
    with opened(text(server, path="former"), tmp_path) as source:
        assert source.uris() == [uri("a.md")]


def test_a_redirect_to_a_private_address_is_refused(
    repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    repository.commit({"a.md": "a"})
    server.moved = {"/former/": "http://[::1]:9/repo/"}
    with opened(text(server, path="former"), tmp_path) as source, pytest.raises(GuardRefused, match="port 9"):
        source.listing()


@pytest.mark.parametrize("path", ["nothing", "repo/none"])
def test_where_no_repository_is_the_run_is_refused(
    path: str, repository: GitRepository, server: GitServer, tmp_path: Path
) -> None:
    with (
        opened(text(server, path=path), tmp_path) as source,
        pytest.raises(GuardRefused, match="knows no repository there; nothing was changed"),
    ):
        source.listing()


def test_a_server_that_is_down_is_no_deletion(repository: GitRepository, tmp_path: Path) -> None:
    with serve_git(repository.root.parent) as server:
        pass
    with opened(text(server), tmp_path) as source, pytest.raises(GuardRefused, match="cannot be reached"):
        source.listing()


def test_an_address_that_does_not_answer_gives_way_to_the_next(
    repository: GitRepository,
    server: GitServer,
    tmp_path: Path,
    resolver: dict[str, Callable[[], list[str]]],
) -> None:
    repository.commit({"a.md": "a"})
    resolver["two.example"] = lambda: ["127.0.0.2", "127.0.0.1"]
    with opened(text(server).replace("127.0.0.1", "two.example"), tmp_path) as source:
        assert source.uris() == [uri("a.md")]


def test_one_address_that_may_not_be_asked_refuses_its_name(
    repository: GitRepository,
    server: GitServer,
    tmp_path: Path,
    resolver: dict[str, Callable[[], list[str]]],
) -> None:
    repository.commit({"a.md": "a"})
    resolver["two.example"] = lambda: ["127.0.0.1", "127.0.0.2"]
    both = text(server).replace("http://127.0.0.1", "http://two.example")
    with opened(both, tmp_path) as source, pytest.raises(GuardRefused, match="allow_private"):
        source.listing()
    assert server.requests == []


def test_a_name_look_up_that_hangs_ends(
    server: GitServer,
    tmp_path: Path,
    resolver: dict[str, Callable[[], list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()
    resolver["slow.example"] = lambda: ["127.0.0.1"] if answered.wait(30) else []
    monkeypatch.setattr(git_http, "_TIMEOUT", urllib3.Timeout(connect=0.2, read=60.0))
    began = time.monotonic()
    with (
        opened(text(server).replace("127.0.0.1", "slow.example"), tmp_path) as source,
        pytest.raises(GuardRefused, match=r"cannot be reached \(ConnectTimeoutError\)"),
    ):
        source.listing()
    answered.set()
    assert time.monotonic() - began < 15


def test_a_name_that_nobody_knows_is_no_deletion(server: GitServer, tmp_path: Path) -> None:
    unknown = text(server).replace("127.0.0.1", "nowhere.invalid")
    with (
        opened(unknown, tmp_path) as source,
        pytest.raises(GuardRefused, match=r"cannot be reached \(NameResolutionError\)"),
    ):
        source.listing()


def test_size_and_time_are_bounded(
    repository: GitRepository, server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"big.bin": bytes(n * n * 7 % 251 for n in range(1_000_000)) * 2})
    with opened(text(server, "max_mb: 1"), tmp_path) as source, pytest.raises(GuardRefused, match="max_mb"):
        source.listing()
    monkeypatch.setattr(git_remote, "SECONDS", 0.0)
    with opened(text(server), tmp_path) as source, pytest.raises(GuardRefused, match="did not end in time"):
        source.listing()


def test_a_damaged_cache_is_made_anew(repository: GitRepository, server: GitServer, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    (tmp_path / "cache" / "git").mkdir(parents=True)
    (tmp_path / "cache" / "git" / "HEAD").write_text("half of")
    with opened(text(server), tmp_path) as source:
        assert source.fetch([uri("a.md")])[uri("a.md")].body == b"a"


def test_gits_dumb_protocol_is_refused(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    repository.git("update-server-info")
    handler = partial(SimpleHTTPRequestHandler, directory=str(repository.root.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        served = GitServer(url=f"http://127.0.0.1:{server.server_port}/", port=server.server_port)
        with (
            opened(text(served, path="repo/.git"), tmp_path) as source,
            pytest.raises(GuardRefused, match="dumb protocol"),
        ):
            source.listing()
    finally:
        server.shutdown()
        server.server_close()
