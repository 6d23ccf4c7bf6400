"""When the last commit changed each file: what `git log` says of a repository that the `git` program made."""

from pathlib import Path

import pytest
from dulwich.repo import Repo

from ingest.sources.git import Repository
from ingest.sources.git_files import ChangeTimes
from schemas.nodes import DateOrigin
from tests.fakes.git_repositories import GitRepository, make_repository
from tests.fakes.open_sources import opened


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return make_repository(tmp_path / "repo")


def day(number: int) -> str:
    return f"2024-01-{number:02}T12:00:00+02:00"


def said_by_git(repository: GitRepository, path: str) -> int:
    return int(repository.git("log", "-1", "--format=%ct", "--", path))


def test_each_file_has_the_time_that_git_log_says(repository: GitRepository) -> None:
    repository.commit({"old.md": "# Old\n", "law/a.md": "# A\n", "law/deep/b.md": "# B\n"}, at=day(1))
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"law/deep/b.md": "# B, twice\n"}, at=day(2))
    repository.git("checkout", "-q", "-")
    repository.commit({"law/a.md": "# A, twice\n", "new.md": "# New\n"}, at=day(3))
    repository.git("merge", "-q", "--no-edit", "side", at=day(4))
    repository.commit({"last.md": "# Last\n", "law/gone.md": "# Gone\n"}, at=day(5))

    with Repo(str(repository.root)) as repo:
        times = ChangeTimes(Repository(repo, "", lambda _: repo.head()), repo.head().decode())
        paths = ("old.md", "law/a.md", "law/deep/b.md", "new.md", "last.md")
        blobs = {path: repository.git("rev-parse", f"HEAD:{path}") for path in paths}
        assert {path: times.of(path, blob) for path, blob in blobs.items()} == {
            path: said_by_git(repository, path) for path in paths
        }
        assert times.of("never.md", blobs["old.md"]) is None


def test_a_change_that_a_merge_discarded_is_none_of_the_file(
    repository: GitRepository, tmp_path: Path
) -> None:
    repository.commit({"f.md": "a", "g.md": "a"}, at=day(1))
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"f.md": "b"}, at=day(5))
    repository.git("checkout", "-q", "-")
    repository.git("merge", "-q", "--no-edit", "--strategy=ours", "side", at=day(6))
    repository.commit({"g.md": "b"}, at=day(7))
    repository.commit({"g.md": "a"}, at=day(8))

    assert dates_of("repo", tmp_path) == [("2024-01-01", DateOrigin.GIT), ("2024-01-08", DateOrigin.GIT)]


def test_a_tree_that_is_missing_ends_the_history_and_refuses_no_file(
    repository: GitRepository, tmp_path: Path
) -> None:
    repository.commit({"a.md": "# A\n", "b.md": "# B\n"}, at=day(1))
    lost = repository.git("rev-parse", "HEAD^{tree}")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"c.md": "# C\n"}, at=day(2))
    repository.git("checkout", "-q", "-")
    repository.commit({"d.md": "# D\n"}, at=day(3))
    repository.git("merge", "-q", "--no-edit", "side", at=day(4))
    repository.commit({"d.md": "# D, twice\n"}, at=day(5))
    (repository.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    found = [("2024-01-05", DateOrigin.GIT_HEAD)] * 3 + [("2024-01-05", DateOrigin.GIT)]
    assert dates_of("repo", tmp_path) == found


def test_a_commit_that_cannot_be_compared_hides_no_later_one(
    repository: GitRepository, tmp_path: Path
) -> None:
    repository.commit({"a.md": "# A\n"}, at=day(1))
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"b.md": "# B\n"}, at=day(4))
    lost = repository.git("rev-parse", "HEAD^{tree}")
    repository.commit({"b.md": "# B, twice\n"}, at=day(5))
    repository.git("checkout", "-q", "-")
    repository.commit({"c.md": "# C\n"}, at=day(3))
    repository.git("merge", "-q", "--no-edit", "side", at=day(6))
    (repository.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    assert dates_of("repo", tmp_path) == [
        ("2024-01-01", DateOrigin.GIT),
        ("2024-01-06", DateOrigin.GIT_HEAD),
        ("2024-01-03", DateOrigin.GIT),
    ]


def test_a_repository_without_its_history_dates_files_by_the_commit_that_is_read(
    repository: GitRepository, tmp_path: Path
) -> None:
    repository.commit({"a.md": "# Old\n"}, at=day(1))
    repository.commit({"b.md": "# New\n"}, at=day(2))
    repository.git("clone", "-q", "--depth=1", f"file://{repository.root}", str(tmp_path / "shallow"))

    assert dates_of("repo", tmp_path) == [("2024-01-01", DateOrigin.GIT), ("2024-01-02", DateOrigin.GIT)]
    assert dates_of("shallow", tmp_path) == [("2024-01-02", DateOrigin.GIT_HEAD)] * 2


def dates_of(folder: str, parent: Path) -> list[tuple[str, DateOrigin] | None]:
    with opened(f"name: notes\nkind: git\nrepository: {folder}\n", parent) as source:
        found = [one.modified for _, one in sorted(source.fetch(source.uris()).items())]
    return [(one.at[:10], one.origin) if one else None for one in found]
