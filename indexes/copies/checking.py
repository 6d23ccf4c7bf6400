"""The files of a copy against its generation."""

from indexes.layout import IndexLayout
from indexes.manifest import is_repeated, load_manifest
from indexes.publish.current import read_current
from indexes.publish.files import Damage, FileCheck
from indexes.publish.generation import load_generation
from indexes.publish.signatures import PublisherKeys, read_signature
from schemas.errors import GuardRefused


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
