"""Where things lie inside an index folder."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The paths of one index."""

    root: Path

    @property
    def manifest(self) -> Path:
        """What this index is: format, graph store, model."""
        return self.root / "index.json"

    @property
    def current(self) -> Path:
        """The number of the generation that readers see."""
        return self.root / "CURRENT"

    def generation(self, number: int) -> Path:
        """What one generation holds."""
        return self.root / "generations" / f"{number}.json"

    @property
    def lance(self) -> Path:
        """Chunks, and the embedded graph."""
        return self.root / "lance"

    @property
    def encoder(self) -> Path:
        """The query encoder, exported for readers."""
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
    def ledger(self) -> Path:
        """The default ledger."""
        return self.root / "ledger.sqlite"

    @property
    def vectors(self) -> Path:
        """Vectors by the hash of the encoded text."""
        return self.root / "vectors.sqlite"
