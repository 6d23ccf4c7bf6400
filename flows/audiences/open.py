"""The index of an audience, opened, and what is noted beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from flows.run.index import Index, open_index
from indexes.markers import (
    FOLDER,
    Audience,
    AudienceMarker,
    audiences_of,
    read_audience_marker,
    settings_of_audience,
    write_audience_marker,
)
from indexes.places import is_in_bucket
from schemas.access import Groups, audience_name
from schemas.errors import ConfigError
from schemas.ids import sha256_hex


def is_in_force(index: Index) -> bool:
    """Whether anything says who may see what: an audience, a source, or the front matter of a document."""
    return is_stated(index) or bool(audiences_of(index.layout.root))


def is_stated(index: Index) -> bool:
    """Whether a source or a document says who may see it."""
    sources = index.ledger.sources.all().values()
    return index.ledger.access.is_stated() or any(source.access.is_stated for source in sources)


def declare_audience(index: Index, groups: Groups) -> Audience:
    """Make the empty index of an audience, unless it is there.

    Raises: ConfigError: the index is in a bucket.
    """
    root, name = index.layout.root, audience_name(groups)
    if is_in_bucket(root):
        raise ConfigError(
            "audiences need an index in a folder; build it in one, or state no access",
            subject=str(root),
        )
    known = {one.name: one for one in audiences_of(root)}
    if name not in known:
        new = Audience(name=name, groups=groups, folder=root / FOLDER / name, made_from=0)
        with open_audience(index, new):
            pass
        # Last: what is there without it is no audience yet, and is made again.
        write_audience_marker(
            new.folder, AudienceMarker(whole=index.manifest.index_id, groups=tuple(sorted(groups)))
        )
        return new
    return known[name]


@contextmanager
def open_audience(whole: Index, audience: Audience) -> Iterator[Index]:
    """Open an audience's index, made where it is not there: of the model and the graph store of the whole."""
    model = whole.model()
    settings = replace(
        settings_of_audience(whole.settings, audience),
        graph=whole.manifest.graph,
        model=model.name,
        dtype=model.dtype,
        late_interaction=model.token_vectors,
        checks=None,
    )
    index_id = sha256_hex(f"{whole.manifest.index_id}:{audience.name}")[:32]
    index = open_index(settings, index_id=index_id)
    index.clock = whole.clock
    try:
        index.claim_ledger()
        yield index
    finally:
        index.close()


STEPS = 20
"""Generations of the whole index by which an audience can be rolled back with it."""


def marker_of(audience: Audience) -> AudienceMarker:
    """Read what is noted; for whoever holds the index, since only they take an audience away."""
    marker = read_audience_marker(audience.folder)
    assert marker is not None
    return marker


def mark_made(audience: Audience, *, made_from: int, generation: int) -> None:
    """Note that *generation* shows what the audience may see of generation *made_from* of the whole index."""
    marker = marker_of(audience)
    steps = (*(step for step in marker.steps if step[0] != made_from), (made_from, generation))[-STEPS:]
    after = replace(marker, made_from=made_from, unsettled=False, steps=steps)
    if after != marker:
        write_audience_marker(audience.folder, after)


def mark_rolled_back(audience: Audience, *, to: int) -> None:
    """Note what an audience that goes back is made from, and let the next update compare all that it has."""
    marker = marker_of(audience)
    steps = tuple(step for step in marker.steps if step[0] <= to)
    write_audience_marker(audience.folder, replace(marker, made_from=to, unsettled=True, steps=steps))
