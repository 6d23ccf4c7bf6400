"""Where things lie inside an index folder."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from schemas.advice import ADVICE, Trouble

COPY = "COPY.json"
"""What a copy of an index elsewhere has, and nothing else (indexes/copies/marker.py)."""

_MAKING = ".making"
_FIRST_MADE = ("lance", "CURRENT")
"""What an index consists of when its making is cut off before `index.json`; it is then made again."""


def leftovers_of(name: str) -> str:
    """The pattern of what killed writers of a file leave beside it, earlier versions without a number."""
    return f".{name}.*new"


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The paths of one index."""

    root: Path

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

    @property
    def making(self) -> Path:
        """The lock of who makes the index."""
        return self.root / _MAKING

    def has_generations(self) -> bool:
        """Whether anything was published here, so that the folder is an index though `index.json` be lost."""
        return any(self.generation(0).parent.glob("*.json"))

    @property
    def manifest(self) -> Path:
        """What this index is: format, graph store, model."""
        return self.root / "index.json"

    @property
    def current(self) -> Path:
        """The number of the generation that readers see."""
        return self.root / "CURRENT"

    def generation(self, number: int) -> Path:
        """What one generation contains."""
        return self.root / "generations" / f"{number}.json"

    @property
    def lance(self) -> Path:
        """Chunks, and the embedded graph."""
        return self.root / "lance"

    @property
    def encoder(self) -> Path:
        """The query encoder of the model that the index was made with, exported for readers."""
        return self.root / "encoder"

    @property
    def raw(self) -> Path:
        """Fetched bytes by hash."""
        return self.root / "raw"

    @property
    def fragments(self) -> Path:
        """Parsed documents by hash."""
        return self.root / "fragments"

    @property
    def outbox(self) -> Path:
        """Payloads of frozen plans by hash."""
        return self.root / "outbox"

    @property
    def similar(self) -> Path:
        """What is known of each chunk's nearest, by hash; each kept generation names its own."""
        return self.root / "similar"

    @property
    def links(self) -> Path:
        """Which documents link to each other, by hash; each kept generation names its own."""
        return self.root / "links"

    @property
    def authority(self) -> Path:
        """What links and clicks say of the documents of each kept generation."""
        return self.root / "authority"

    def authority_of(self, generation: int) -> Path:
        """The same of one generation."""
        return self.authority / f"{generation}.arrow"

    @property
    def ledger(self) -> Path:
        """The default ledger."""
        return self.root / "ledger.sqlite"

    @property
    def ledger_place(self) -> Path:
        """Where the ledger is, in words."""
        return self.root / "ledger.json"

    @property
    def maintenance(self) -> Path:
        """The report of the last maintenance."""
        return self.root / "maintenance.json"

    @property
    def vectors(self) -> Path:
        """Vectors by the hash of the encoded text."""
        return self.root / "vectors.sqlite"

    @property
    def codes(self) -> Path:
        """Short forms of the vectors of all passages, a file for each model."""
        return self.root / "codes"

    @property
    def shared_vectors(self) -> Path:
        """The same where processes share no disk, by the hash of files of many."""
        return self.root / "vectors"

    @property
    def shared_vector_keys(self) -> Path:
        """Which of those files has the vector of which text."""
        return self.root / "vector-keys"


def remedy(index: Path) -> str:
    """What to do about a damaged index."""
    if (index / COPY).exists():
        return f"repair it with: sitegraph pull URL --to {shlex.quote(str(index))} --repair"
    return f"{ADVICE[Trouble.DAMAGE]} --index {shlex.quote(str(index))}"
