"""When the last commit changed each file: what `git log` says of a repository that the `git` program made."""

from pathlib import Path

import pytest
from dulwich.repo import Repo

from ingest.sources.git_history import ChangeTimes
from ingest.sources.git_repository import Repository
from schemas.dates import DateOrigin
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
        assert {path: times.of(path) for path in paths} == {
            path: said_by_git(repository, path) for path in paths
        }
        assert times.of("never.md") is None


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
