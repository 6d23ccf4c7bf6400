"""What an index must contain after a phase, and what is wrong with one."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

Row = tuple[str, str]
"""Name of the document, and the text that the encoder is given of a chunk."""


def read_truth(chunks: Path) -> Counter[Row]:
    """Read the chunks of all documents as they were exported."""
    return Counter(
        (path.name, text) for path in sorted(chunks.iterdir()) for text in json.loads(path.read_text())
    )


def judge(found: Iterable[Row], truth: Counter[Row]) -> str:
    """Say what is wrong, or nothing.

    Rows of the same document and text may be kept once or as often as they occur.
    """
    rows = Counter(found)
    missing, foreign = len(truth.keys() - rows.keys()), len(rows.keys() - truth.keys())
    repeated = sum(number - truth[row] for row, number in rows.items() if 0 < truth[row] < number)
    said = {"missing": missing, "out of date": foreign, "too many": repeated}
    return ", ".join(f"{number} {what}" for what, number in said.items() if number)
