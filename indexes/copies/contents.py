"""What a copy contains of a generation: damaged files, and PDFs that come when asked for."""

from indexes.copies.fetching import Fetching, WantedFile, raw_path
from indexes.copies.places import open_place
from indexes.layout import FILES, IndexLayout, IndexManifest, is_repeated, load_manifest
from indexes.markers import CopyMarker
from indexes.publish.current import read_current
from indexes.publish.files import Damage, FileCheck
from indexes.publish.generation import PublisherKeys, load_generation, read_signature
from indexes.wiring import open_raw_store
from schemas.errors import GuardRefused
from schemas.settings import Settings


def damage_in_copy(layout: IndexLayout, *, trust: PublisherKeys | None) -> tuple[Damage, ...]:
    """Return what of the current generation is missing, damaged or not signed; reads all of it.

    Raises: DamageFound: `CURRENT`, `index.json` or the manifest cannot be read.
    """
    number = read_current(layout.root)
    described = load_generation(layout, number)
    found = list(FileCheck(layout.root).damaged({**described.files, **described.encoder}))
    if not is_repeated(load_manifest(layout), described.index):
        found.append((layout.manifest.name, "is damaged"))
    path = layout.generation(number)
    if trust is not None:
        try:
            trust.require(path.read_bytes(), read_signature(layout, number), subject=path.name)
        except GuardRefused as error:
            found.append((error.subject, error.message))
    return tuple(found)


def pdf_of_copy(
    layout: IndexLayout,
    manifest: IndexManifest,
    marker: CopyMarker,
    doc: str,
    *,
    generation: int,
    settings: Settings,
) -> bytes | None:
    """Return the bytes of a PDF of a generation, None where they were not kept.

    Raises: StoreUnavailable: they are elsewhere, and it cannot be reached; DamageFound: they are lost there.
    """
    sha256 = load_generation(layout, generation).pdfs.get(doc)
    if sha256 is None:
        return None
    if manifest.raw == FILES and not (layout.root / raw_path(sha256)).is_file():
        _fetch(layout, marker, sha256, settings)
    return open_raw_store(layout.raw, manifest).get(sha256)


def _fetch(layout: IndexLayout, marker: CopyMarker, sha256: str, settings: Settings) -> None:
    place = open_place(marker.url, token=settings.pull_token, patience=settings.bucket_seconds)
    most = settings.disk_cache_mb * 10**6
    try:
        Fetching(place, layout.root, most=most, advance=lambda _: None).fetch(
            WantedFile(path=raw_path(sha256), sha256=sha256, packed=True)
        )
    except FileNotFoundError:
        return  # the raw store says that it is missing
