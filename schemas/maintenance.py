"""What maintenance of an index did: what `sitegraph maintain --format json` prints (docs/commands.md)."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures:
    """A table as the next run builds on it: files, rows in them, of these the deleted; segments of an index.

    `segments` is of the index that has most.
    """

    files: int
    rows: int
    deleted: int
    segments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """An index before or after maintenance: its tables by name; bytes of their folders, and of the ledger.

    A number of bytes is None where it is not known, as in a bucket or on a server.
    """

    tables: dict[str, TableFigures] = field(default_factory=dict)
    table_bytes: int | None = None
    ledger_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was read and compared with its hash: files of the tables and documents; and what did not match."""

    files: int = 0
    documents: int = 0
    damage: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one maintenance found and did.

    `due` says why it was due, one line each; `skipped` what was left for another time, and why. `swept` is
    how many files that nothing needs were deleted. `steps` are seconds by step.
    """

    id: str
    generation: int
    started_at: str
    dry_run: bool = False
    due: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    before: Figures = Figures()
    after: Figures = Figures()
    swept: int = 0
    sample: Sample = Sample()
    steps: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
