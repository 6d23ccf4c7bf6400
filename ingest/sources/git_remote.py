"""A remote repository: what is new at one commit comes into a cache, within bounds of size and time."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from dulwich.errors import NotGitRepository
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from ingest.fetch.gate import parse_allowed
from ingest.sources.git_http import GitHttpClient, HttpBounds
from ingest.sources.git_keys import GitKeys
from ingest.sources.git_pack import check_pack
from ingest.sources.git_refs import find_ref, is_id, ref_names
from schemas.errors import FetchRefused, GuardRefused, SitegraphError
from schemas.source import Source
from schemas.source_kinds import SourceContext

Login = Callable[[str], Mapping[str, str]]

SECONDS = 900.0
"""For everything that is asked of a repository in one run."""

MAX_PACKS = 50
"""A cache of more is begun anew: each fetch adds one, and nobody tidies them."""

_READ = Ref(b"refs/heads/read")


@contextmanager
def open_cache(
    source: Source, keys: GitKeys, context: SourceContext
) -> Iterator[tuple[Repo, Callable[[Callable[[], bool]], ObjectID]]]:
    """Open the cache of a remote repository, and give what brings the ref of the source into it."""
    login = context.login(keys.repository)
    with _open_or_make(context.cache / "git") as repo:
        yield repo, lambda should_stop: _update(repo, source, keys, context, login, should_stop)


def _open_or_make(folder: Path) -> Repo:
    packs = folder / "objects" / "pack"
    if packs.is_dir() and len(list(packs.glob("*.pack"))) > MAX_PACKS:
        shutil.rmtree(folder)
    try:
        return Repo(str(folder))
    except (NotGitRepository, OSError, ValueError):
        shutil.rmtree(folder, ignore_errors=True)  # what a crash left of one
        folder.mkdir(parents=True)
        return Repo.init_bare(str(folder))


def _update(
    repo: Repo,
    source: Source,
    keys: GitKeys,
    context: SourceContext,
    login: Login,
    should_stop: Callable[[], bool],
) -> ObjectID:
    """Bring one commit, with all of its files, into the cache; give the id that the ref has.

    Raises: GuardRefused: it cannot be had.
    """
    bounds = HttpBounds(
        deadline=context.clock.monotonic() + SECONDS,
        monotonic=context.clock.monotonic,
        max_bytes=keys.max_mb * 1_000_000,
        should_stop=should_stop,
    )
    client = GitHttpClient(
        keys.repository,
        user_agent=context.user_agent,
        login=login,
        allowed=tuple(parse_allowed(entry) for entry in source.allow_private),
        bounds=bounds,
    )
    try:
        return _fetch(client, repo, keys)
    except FetchRefused as error:
        raise _refused(error.message, keys) from error
    except NotGitRepository as error:
        raise _refused("the server knows no repository there", keys) from error
    except OSError as error:
        raise _refused(f"cannot be reached ({error.strerror or type(error).__name__})", keys) from error
    except SitegraphError:
        raise
    except Exception as error:  # dulwich raises many kinds for bytes of any kind
        raise _refused(f"gave an answer that is not git's ({type(error).__name__}: {error})", keys) from error
    finally:
        client.close()


def _fetch(client: GitHttpClient, repo: Repo, keys: GitKeys) -> ObjectID:
    wanted: list[ObjectID] = []

    def wants(refs: Mapping[Any, Any], depth: int | None = None) -> list[Any]:  # noqa: ARG001 - dulwich's
        wanted.append(find_ref(refs, keys))
        return [] if wanted[0] in repo.object_store else [wanted[0]]

    names = () if keys.ref is not None and is_id(keys.ref) else ref_names(keys.ref)
    with TemporaryFile(dir=repo.path) as pack:
        result = client.fetch_pack(
            "", wants, repo.get_graph_walker(), pack.write, depth=1, ref_prefix=[*names, b"HEAD"]
        )
        if pack.tell():
            pack.seek(0)
            check_pack(pack, max_bytes=keys.max_mb * 1_000_000)
            pack.seek(0)
            repo.object_store.add_thin_pack(pack.read, None)
            repo.update_shallow(result.new_shallow, result.new_unshallow)
    # Names what is there, for the next fetch not to bring it again.
    repo.refs[_READ] = wanted[0]
    return wanted[0]


def _refused(why: str, keys: GitKeys) -> GuardRefused:
    return GuardRefused(f"{why}; nothing was changed", subject=keys.repository)
