"""Indexes elsewhere, as readers open them: a copy in a cache folder, brought up to date, bounded, shared.

Readers of LanceDB over object storage would wait for every page of every table; a generation is a set of
files that never change, so they are fetched once. Processes share the copies: one pulls, others wait for it.
"""

import fcntl
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.copies.fetching import INDEX_BYTES
from indexes.copies.places import open_place, read_place_file
from indexes.copies.pull import PullOptions, pull, read_remote_current
from indexes.layout import COPY
from indexes.places import cache_folder, folder_bytes
from indexes.publish.generation import open_trust
from schemas.errors import DamageFound, GuardRefused, SitegraphError, StoreUnavailable
from schemas.ids import sha256_hex
from schemas.settings import Settings

FOLLOW_SECONDS = 5.0
"""Between two looks of a long-lived reader at `CURRENT` elsewhere."""

_SETTING = "SITEGRAPH_DISK_CACHE_MB"
_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_MEGABYTES = re.compile(r"[\d,.]+(?= MB)")
_held: dict[Path, int] = {}
"""Copies that this process reads, and the descriptors of their locks: held until it ends."""


def is_elsewhere(index: str) -> bool:
    """Whether an index is named by a URL."""
    return "://" in index


class RemoteIndex:
    """An index elsewhere and its copy here.

    Args: now: seconds since 1970. say: told in a line what is downloaded, and why a copy stays as it was.
    """

    def __init__(
        self, url: str, settings: Settings, *, now: Callable[[], float], say: Callable[[str], None]
    ) -> None:
        self.url = url.rstrip("/")
        self._settings, self._now, self._say = settings, now, say
        self._place = open_place(self.url, token=settings.pull_token, patience=settings.bucket_seconds)
        self._trust = open_trust(settings.trust)
        self._base = cache_folder(settings, "copies")
        self._home = self._base / sha256_hex(self.url)[:32]
        self._said = ""

    def folder(self) -> Path:
        """Return the folder of the copy, of the generation that is current now.

        Where the place cannot be reached, or what it has is refused, the copy stays what it was, and the
        reason is said. Raises: where there is no copy yet, what `pull` raises; NoRoom, ConfigError.
        """
        try:
            folder = self._held_at(read_remote_current(self._place)) or self._pulled()
        except (StoreUnavailable, DamageFound, GuardRefused) as error:
            if (newest := self._held_newest()) is None:
                raise
            self.say_stays(error)
            return newest
        self._said = ""
        return folder

    def _held_at(self, current: bytes) -> Path | None:
        """The copy that is of this `CURRENT` already: nothing else is asked for."""
        return _held_if(lambda path: _bytes_of(path / "CURRENT") == current, self._copies())

    def _held_newest(self) -> Path | None:
        """The copy that was read last."""
        newest_first = sorted(self._copies(), key=_used_at, reverse=True)
        return _held_if(lambda path: (path / "CURRENT").is_file(), newest_first)

    def _copies(self) -> list[Path]:
        found = self._home.iterdir() if self._home.is_dir() else ()
        return sorted(path for path in found if (path / COPY).is_file())

    def _pulled(self) -> Path:
        root = _hold(self._home / self._index_id())
        make_room(self._base, most=self._most)
        pull(
            self._place,
            root,
            options=PullOptions(raw=False, most_bytes=self._most, setting=_SETTING),
            trust=self._trust,
            now=self._now(),
            begin=lambda generation, files, size: self._say(
                f"downloading generation {generation} of {self.url}: {files} files, {size / 1e6:,.1f} MB "
                f"into {root}"
            ),
        )
        make_room(self._base, most=self._most)
        return root

    def say_stays(self, error: Exception) -> None:
        """Say why the copy stays as it was; once, as a long-lived reader looks every few seconds.

        Sizes do not count: a full disk has another number of bytes left each time.
        """
        line = f"answering from the copy as it was: {error}"
        if (told := _MEGABYTES.sub("", line)) != self._said:
            self._say(line)
        self._said = told

    @property
    def _most(self) -> int:
        return self._settings.disk_cache_mb * 10**6

    def _index_id(self) -> str:
        """Ask for `index.json`: an index made again is another one, whose files may have the same names."""
        try:
            found = json.loads(read_place_file(self._place, "index.json", most=INDEX_BYTES))["index_id"]
        except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
            raise DamageFound("is missing or damaged", subject=f"{self.url}/index.json") from error
        if not isinstance(found, str) or not _ID.fullmatch(found):
            raise DamageFound("is damaged", subject=f"{self.url}/index.json")
        return found


def with_local_index(settings: Settings, *, now: Callable[[], float], say: Callable[[str], None]) -> Settings:
    """Return settings whose index is a folder: as they are, or of the copy of what they name by a URL."""
    if not is_elsewhere(settings.index):
        return settings
    remote = RemoteIndex(settings.index, settings, now=now, say=say)
    return replace(settings, index=str(remote.folder()))


@contextmanager
def follow_copy(
    settings: Settings,
    *,
    now: Callable[[], float],
    say: Callable[[str], None],
    seconds: float = FOLLOW_SECONDS,
) -> Iterator[Settings]:
    """Give settings as `with_local_index` does, and keep the copy up to date inside the block, from a thread.

    Readers follow the `CURRENT` of the copy as that of any folder.
    """
    if not is_elsewhere(settings.index):
        yield settings
        return
    remote, stop = RemoteIndex(settings.index, settings, now=now, say=say), threading.Event()
    local = replace(settings, index=str(remote.folder()))
    arguments = (remote, Path(local.index), stop, seconds, say)
    threading.Thread(target=_follow, args=arguments, daemon=True, name="follow").start()
    try:
        yield local
    finally:
        stop.set()


def _follow(
    remote: RemoteIndex, local: Path, stop: threading.Event, seconds: float, say: Callable[[str], None]
) -> None:
    while not stop.wait(seconds):
        try:
            if remote.folder() != local:
                say(f"{remote.url} is another index now; start again to read it")
                return
        except (SitegraphError, OSError) as error:  # the next look may do
            remote.say_stays(error)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _lock_file(root: Path) -> Path:
    return root.with_name(f".{root.name}.used")


def _hold(root: Path) -> Path:
    """Say, until this process ends, that a copy is read, and that it was read now."""
    if root not in _held:
        root.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(_lock_file(root), os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(file, fcntl.LOCK_SH)
        _held[root] = file
    os.utime(_lock_file(root))
    return root


def _held_if(is_right: Callable[[Path], bool], copies: Iterable[Path]) -> Path | None:
    """Hold the first copy that is right. Until it is held, another process may delete it to make room."""
    return next((path for path in copies if is_right(path) and is_right(_hold(path))), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCopy:
    """A copy in the cache: its bytes, and when it was read last."""

    path: Path
    size: int
    used_at: float


def plan_eviction(copies: Sequence[HeldCopy], *, most: int) -> tuple[HeldCopy, ...]:
    """Choose copies to give up, those first that were not read for longest, until the rest fits."""
    excess, chosen = sum(copy.size for copy in copies) - most, []
    for copy in sorted(copies, key=lambda copy: (copy.used_at, str(copy.path))):
        if excess <= 0:
            break
        excess -= copy.size
        chosen.append(copy)
    return tuple(chosen)


def make_room(base: Path, *, most: int) -> None:
    """Delete copies that were not read for longest, but for those that some process reads."""
    copies = [_described(path.parent) for path in base.glob(f"*/*/{COPY}")]
    for copy in plan_eviction(copies, most=most):
        if copy.path not in _held:
            _delete_unread(copy.path)


def _described(root: Path) -> HeldCopy:
    return HeldCopy(path=root, size=folder_bytes(root), used_at=_used_at(root))


def _used_at(root: Path) -> float:
    used = _lock_file(root)
    return used.stat().st_mtime if used.exists() else 0.0


def _delete_unread(root: Path) -> None:
    file = os.open(_lock_file(root), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (root / "CURRENT").unlink(missing_ok=True)  # ended halfway, it must not look whole
        shutil.rmtree(root, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(file)
