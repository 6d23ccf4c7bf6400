"""What each contestant's process is told; read with nothing but the standard library."""

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Bring the index in `state` up to date with `source`; all that lasts is kept in `state`.

    `source` is a folder of documents or, for peers, of their chunks: a JSON list of texts of each. `mend`:
    rows may be missing from the table, so do whatever the documentation offers for that. `model`: the folder
    of what encodes; None for vectors by hash.
    """

    source: Path
    state: Path
    counts: Path
    mend: bool = False
    model: Path | None = None


def read_order() -> Order:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--mend", action="store_true")
    parser.add_argument("--model", type=Path)
    return Order(**vars(parser.parse_args()))
