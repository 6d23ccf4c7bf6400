"""Where things lie inside an index folder, and `index.json`, which says what the index is."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.ids import LATER
from schemas.records import from_record, to_record

COPY = "COPY.json"
"""What a copy of an index elsewhere has, and nothing else (indexes/markers.py)."""

_MAKING = ".making"
_FIRST_MADE = ("lance", "CURRENT")
"""What an index consists of when its making is cut off before `index.json`; it is then made again."""


def leftovers_of(name: str) -> str:
    """The pattern of what killed writers of a file leave beside it, earlier versions without a number."""
    return f".{name}.*new"


class _Below:
    """A path under the folder of an index."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: "IndexLayout", _owner: type) -> Path:
        return layout.root / self._name


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The paths of one index."""

    root: Path

    manifest = _Below("index.json")
    """What this index is: format, graph store, model."""
    current = _Below("CURRENT")
    """The number of the generation that readers see."""
    lance = _Below("lance")
    """Chunks, and the embedded graph."""
    encoder = _Below("encoder")
    """The query encoder of the model that the index was made with, exported for readers."""
    raw = _Below("raw")
    """Fetched bytes by hash."""
    fragments = _Below("fragments")
    """Parsed documents by hash."""
    outbox = _Below("outbox")
    """Payloads of frozen plans by hash."""
    similar = _Below("similar")
    """What is known of each chunk's nearest, by hash; each kept generation names its own."""
    links = _Below("links")
    """Which documents link to each other, by hash; each kept generation names its own."""
    authority = _Below("authority")
    """What links and clicks say of the documents of each kept generation."""
    ledger = _Below("ledger.sqlite")
    """The default ledger."""
    ledger_place = _Below("ledger.json")
    """Where the ledger is, in words."""
    maintenance = _Below("maintenance.json")
    """The report of the last maintenance."""
    vectors = _Below("vectors.sqlite")
    """Vectors by the hash of the encoded text."""
    codes = _Below("codes")
    """Short forms of the vectors of all passages, a file for each model."""
    shared_vectors = _Below("vectors")
    """Vectors by text where processes share no disk, by the hash of files of many."""
    shared_vector_keys = _Below("vector-keys")
    """Which of those files has the vector of which text."""
    making = _Below(_MAKING)
    """The lock of who makes the index."""

    def is_foreign(self) -> bool:
        """Whether the folder contains anything but an index, so that none may be made there."""
        if self.has_generations() or not self.root.is_dir():
            return False
        known = (*_FIRST_MADE, _MAKING, *self._leftovers())
        others = [path for path in self.root.iterdir() if not any(fnmatchcase(path.name, p) for p in known)]
        # Last: what another process makes meanwhile comes after its `index.json`.
        return bool(others) and not self.manifest.exists()

    def first_made(self) -> Iterator[Path]:
        """Where what comes before `index.json` would be, but for the lock of who makes it."""
        yield from (self.root / name for name in _FIRST_MADE)
        for pattern in self._leftovers():
            yield from self.root.glob(pattern)

    def _leftovers(self) -> tuple[str, ...]:
        return tuple(leftovers_of(path.name) for path in (self.current, self.manifest))

    def has_generations(self) -> bool:
        """Whether anything was published here, so that the folder is an index though `index.json` be lost."""
        return any(self.generation(0).parent.glob("*.json"))

    def generation(self, number: int) -> Path:
        """What one generation contains."""
        return self.root / "generations" / f"{number}.json"

    def authority_of(self, generation: int) -> Path:
        """The same of one generation."""
        return self.authority / f"{generation}.arrow"


def remedy(index: Path) -> str:
    """What to do about a damaged index."""
    if (index / COPY).exists():
        return f"repair it with: sitegraph pull URL --to {shlex.quote(str(index))} --repair"
    return f"{ADVICE[Trouble.DAMAGE]} --index {shlex.quote(str(index))}"


FORMAT = 3
"""2: columns for dates and page kinds, in tables and in the ledger; 3: `text_fragment`. Both since 0.2.0."""
FILES, LANCE = "files", "lance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelManifest:
    """The model all vectors of the index come from, and the arithmetic that chunks were encoded in.

    `token_vectors`: chunks have those of their tokens, too; `stems`: their words by the language of each.
    """

    name: str
    sha256: str
    dim: int
    max_tokens: int
    dtype: str = "auto"
    token_vectors: bool = False
    # Left out where there are none: programs of the version before read what such an index has.
    stems: bool = field(default=False, metadata=LATER)

    @property
    def optional_columns(self) -> frozenset[str]:
        """Columns of the table of chunks that not all tables have."""
        return frozenset(name for name in ("token_vectors", "stems") if getattr(self, name))


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
