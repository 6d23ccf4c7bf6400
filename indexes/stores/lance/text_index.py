"""When chunks get their words indexed anew: once most of them are in another language than before."""

from collections import Counter

import pyarrow.compute as pc
from lancedb.index import FTS
from lancedb.table import Table

from indexes.stores.lance import scan
from indexes.stores.lance.full_text import PROSE, full_text_of, main_language


def refresh_text_indexes(table: Table) -> None:
    """Bring the indexes over prose in line with the language of most chunks; no commit where they are."""
    counts: Counter[str | None] = Counter()
    for batch in scan.batches(table, ["lang"]):
        for one in pc.value_counts(batch.column(0)).to_pylist():
            counts[one["values"]] += one["counts"]
    wanted = full_text_of(main_language(counts))
    held = {index.columns[0]: index.index_details or {} for index in table.list_indices()}
    for column in PROSE:
        if not _is_as(held.get(column, {}), wanted):
            table.create_index(column, config=wanted, replace=True)


def _is_as(details: dict[str, object], wanted: FTS) -> bool:
    return all(details.get(name) == getattr(wanted, name) for name in ("base_tokenizer", "language", "stem"))
