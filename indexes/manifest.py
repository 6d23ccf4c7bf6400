"""`index.json`: what an index is, fixed when it is made."""

import json
from dataclasses import dataclass, replace

from indexes.layout import IndexLayout, remedy
from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.records import from_record, to_record

FORMAT = 3
"""2: columns for dates and page kinds, in tables and in the ledger; 3: `text_fragment`. Both since 0.2.0."""
FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelManifest:
    """The model all vectors of the index come from, and the arithmetic that chunks were encoded in.

    `token_vectors`: chunks have those of their tokens, too.
    """

    name: str
    sha256: str
    dim: int
    max_tokens: int
    dtype: str = "auto"
    token_vectors: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """Where a generation has its vectors: of which model, in which table, and the folder of their encoder."""

    model: ModelManifest
    table: str = "chunks"
    encoder: str = "encoder"


def table_begun_by(generation: int) -> str:
    """Name the table of vectors that a generation begins with which the model changes."""
    return f"chunks-{generation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexManifest:
    """The parts an index is made of; `index_id` tells indexes in one Neo4j, or in one bucket, apart.

    `model` is the one it was made with; generations after a change of model name theirs.
    `raw` is where raw bytes and parsed fragments are kept: FILES, or a URL of object storage.
    """

    index_id: str
    graph: str
    model: ModelManifest
    raw: str = FILES
    format: int = FORMAT


def load_manifest(layout: IndexLayout) -> IndexManifest:
    """Read `index.json`.

    Raises: ConfigError: the folder is no index; SchemaMismatch: it is one of another format; DamageFound: the
    file of an index is lost or unreadable.
    """
    try:
        record = json.loads(layout.manifest.read_text())
        found = record["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        if layout.has_generations():
            raise DamageFound(
                f"is missing or damaged; {remedy(layout.root)}", subject=str(layout.manifest)
            ) from error
        raise ConfigError(
            "not an index; make one with: sitegraph run SOURCE.yaml --index DIR", subject=str(layout.root)
        ) from error
    if found != FORMAT:
        raise SchemaMismatch(
            f"was made by another version (index format {found}, this one reads {FORMAT}); build a new index "
            "in another folder with: sitegraph run SOURCE.yaml --index DIR",
            subject=str(layout.root),
        )
    try:
        manifest = from_record(IndexManifest, record)
    except (KeyError, TypeError) as error:
        raise DamageFound(
            f"does not describe an index ({error}); {remedy(layout.root)}", subject=str(layout.manifest)
        ) from error
    if manifest.raw != FILES and "://" not in manifest.raw:
        raise DamageFound(
            f"names no place of raw bytes ({manifest.raw!r}); {remedy(layout.root)}",
            subject=str(layout.manifest),
        )
    return manifest


def is_repeated(manifest: IndexManifest, copy: IndexManifest | None) -> bool:
    """Whether *copy*, which a generation was published with, says the same; one without a copy is believed.

    `raw` may lead elsewhere since: docs/stores.md tells how to move what is kept.
    """
    return copy is None or manifest == replace(copy, raw=manifest.raw)


def dump_manifest(manifest: IndexManifest) -> str:
    """Return the text of `index.json`."""
    return json.dumps(to_record(manifest), indent=2, sort_keys=True) + "\n"
