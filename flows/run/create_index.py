"""Making a new index, whole or not at all, and putting back the files that lead into one.

`index.json` is written last and makes the folder an index; what is there without it is made again.

The manifest repeats `index.json`, the ledger repeats the manifest and knows what was published last.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

from flows.run.leases import INDEX, hold_lease
from flows.run.versions import find_model, manifest_of
from indexes.layout import (
    FILES,
    FORMAT,
    IndexLayout,
    IndexManifest,
    dump_manifest,
    is_repeated,
    load_manifest,
)
from indexes.markers import refuse_copy
from indexes.own_ledger import find_ledger_place, guess_place, knows, ledger_url_of
from indexes.places import is_in_bucket, locked, place_of, remove_tree, write_durably
from indexes.publish.current import read_current, write_current
from indexes.publish.generation import (
    GenerationManifest,
    generation_numbers,
    load_generation,
    read_generation,
)
from indexes.stores.ledger.ledger import Ledger, open_ledger
from indexes.wiring import create_stores
from runtime.clock import SystemClock
from runtime.progress import StageProgress
from runtime.settings import check_makeable, crash_point
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.settings import Settings, StoreSettings


def create_index(layout: IndexLayout, settings: Settings, index_id: str) -> None:
    """Make the index, unless another process is first: then wait until it is made.

    What fails leaves nothing behind. Raises: ConfigError: the folder is somebody's own, the ledger is another
    index's, or a setting is wrong; StoreUnavailable: a store or the ledger cannot be reached.
    """
    ledger_url_of(layout, settings.ledger_url)  # refused before anything is made
    if layout.is_foreign():
        raise ConfigError("is not empty and not an index; choose another --index", subject=str(layout.root))
    check_makeable(layout.root)
    with _undone_on_failure(layout), _alone(layout, settings):
        if not layout.manifest.exists():
            # What a killed one left may be of another model.
            _clear(layout)
            with _cleared_on_failure(layout):
                _make(layout, settings, index_id)


def _alone(layout: IndexLayout, settings: StoreSettings) -> AbstractContextManager[object]:
    """Keep others from making the index: those of this machine or folder, of a bucket all of one ledger."""
    return _leased(layout, settings) if is_in_bucket(layout.root) else locked(layout.making)


@contextmanager
def _leased(layout: IndexLayout, settings: StoreSettings) -> Iterator[Ledger]:
    """Open the ledger, and hold the lease under which the index is changed."""
    with closing(open_ledger(ledger_url_of(layout, settings.ledger_url))) as ledger:
        clock, progress = SystemClock(), StageProgress(quiet=True)
        with hold_lease(
            ledger.leases, INDEX, clock=clock, progress=progress, stop=threading.Event(), wait=True
        ):
            yield ledger


def _make(layout: IndexLayout, settings: Settings, index_id: str) -> None:
    crash = crash_point(settings.fault)
    if settings.ledger_url:
        with closing(open_ledger(settings.ledger_url)) as ledger:
            ledger.owner.check(index_id)
    manifest = IndexManifest(
        index_id=index_id,
        graph=settings.graph or "lance",
        model=manifest_of(find_model(settings)),
        raw=settings.raw_url or FILES,
    )
    create_stores(layout, manifest, settings)
    crash("create.stores_made")
    write_current(layout.root, 0)
    crash("create.before_manifest")
    write_durably(layout.manifest, dump_manifest(manifest))
    crash("create.before_claim")
    if settings.ledger_url:
        # After `index.json`: a ledger claimed for an index that is never made would be of no more use.
        with closing(open_ledger(settings.ledger_url)) as ledger:
            ledger.owner.claim(index_id)


@contextmanager
def _cleared_on_failure(layout: IndexLayout) -> Iterator[None]:
    try:
        yield
    except BaseException:
        _clear(layout)
        raise


def _clear(layout: IndexLayout) -> None:
    for path in (layout.manifest, *layout.first_made()):
        remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)


@contextmanager
def _undone_on_failure(layout: IndexLayout) -> Iterator[None]:
    """Remove the folder with what was made in it, unless it was there before."""
    existed = is_in_bucket(layout.root) or layout.root.is_dir()
    try:
        yield
    except BaseException:
        if not existed and layout.root.is_dir() and not any(layout.root.iterdir()):
            layout.root.rmdir()
        raise


def restore_pointers(settings: StoreSettings) -> tuple[str, ...]:
    """Put back what is damaged of these files, where something repeats it; give their names.

    Nothing is done, nor the ledger opened, where they are whole, or where there is no index yet.
    Raises: DamageFound: nothing repeats what is damaged; ConfigError: the folder is a copy of an index,
    or the ledger is another index's;
    SchemaMismatch: it is an index of another version, which stays as it is.
    """
    layout = IndexLayout(place_of(settings))
    refuse_copy(layout.root)
    if not (layout.manifest.exists() or layout.has_generations()) or _is_whole(layout):
        return ()
    _refuse_another_version(layout)
    _refuse_another(layout, ledger_url_of(layout, settings.ledger_url))
    with _leased(layout, settings) as ledger:
        return () if _is_whole(layout) else _put_back(layout, ledger)


def _refuse_another(layout: IndexLayout, url: str) -> None:
    """Refuse a ledger that is not the index's: of another name by its owner alone, as the rest is damaged."""
    ids = set(_index_ids(layout))
    newest = max(generation_numbers(layout), default=0)
    place = guess_place(find_ledger_place(layout, url), layout, index_ids=ids, generation=newest)
    if place.is_another and not (place.may_be_same and knows(url, index_ids=ids)):
        raise place.refusal(may_rebuild=True)


def damaged_pointers(settings: StoreSettings) -> tuple[str, ...]:
    """Name what `restore_pointers` would restore of these files; nothing is changed."""
    layout = IndexLayout(place_of(settings))
    refuse_copy(layout.root)
    if not (layout.manifest.exists() or layout.has_generations()):
        return ()
    try:
        number = read_current(layout.root)
    except (ConfigError, DamageFound):
        return (layout.current.name,)
    try:
        described = load_generation(layout, number)
    except DamageFound:
        return (layout.generation(number).relative_to(layout.root).as_posix(),)
    return () if _is_described(layout, described) else (layout.manifest.name,)


def _refuse_another_version(layout: IndexLayout) -> None:
    """Raise where `index.json` is of another format, and its copy does not say that this is damage."""
    try:
        load_manifest(layout)
    except SchemaMismatch:
        with suppress(ConfigError, DamageFound):
            copy = load_generation(layout, read_current(layout.root)).index
            if copy is not None and copy.format == FORMAT:
                return
        raise
    except (ConfigError, DamageFound):
        return


def _is_whole(layout: IndexLayout) -> bool:
    try:
        return _is_described(layout, load_generation(layout, read_current(layout.root)))
    except (ConfigError, DamageFound):
        return False


def _is_described(layout: IndexLayout, generation: GenerationManifest) -> bool:
    """Whether `index.json` says what the generation repeats."""
    try:
        return is_repeated(load_manifest(layout), generation.index)
    except (ConfigError, DamageFound, SchemaMismatch):
        return False


def _put_back(layout: IndexLayout, ledger: Ledger) -> tuple[str, ...]:
    before = _texts(layout)
    _check_owner(layout, ledger)
    number = _published(layout, ledger)
    described = _manifest(layout, ledger, number)
    write_current(layout.root, number)
    copy = described.index
    if copy is not None and copy.format == FORMAT and not _is_described(layout, described):
        write_durably(layout.manifest, dump_manifest(copy))
    if not layout.manifest.exists():
        raise DamageFound(
            f"is missing, and nothing else holds it; {ADVICE[Trouble.PAST_REPAIR]}",
            subject=str(layout.manifest),
        )
    return tuple(name for name, text in _texts(layout).items() if before.get(name) != text)


def _check_owner(layout: IndexLayout, ledger: Ledger) -> None:
    """Raise ConfigError where the ledger is of an index that no file here names; one may be damaged."""
    ids = set(_index_ids(layout))
    if ids and ledger.owner.index_id() not in ids:
        ledger.owner.check(min(ids))


def _index_ids(layout: IndexLayout) -> Iterator[str]:
    with suppress(ConfigError, DamageFound, SchemaMismatch):
        yield load_manifest(layout).index_id
    for number in generation_numbers(layout):
        with suppress(DamageFound):
            if (copy := load_generation(layout, number).index) is not None:
                yield copy.index_id


def _published(layout: IndexLayout, ledger: Ledger) -> int:
    """What readers saw last, as the ledger knows it; else as `CURRENT` says, or the newest there is."""
    if (newest := ledger.generations.newest_published()) is not None:
        return newest
    try:
        return read_current(layout.root)
    except (ConfigError, DamageFound):
        return max(generation_numbers(layout), default=0)


def _manifest(layout: IndexLayout, ledger: Ledger, number: int) -> GenerationManifest:
    """Put the ledger's copy in its place; without one that can be read, what is there must be whole."""
    path = layout.generation(number)
    text = ledger.manifests.get(number)
    if text is not None and (copy := _read(text)) is not None:
        write_durably(path, text)
        return copy
    try:
        return load_generation(layout, number)
    except DamageFound as error:
        raise DamageFound(
            "is damaged, and the ledger has no copy; go back with: sitegraph rollback, or build another "
            "index with: sitegraph run SOURCE.yaml --index ANOTHER",
            subject=str(path),
        ) from error


def _read(text: str) -> GenerationManifest | None:
    try:
        return read_generation(text.encode())
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _texts(layout: IndexLayout) -> dict[str, str | None]:
    """Names and contents of all files that may be put back."""
    paths = (layout.manifest, layout.current, *layout.generation(0).parent.glob("*.json"))
    return {path.relative_to(layout.root).as_posix(): _text(path) for path in paths}


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None
