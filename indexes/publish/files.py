"""The files that a generation rests on, with sizes and hashes, and which generations are kept."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from indexes.embed.manifest import MANIFEST_FILE, load_encoder_manifest
from indexes.embed.weights import file_sha256
from indexes.layout import IndexLayout, IndexManifest, VectorSpace
from indexes.places import bucket_of, is_in_bucket
from indexes.table_files import files_of
from schemas.documents import Ancestor
from schemas.errors import ConfigError, SitegraphError

Stamps = Mapping[str, str]
"""`size:sha256` by path relative to the index folder."""

Damage = tuple[str, str]
"""What is damaged, and how."""

_DOWNLOADS = 8
"""Objects that are read side by side for their hashes."""

HASHED_BYTES = 64 << 20
"""What a single query, and the start of a run, reads to compare hashes: about 50 ms, smallest files first.
Sizes are always compared; `verify`, `run --repair` and readers that live long compare all hashes.
"""


def files_of_generation(
    layout: IndexLayout, manifest: IndexManifest, generation: int, space: VectorSpace
) -> tuple[str, ...]:
    """Return the files in the index folder that readers of a generation open, but for the encoder's.

    Raises: DamageFound: a table cannot be read.
    """
    folders = table_folders(layout, manifest, space)
    found = [folder / name for folder in folders for name in files_of(folder, generation)]
    return tuple(
        path.relative_to(layout.root).as_posix() for path in (*found, layout.authority_of(generation))
    )


def table_folders(layout: IndexLayout, manifest: IndexManifest, space: VectorSpace) -> tuple[Path, ...]:
    """Return the folders of the tables that readers of a generation open."""
    tables = (space.table, *(("nodes", "edges") if manifest.graph == "lance" else ()))
    return tuple(layout.lance / f"{table}.lance" for table in tables)


def stamp_files(root: Path, paths: Iterable[str], *, known: Stamps) -> dict[str, str]:
    """Take size and hash of each file; of one that an earlier generation has, what was taken then stays."""
    wanted = sorted(paths)
    fresh = [path for path in wanted if not known.get(path)]
    if is_in_bucket(root):
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            taken = dict(zip(fresh, pool.map(lambda path: _stamp(root / path), fresh), strict=True))
    else:
        taken = {path: _stamp(root / path) for path in fresh}
    return {path: known.get(path) or taken[path] for path in wanted}


def stamp_encoder(root: Path, folder: str) -> dict[str, str]:
    """Take size and hash of each file of an exported encoder, of most of them as `encoder.json` has it.

    None where there is no encoder, as in an index that is held in memory.
    """
    try:
        hashes = load_encoder_manifest(root / folder).hashes()
        sizes = {name: (root / folder / name).stat().st_size for name in hashes}
        own = _stamp(root / folder / MANIFEST_FILE)
    except (SitegraphError, OSError):
        return {}
    stamps = {f"{folder}/{name}": f"{sizes[name]}:{sha256}" for name, sha256 in hashes.items()}
    return {f"{folder}/{MANIFEST_FILE}": own, **stamps}


def _stamp(path: Path) -> str:
    if not is_in_bucket(path):
        return f"{path.stat().st_size}:{file_sha256(path)}"
    with path.open("rb") as file:  # a copy: one request gives both
        return f"{os.fstat(file.fileno()).st_size}:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Compares files with their stamps.

    Args: most_bytes: what may be read for hashes, None for all; in a bucket, whose server keeps checksums of
    its own, all or none. seen: what was found whole before, by path, time and place on the disk; a reader
    that lives long reads no file twice. listed: sizes of objects, by folder; each is listed once.
    """

    root: Path
    most_bytes: int | None = None
    seen: set[tuple[object, ...]] = field(default_factory=set)
    listed: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def damaged(self, stamps: Stamps) -> tuple[Damage, ...]:
        """Return the files that are missing or differ, by path."""
        return tuple(sorted(self._damaged(stamps)))

    def _damaged(self, stamps: Stamps) -> Iterator[Damage]:
        left = 0 if self.most_bytes is not None and is_in_bucket(self.root) else self.most_bytes
        sized = sorted((int(stamp.partition(":")[0]), path) for path, stamp in stamps.items())
        for size, path in sized:
            try:
                found, *where = self._look(path)
            except OSError:
                yield path, "is missing"
                continue
            mark = (path, stamps[path], *where)
            if found != size:
                yield path, f"is damaged: {found} bytes instead of {size}"
            elif mark not in self.seen and (left is None or size <= left):
                left = left if left is None else left - size
                if fault := self._fault(path, stamps[path]):
                    yield path, fault
                else:
                    self.seen.add(mark)

    def _look(self, path: str) -> tuple[int, ...]:
        """Size of a file, and on a disk what tells it from another that was there before."""
        bucket = bucket_of(self.root / path.partition("/")[0])
        if bucket is None:
            status = (self.root / path).stat()
            return status.st_size, status.st_mtime_ns, status.st_ino
        if bucket.name not in self.listed:
            self.listed[bucket.name] = bucket.sizes()
        try:
            return (self.listed[bucket.name][path.partition("/")[2]],)
        except KeyError as error:
            raise FileNotFoundError(path) from error

    def _fault(self, path: str, stamp: str) -> str | None:
        try:
            whole = _stamp(self.root / path) == stamp
        except OSError as error:  # a bad sector; or it was pruned since it was looked at
            return f"cannot be read ({error.strerror})"
        return None if whole else "is damaged: it no longer matches its hash"


SUBJECT = "SITEGRAPH_KEEP"
_PERIODS: dict[str, Callable[[datetime], tuple[int, ...]]] = {
    "daily": lambda at: (at.year, at.month, at.day),
    "weekly": lambda at: at.isocalendar()[:2],
    "monthly": lambda at: (at.year, at.month),
    "yearly": lambda at: (at.year,),
}
_RULE = re.compile(r"(?P<rule>[a-z]+)=(?P<number>[1-9][0-9]{0,3})(?P<unit>[hdw]?)")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPolicy:
    """What is kept; a generation stays if any rule names it, and the newest always does.

    `within` reaches back from the newest generation, whatever the time is now. `periods` are pairs of a kind
    of period and how many of them: of each of the last so many days, weeks, months or years (UTC, ISO weeks)
    in which something was published, the newest generation is kept.
    Source: the rules of restic's `forget --keep-…`.
    """

    last: int
    within: timedelta = timedelta()
    periods: tuple[tuple[str, int], ...] = ()


def parse_keep(text: str | None, *, last: int) -> KeepPolicy:
    """Read rules such as `within=7d,weekly=52`; none keep the *last* generations alone.

    Raises: ConfigError: a rule is unknown, stands twice, or has no number.
    """
    within, periods = timedelta(), dict[str, int]()
    for rule in (text or "").replace(" ", "").split(",") if text else ():
        found = _RULE.fullmatch(rule)
        name = found["rule"] if found else ""
        if found is None or name in periods or (name == "within" and within):
            raise _wrong(rule)
        if name == "within" and found["unit"]:
            within = int(found["number"]) * _UNITS[found["unit"]]
        elif name in _PERIODS and not found["unit"]:
            periods[name] = int(found["number"])
        else:
            raise _wrong(rule)
    return KeepPolicy(last=last, within=within, periods=tuple(periods.items()))


def plan_kept(line: Sequence[Ancestor], policy: KeepPolicy) -> tuple[int, ...]:
    """Return the generations of *line*, newest first, that a policy keeps, oldest first."""
    if not line:
        return ()
    times = [datetime.fromisoformat(one.as_of) for one in line]
    kept = set(range(min(policy.last, len(line))))
    kept.update(place for place, at in enumerate(times) if policy.within and at >= times[0] - policy.within)
    for name, number in policy.periods:
        newest: dict[tuple[int, ...], int] = {}
        for place, at in enumerate(times):
            newest.setdefault(_PERIODS[name](at), place)
        kept.update(sorted(newest.values())[:number])
    return tuple(sorted(line[place].generation for place in kept))


def bytes_beyond(current: Stamps, earlier: Iterable[Stamps]) -> int:
    """Return the bytes of the files that earlier generations have and the current one does not."""
    sizes = {path: stamp for stamps in earlier for path, stamp in stamps.items() if path not in current}
    return sum(int(stamp.partition(":")[0]) for stamp in sizes.values())


def _wrong(rule: str) -> ConfigError:
    return ConfigError(
        f"{rule!r} is not a rule; write, with commas between, within=7d (h, d or w), daily=14, weekly=52, "
        "monthly=12, yearly=5, each once",
        subject=SUBJECT,
    )
