"""Repairing the cache of vectors, before a run opens it."""

from contextlib import closing

from flows.run.index import Index
from indexes.embed.cache import SqliteVectorCache
from schemas.errors import DamageFound


def repair_vectors(index: Index) -> None:
    """Drop vectors that do not match their checksum, or all where the file is broken."""
    path = index.vectors
    if not path.exists():
        return
    try:
        with closing(SqliteVectorCache(path, model_key="")) as vectors:
            vectors.drop_damaged()
    except DamageFound:
        for part in path.parent.glob(f"{path.name}*"):
            part.unlink()
