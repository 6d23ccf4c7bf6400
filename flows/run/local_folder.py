"""What a run on an index in a bucket has on its own machine, in the cache of the user."""

import shutil
from pathlib import Path

from indexes.embed.export import damaged_files
from indexes.embed.manifest import GRAPH_FILE, MANIFEST_FILE, TOKENIZER_FILE, WEIGHTS_FILE
from indexes.layout import IndexLayout
from indexes.places import bucket_of
from runtime.caches import cache_folder
from schemas.hashing import sha256_hex
from schemas.settings import Settings

_ENCODER = (GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE, MANIFEST_FILE)
"""The manifest last: a folder with one has all the others."""


def local_folder(layout: IndexLayout, settings: Settings) -> Path:
    """Return the folder of an index itself, or where this machine keeps what it needs of one in a bucket.

    All in the latter can be made again.
    """
    if bucket_of(layout.root) is None:
        return layout.root
    return cache_folder(settings, "indexes") / sha256_hex(str(layout.root))[:32]


def fetch_encoder(there: Path, folder: Path) -> None:
    """Bring the exported encoder of an index in a bucket into a local *folder*, if there is one."""
    manifest = there / MANIFEST_FILE
    if not manifest.exists():
        return
    here = folder / MANIFEST_FILE
    if here.is_file() and here.read_bytes() == manifest.read_bytes():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _ENCODER:
        if bucket := bucket_of(there / name):
            bucket.download(folder / name)


def upload_encoder(folder: Path, there: Path, *, check: bool) -> None:
    """Put the exported encoder of a local *folder* where readers of an index in a bucket look for it.

    With *check* what is there is read, and put again where it is damaged.
    """
    if _is_put(folder, there) and not (check and damaged_files(there)):
        return
    for name in _ENCODER:
        if bucket := bucket_of(there / name):
            bucket.upload(folder / name)


def _is_put(folder: Path, there: Path) -> bool:
    try:
        sizes = [(there / name).stat().st_size for name in _ENCODER]
        manifest = (there / MANIFEST_FILE).read_bytes()
    except FileNotFoundError:
        return False
    mine = [(folder / name).stat().st_size for name in _ENCODER]
    return sizes == mine and manifest == (folder / MANIFEST_FILE).read_bytes()
