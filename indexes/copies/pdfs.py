"""Bytes of PDFs in a copy, which has no ledger: the generation names them; they come when asked for."""

from indexes.copies.fetching import Fetching
from indexes.copies.marker import CopyMarker
from indexes.copies.places import open_place
from indexes.copies.wanted import WantedFile, raw_path
from indexes.layout import IndexLayout
from indexes.manifest import FILES, IndexManifest
from indexes.publish.generation import load_generation
from indexes.wiring import open_raw_store
from schemas.settings import Settings


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
