"""Repositories that the `git` program made, read where they lie."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dulwich.object_store import PackBasedObjectStore

from ingest.sources.registry import identify
from schemas.errors import ConfigError, GuardRefused
from schemas.fetch import FetchStatus
from tests.fakes.git_repositories import GitRepository, make_repository
from tests.fakes.open_sources import opened

TEXT = "name: notes\nkind: git\nrepository: repo\n"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return make_repository(tmp_path / "repo")


def uri(path: str) -> str:
    return f"files://notes/{path}"


@pytest.fixture
def blobs_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Ids of the blobs whose bytes were asked for."""
    read: list[bytes] = []
    whole = PackBasedObjectStore.get_raw

    def get_raw(store: PackBasedObjectStore, name: bytes) -> tuple[int, bytes]:
        number, data = whole(store, name)  # type: ignore[arg-type]
        if number == 3:
            read.append(name)
        return number, data

    monkeypatch.setattr(PackBasedObjectStore, "get_raw", get_raw)
    return read


def test_of_a_thousand_files_the_next_commit_reads_only_the_blobs_that_changed(
    repository: GitRepository, tmp_path: Path, blobs_read: list[bytes]
) -> None:
    repository.commit({f"part {n % 10}/note {n}.md": f"# Note {n}\n\nLantern {n}.\n" for n in range(1000)})
    with opened(TEXT, tmp_path) as first:
        before = first.fetch(first.uris())
    assert len(blobs_read) == len(before) == 1000
    repository.git("gc", "--quiet")  # into one pack
    blobs_read.clear()
    repository.commit({"part 3/note 3.md": "# Three\n", "part 4/note 4.md": None, "new.md": "# New\n"})

    with opened(TEXT, tmp_path) as second:
        known = {one: result.etag for one, result in before.items()}
        after = second.fetch([*before, uri("new.md")], known)

    assert len(blobs_read) == 2
    statuses = [result.status for result in after.values()]
    assert statuses.count(FetchStatus.NOT_MODIFIED) == 998
    assert {u for u, result in after.items() if result.status is FetchStatus.OK} == {
        uri("part%203/note%203.md"),
        uri("new.md"),
    }
    assert after[uri("part%204/note%204.md")].status is FetchStatus.GONE


def test_a_file_is_cited_by_its_path_and_by_the_commit_it_was_read_at(
    repository: GitRepository, tmp_path: Path
) -> None:
    text = TEXT + "link: 'https://git.example.org/o/r/blob/{commit}/{path}#L{line}'\n"
    commit = repository.commit({"guide/Way back.md": "# Way back\n"})
    with opened(text, tmp_path) as source:
        (result,) = source.fetch(source.uris()).values()
        cited = identify(source.source, result.url, result.etag)

    assert cited.path == "guide/Way back.md"
    assert cited.url == f"https://git.example.org/o/r/blob/{commit}/guide/Way%20back.md"


def test_branches_tags_and_commits_are_read_as_they_were(repository: GitRepository, tmp_path: Path) -> None:
    old = repository.commit({"a.md": "old"})
    repository.git("tag", "--annotate", "v1", "--message", "One")
    repository.git("tag", "light")
    repository.git("branch", "side/track")
    repository.commit({"a.md": "new"})

    def body(ref: str) -> bytes | None:
        with opened(f"{TEXT}ref: '{ref}'\n", tmp_path) as source:
            return source.fetch([uri("a.md")])[uri("a.md")].body

    assert [body(ref) for ref in ("v1", "light", "side/track", old, "refs/tags/v1")] == [b"old"] * 5
    assert body("main") == b"new"


def test_a_ref_that_is_not_there_says_what_is_missing(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit({"a.md": "a"})
    with (
        opened(TEXT + "ref: mian\n", tmp_path) as source,
        pytest.raises(GuardRefused, match="no branch or tag mian"),
    ):
        source.listing()


def test_a_repository_without_a_commit_and_a_folder_without_one_are_refused(
    repository: GitRepository, tmp_path: Path
) -> None:
    with opened(TEXT, tmp_path) as source, pytest.raises(GuardRefused, match="no commit yet"):
        source.listing()
    (tmp_path / "plain").mkdir()
    with (
        pytest.raises(GuardRefused, match="is not a git repository"),
        opened("name: notes\nkind: git\nrepository: plain\n", tmp_path),
    ):
        pass


def test_what_is_no_plain_file_is_left_out_and_said(repository: GitRepository, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    other.commit({"inner.md": "# Inner\n"})
    (repository.root / "link.md").symlink_to("/etc/hostname")
    (repository.root / "linked").symlink_to("/etc")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repository.commit(
        {
            "a.md": "# A\n",
            ".env.md": "# no\n",
            "code.py": "x = 1\n",
            b"bad\xff.md".decode("utf8", "surrogateescape"): "x",
        }
    )
    with opened(TEXT, tmp_path) as source:
        listing = source.listing()

    assert [entry.uri for entry in listing.entries] == [uri("a.md")]
    assert {problem.url: problem.reason for problem in listing.problems} == {
        uri(".env.md"): "left out: its name marks a secret",
        uri("bad%FF.md"): "left out: its name is not readable text",
        uri("link.md"): "left out: it is a symbolic link",
        uri("linked"): "left out: it is a symbolic link",
        uri("sub"): "left out: it is a submodule",
    }


def test_only_the_named_folders_are_read(repository: GitRepository, tmp_path: Path) -> None:
    files = ("docs/a.md", "docs/deep/b.md", "docs2/c.md", "more/docs/d.md", "e.md")
    repository.commit(dict.fromkeys(files, "# Text\n"))
    with opened(TEXT + "folders: [docs, more/docs/]\n", tmp_path) as source:
        assert source.uris() == [uri("docs/a.md"), uri("docs/deep/b.md"), uri("more/docs/d.md")]
    with (
        opened(TEXT + "folders: [dosc]\n", tmp_path) as source,
        pytest.raises(GuardRefused, match="no documents in dosc"),
    ):
        source.listing()


def test_files_too_large_and_those_of_git_lfs_say_so(repository: GitRepository, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    repository.commit({"big.md": "x" * 1_000_001, "big.pdf": pointer})
    with opened(TEXT + "limits: {page_mb: 1}\n", tmp_path) as source:
        results = source.fetch([uri("big.md"), uri("big.pdf")])

    assert {result.status for result in results.values()} == {FetchStatus.REFUSED}
    assert "limits.page_mb" in results[uri("big.md")].reason
    assert "Git LFS" in results[uri("big.pdf")].reason


@pytest.mark.parametrize(
    "repository",
    [
        "ext::sh -c touch% /tmp/x",
        "ssh://host/repo",
        "git@host:org/repo.git",
        "host:repo",
        "git://host/repo",
        "file:///srv/repo",
        "fd::7",
        "--upload-pack=touch",
        "transport::https://host/repo",
        "https://user:password@host/repo.git",
        "https://host/repo.git?x=1",
        "",
    ],
)
def test_an_address_that_runs_a_command_or_holds_a_password_is_refused(
    repository: str, tmp_path: Path
) -> None:
    with (
        pytest.raises(ConfigError, match="line 3: repository: should be") as refused,
        opened(f"name: notes\nkind: git\nrepository: '{repository}'\n", tmp_path),
    ):
        pass
    assert "password@" not in str(refused.value)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("folder: [a]", "folder: unknown key; did you mean folders?"),
        ("ref: '--all'", "ref: "),
        ("ref: 'a..b'", "ref: "),
        ("folders: [../up]", "folders.0: should be the path of a folder in the repository"),
        ("link: 'https://h.example/{commit}/{file}'", "link: may hold {commit}, {path}"),
        ("link: 'https://h.example/{commit}'", "link: should be an http or https URL with {path} in it"),
        ("link: 'https://h.example/main/{path}'", "link: should name the commit"),
        ("link: 'https://h.example/{commit}/{path}/{line}'", "link: may hold"),
        ("seeds: ['https://h.example/']", "seeds is for sources of kind web"),
        ("roots: [x]", "roots is for sources of kind files"),
        ("javascript: true", "javascript is for sources of kind web"),
    ],
)
def test_a_wrong_key_is_told_by_its_name(
    more: str, told: str, repository: GitRepository, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as refused, opened(f"{TEXT}{more}\n", tmp_path):
        pass
    assert told in str(refused.value)


def test_a_checkout_read_as_a_folder_lists_the_same(repository: GitRepository, tmp_path: Path) -> None:
    api = '{"openapi": "3.0.0", "info": {"title": "A"}, "paths": {}}'
    repository.commit({"a.md": "# A\n", "b/ü c.txt": "C\n", "d.PDF": b"%PDF-1.4\n", "x.bin": b"\0"})
    repository.commit({"specs/A.json": api, "package.json": "{}", "ci.yml": "on: push\n"})
    with (
        opened(TEXT, tmp_path) as git,
        opened("name: notes\nkind: files\nroots: [repo]\n", tmp_path) as files,
    ):
        assert git.uris() == files.uris()
        assert (uri("specs/A.json") in git.uris(), len(git.uris())) == (True, 4)
        bodies = [{u: r.body for u, r in one.fetch(one.uris()).items()} for one in (git, files)]
    assert bodies[0] == bodies[1]
