"""A remote repository: what is new at one commit comes into a cache, looked through before it is unpacked.

A few bytes of a pack could become more than memory holds.
Source: gitformat-pack(5), "pack-*.pack files have the following format" and "Deltified representation".
"""

import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from dulwich.errors import NotGitRepository
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from ingest.fetch.gate import parse_allowed
from ingest.sources.git_http import GitHttpClient, HttpBounds
from ingest.sources.git_keys import GitKeys, find_ref, is_object_id, ref_names
from schemas.errors import FetchRefused, GuardRefused, SitegraphError
from schemas.source import Source
from schemas.source_kinds import SourceContext

_STEP = 64 * 1024
_OFS_DELTA, _REF_DELTA = 6, 7
_ID_BYTES = 20


def check_pack(pack: IO[bytes], *, max_bytes: int) -> None:
    """Read a pack from its start, keeping nothing.

    Raises: FetchRefused: an object would be larger than *max_bytes*, or all together than ten times that;
    it is damaged; it is of a hash other than SHA-1.
    """
    reader = _Reader(pack)
    magic, version = reader.take(4), reader.take(4)
    if magic != b"PACK" or version not in (b"\0\0\0\2", b"\0\0\0\3"):
        raise FetchRefused("sent no pack")
    left = 10 * max_bytes
    for _ in range(int.from_bytes(reader.take(4))):
        size = _check_object(reader, max_bytes)
        left -= size
        if left < 0:
            raise FetchRefused(f"unpacks to more than {10 * max_bytes} bytes (ten times max_mb)")


def _check_object(reader: "_Reader", max_bytes: int) -> int:
    """Pass one object; give the bytes it would take, which a delta says of its result."""
    byte = reader.byte()
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        byte = reader.byte()
        size |= (byte & 0x7F) << shift
        shift += 7
    if kind == _OFS_DELTA:
        while reader.byte() & 0x80:
            pass
    elif kind == _REF_DELTA:
        reader.take(_ID_BYTES)
    _bound(size, max_bytes)
    head = reader.inflate(size)
    if kind not in (_OFS_DELTA, _REF_DELTA):
        return size
    _, at = _varint(head, 0)
    result, _ = _varint(head, at)
    _bound(result, max_bytes)
    return result


def _bound(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise FetchRefused(f"holds an object of {size} bytes (max_mb in the source file allows {max_bytes})")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise FetchRefused("sent a damaged pack")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


class _Reader:
    def __init__(self, file: IO[bytes] | BufferedIOBase) -> None:
        self._file = file
        self._held = b""

    def take(self, number: int) -> bytes:
        while len(self._held) < number:
            self._fill()
        taken, self._held = self._held[:number], self._held[number:]
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def inflate(self, size: int) -> bytes:
        """Pass a stream of zlib that unfolds to *size* bytes; give the first of them."""
        stream, passed, head = zlib.decompressobj(), 0, b""
        while not stream.eof:
            if not self._held:
                self._fill()
            try:
                piece = stream.decompress(self._held, _STEP)
            except zlib.error as error:
                raise FetchRefused("sent a damaged pack") from error
            self._held = stream.unused_data if stream.eof else stream.unconsumed_tail
            head += piece[: 32 - len(head)]
            passed += len(piece)
            if passed > size:
                raise FetchRefused("sent a damaged pack")
        return head

    def _fill(self) -> None:
        more = self._file.read(_STEP)
        if not more:
            raise FetchRefused("sent a pack that breaks off")
        self._held += more


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

    names = () if keys.ref is not None and is_object_id(keys.ref) else ref_names(keys.ref)
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
