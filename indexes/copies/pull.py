"""Bring a folder from one generation of an index elsewhere to the next, by the files that are new.

Every file is compared with the generation's manifest before it gets its name, the manifest with `CURRENT`,
and `CURRENT` is renamed last: whatever ends a pull, readers of the copy see one whole generation.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from indexes.copies.fetching import (
    CURRENT_BYTES,
    INDEX_BYTES,
    MANIFEST_BYTES,
    Fetching,
    WantedFile,
    check_size,
    check_successor,
    clear,
    encoder_json,
    files_of_encoder,
    is_whole,
    wanted_files,
)
from indexes.copies.places import IndexPlace, read_place_file
from indexes.embed.manifest import MANIFEST_FILE as ENCODER_JSON
from indexes.embed.manifest import load_encoder_manifest as load_encoder
from indexes.layout import IndexLayout, IndexManifest, dump_manifest, is_repeated, load_manifest
from indexes.markers import CopyMarker, read_marker, write_marker
from indexes.places import locked, write_durably
from indexes.publish.current import Pointer, parse_pointer
from indexes.publish.generation import (
    SIGNATURE_BYTES,
    GenerationManifest,
    PublisherKeys,
    load_generation,
    read_generation,
    read_signature,
    signature_of,
)
from schemas.errors import ConfigError, DamageFound, GuardRefused, NoRoom, SitegraphError, telling_no_room
from schemas.ids import sha256_hex
from schemas.records import from_record

MOST_MB = 100_000
GRACE_SECONDS = 3600.0
_RESTARTS = 5
"""Publishes that a pull may meet; one takes longer than what is new takes to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullOptions:
    """How to pull.

    `raw`: bytes of PDFs come, too, for pictures of their pages. `most_bytes` of all files, as `setting` says.
    `grace_seconds`: how long files of a generation stay after it was replaced. `check_all`: hashes of files
    that are there are compared, too.
    """

    raw: bool = True
    most_bytes: int = MOST_MB * 10**6
    setting: str = "--max-mb"
    grace_seconds: float = GRACE_SECONDS
    accept_rollback: bool = False
    check_all: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PullReport:
    """What a pull did, or would do; `before` is the generation that the copy held, 0 for none."""

    url: str
    folder: str
    before: int
    generation: int
    as_of: str
    files: int
    bytes: int
    fetched_files: int
    fetched_bytes: int
    removed_files: int = 0
    signed: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """A generation elsewhere, believed and not yet here."""

    current: bytes
    manifest: GenerationManifest
    text: bytes
    signature: bytes | None
    index: IndexManifest
    files: tuple[WantedFile, ...]


def pull(
    place: IndexPlace,
    root: Path,
    *,
    options: PullOptions,
    trust: PublisherKeys | None,
    now: float,
    begin: Callable[[int, int, int], None] = lambda _generation, _files, _bytes: None,
    advance: Callable[[int], None] = lambda _: None,
) -> PullReport:
    """Make *root* the copy of the generation that is current at *place*.

    Args: now: seconds since 1970. begin: told generation, files and bytes that are fetched; advance: bytes.
    Raises: ConfigError: no index there, or the folder is no copy of it; DamageFound: something differs from
    its hash; GuardRefused: it is not signed by those who are trusted, or an earlier generation; NoRoom;
    StoreUnavailable: the place cannot be reached. The copy is as it was then.
    """
    _check_folder(root)
    pulling = _Pull(place, root, options=options, trust=trust, now=now, begin=begin, advance=advance)
    if options.dry_run:
        return pulling.run()
    lock = root.absolute().with_name(f".{root.absolute().name}.pulling")
    with telling_no_room(str(root)), locked(lock):
        return pulling.run()


def read_remote_current(place: IndexPlace) -> bytes:
    """Read `CURRENT`. Raises: ConfigError: it is not there."""
    try:
        return read_place_file(place, "CURRENT", most=CURRENT_BYTES)
    except FileNotFoundError as error:
        raise ConfigError("no index there: it has no file CURRENT", subject=place.url) from error


def _check_folder(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise ConfigError("is a file; choose a folder", subject=str(root))
    if root.is_dir() and any(root.iterdir()) and read_marker(root) is None:
        raise ConfigError("is not empty and no copy of an index; choose another folder", subject=str(root))


class _Pull:
    def __init__(
        self,
        place: IndexPlace,
        root: Path,
        *,
        options: PullOptions,
        trust: PublisherKeys | None,
        now: float,
        begin: Callable[[int, int, int], None],
        advance: Callable[[int], None],
    ) -> None:
        self._place, self._root, self._layout = place, root, IndexLayout(root)
        self._options, self._trust, self._now = options, trust, now
        self._begin, self._advance = begin, advance

    def run(self) -> PullReport:
        """Pull what is current; once more where a publish or a prune came in between."""
        current = read_remote_current(self._place)
        for _ in range(_RESTARTS):
            try:
                return self._bring(self._describe(current))
            except (FileNotFoundError, DamageFound) as error:
                before, current = current, read_remote_current(self._place)
                if before == current:
                    raise error if isinstance(error, DamageFound) else self._lost(error) from error
        raise DamageFound("changes faster than it can be read", subject=self._place.url)

    def _lost(self, error: FileNotFoundError) -> DamageFound:
        return DamageFound(
            f"is missing there ({error}); check it with: sitegraph verify", subject=self._place.url
        )

    def _describe(self, current: bytes) -> _Described:
        pointer = self._pointer(current)
        path = self._layout.generation(pointer.generation).relative_to(self._root).as_posix()
        subject = f"{self._place.url}/{path}"
        text, signature = self._manifest(pointer, path)
        if self._trust is not None:
            self._trust.require(text, signature, subject=subject)
        manifest = _parse(text, pointer.generation, subject)
        index = self._index(manifest)
        may_go_back = self._trust is None or self._options.accept_rollback
        check_successor(manifest, index, held=self._held(), may_go_back=may_go_back, subject=subject)
        files = wanted_files(manifest, index, with_raw=self._options.raw, subject=subject)
        if not manifest.encoder:
            files += self._encoder(manifest, index, subject)
        return _Described(
            current=current, manifest=manifest, text=text, signature=signature, index=index, files=files
        )

    def _pointer(self, current: bytes) -> Pointer:
        subject = f"{self._place.url}/CURRENT"
        pointer = parse_pointer(current)
        if pointer is None:
            raise DamageFound("is damaged", subject=subject)
        if pointer.generation == 0:
            raise ConfigError("nothing has been published there yet", subject=self._place.url)
        if pointer.manifest_sha256 is None:
            raise ConfigError(
                "names no hash of its generation; publish one with this version", subject=subject
            )
        return pointer

    def _manifest(self, pointer: Pointer, path: str) -> tuple[bytes, bytes | None]:
        """Return the manifest that `CURRENT` names, and its signature; from here where they are here."""
        here, signature = self._root / path, read_signature(self._layout, pointer.generation)
        if here.is_file() and sha256_hex(text := here.read_bytes()) == pointer.manifest_sha256:
            return text, signature if signature or self._trust is None else self._signature(path)
        text = read_place_file(self._place, path, most=MANIFEST_BYTES)
        if sha256_hex(text) != pointer.manifest_sha256:
            raise DamageFound("is not what CURRENT names", subject=f"{self._place.url}/{path}")
        return text, self._signature(path)

    def _signature(self, path: str) -> bytes | None:
        try:
            return read_place_file(self._place, f"{path}.sig", most=SIGNATURE_BYTES)
        except FileNotFoundError:
            return None

    def _index(self, manifest: GenerationManifest) -> IndexManifest:
        """Return what the index is; where signatures count, as the signed manifest repeats it."""
        subject = f"{self._place.url}/{self._layout.manifest.name}"
        try:
            here = load_manifest(self._layout)
        except SitegraphError:
            here = None
        if here is not None and manifest.index is not None and is_repeated(here, manifest.index):
            return here
        try:
            record = json.loads(read_place_file(self._place, self._layout.manifest.name, most=INDEX_BYTES))
            there = from_record(IndexManifest, record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamageFound("is damaged", subject=subject) from error
        if not is_repeated(there, manifest.index):
            raise DamageFound("is not what the generation was published with", subject=subject)
        return there if self._trust is None or manifest.index is None else manifest.index

    def _held(self) -> tuple[str, int] | None:
        try:
            pointer = parse_pointer(self._layout.current.read_bytes())
            return (load_manifest(self._layout).index_id, pointer.generation) if pointer else None
        except (OSError, SitegraphError):
            return None

    def _encoder(
        self, manifest: GenerationManifest, index: IndexManifest, subject: str
    ) -> tuple[WantedFile, ...]:
        """Return the files of the encoder as it describes itself, where the generation does not."""
        if self._trust is not None:
            raise GuardRefused(
                "was published by a version that did not cover the encoder; publish one with this version",
                subject=subject,
            )
        path = encoder_json(manifest, index, subject=subject)
        data = read_place_file(self._place, path, most=INDEX_BYTES)
        with TemporaryDirectory() as scratch:
            (Path(scratch) / ENCODER_JSON).write_bytes(data)
            described = load_encoder(Path(scratch))
        own = WantedFile(path=path, size=len(data), sha256=sha256_hex(data))
        return (own, *files_of_encoder(path.rpartition("/")[0], described, subject=subject))

    def _bring(self, described: _Described) -> PullReport:
        options, before = self._options, self._held()
        total = check_size(
            described.files, most=options.most_bytes, setting=options.setting, subject=self._place.url
        )
        trusted = {} if options.check_all else self._trusted()
        missing = [file for file in described.files if not is_whole(self._root, file, trusted)]
        report = PullReport(
            url=self._place.url,
            folder=str(self._root),
            before=before[1] if before else 0,
            generation=described.manifest.generation,
            as_of=described.manifest.as_of,
            files=len(described.files),
            bytes=total,
            fetched_files=len(missing),
            fetched_bytes=sum(file.size or 0 for file in missing),
            signed=described.signature is not None and self._trust is not None,
            dry_run=options.dry_run,
        )
        if options.dry_run:
            return report
        marker = self._begun(report)
        fetching = Fetching(self._place, self._root, most=options.most_bytes, advance=self._advance)
        fetched = fetching.fetch_all(missing)
        marker = self._switch(described, marker, report)
        removed = clear(self._layout, marker, now=self._now, grace_seconds=options.grace_seconds)
        return replace(report, fetched_bytes=fetched, removed_files=removed)

    def _trusted(self) -> Mapping[str, str]:
        """What was compared when it came: the files of the generation that the copy holds."""
        held = self._held()
        try:
            manifest = load_generation(self._layout, held[1]) if held else None
        except DamageFound:
            return {}
        return {**manifest.files, **manifest.encoder} if manifest else {}

    def _begun(self, report: PullReport) -> CopyMarker:
        """Mark the folder first, so that a pull that is cut off can be gone on with."""
        there = next(path for path in (self._root, *self._root.absolute().parents) if path.exists())
        if (free := shutil.disk_usage(there).free) < report.fetched_bytes:
            raise NoRoom(
                f"needs {report.fetched_bytes / 1e6:,.0f} MB, but only {free / 1e6:,.0f} MB are free",
                subject=str(self._root),
            )
        held = read_marker(self._root)
        marker = CopyMarker(
            url=self._place.url, raw=self._options.raw, replaced=held.replaced if held else {}
        )
        if marker != held:
            write_marker(self._root, marker)
        if report.fetched_files:
            self._begin(report.generation, report.fetched_files, report.fetched_bytes)
        return marker

    def _switch(self, described: _Described, marker: CopyMarker, report: PullReport) -> CopyMarker:
        """Let readers see the generation: all of it is there."""
        layout, generation = self._layout, report.generation
        _put(layout.manifest, dump_manifest(described.index).encode())
        if described.signature is not None:
            _put(signature_of(layout, generation), described.signature)
        _put(layout.generation(generation), described.text)
        replaced = {number: at for number, at in marker.replaced.items() if number != str(generation)}
        if report.before not in (0, generation):
            replaced[str(report.before)] = self._now
        if replaced != dict(marker.replaced):
            marker = replace(marker, replaced=replaced)
            write_marker(self._root, marker)
        _put(layout.current, described.current)
        return marker


def _put(path: Path, data: bytes) -> None:
    if not path.is_file() or path.read_bytes() != data:
        write_durably(path, data)


def _parse(text: bytes, generation: int, subject: str) -> GenerationManifest:
    try:
        manifest = read_generation(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamageFound("is no manifest of a generation", subject=subject) from error
    if manifest.generation != generation:
        raise DamageFound(f"is of generation {manifest.generation}", subject=subject)
    return manifest
