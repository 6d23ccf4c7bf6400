"""Which generations of an index are finished, being staged or shown: one small node per index."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from indexes.stores.neo4j_.session import Connection, Transaction
from schemas.errors import SchemaMismatch

LAYOUT = 3
"""Of labels and types, as schema.py has them.

In the first, rows bore those that people see; in the second, names without our prefix, edges a type by kind.
"""

FORM = 2
"""Of what nodes of the view say; in the first, dates were texts."""

_UNKNOWN = -1
_FIELDS = ("layout", "finished", "staged", "tip", "view_low", "view_high", "view_form", "view_embedded")
_LOAD = f"MATCH (i:SitegraphIndex {{id: $ix}}) RETURN {', '.join(f'i.{name} AS {name}' for name in _FIELDS)}"
_SAVE = (
    f"MERGE (i:SitegraphIndex {{id: $ix}}) SET {', '.join(f'i.{name} = ${name}' for name in _FIELDS)}, "
    "i.shown = CASE WHEN $view_low = $view_high THEN $view_high END"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRecord:
    """The generations of an index.

    Readers may ask for the `finished` ones. `staged` were begun and neither finished nor aborted. `tip` is
    the generation that the rows with no end belong to, -1 where that is not known. The view shows rows of
    `view_low` to `view_high`: two generations while it is changed from one to the other, else one.
    `view_form`: what its nodes say; `view_embedded`: its chunks have vectors.
    """

    layout: int = LAYOUT
    finished: frozenset[int] = frozenset()
    staged: frozenset[int] = frozenset()
    tip: int = 0
    view_low: int = 0
    view_high: int = 0
    view_form: int = FORM
    view_embedded: bool = False


def load_held(transaction: Transaction, ix: str) -> GenerationRecord:
    """Return the generations of an index; of an unknown index, none."""
    for row in transaction.run(_LOAD, ix=ix):
        kept = {name: value for name, value in row.items() if value is not None}
        return GenerationRecord(
            **{
                **kept,
                "layout": row["layout"] or 1,
                "view_form": row["view_form"] or 1,
                "finished": frozenset(row["finished"]),
                "staged": frozenset(row["staged"]),
            }
        )
    return GenerationRecord()


def check_layout(held: GenerationRecord, ix: str) -> None:
    """Do nothing if the rows stand where this version looks for them.

    Raises: SchemaMismatch: an earlier version wrote them.
    """
    if held.layout != LAYOUT:
        raise SchemaMismatch(
            f"an earlier version wrote this graph in layout {held.layout}, not {LAYOUT}; build the "
            "index anew: sitegraph run SOURCE.yaml --index NEW",
            subject=ix,
        )


def begun(held: GenerationRecord, generation: int) -> GenerationRecord:
    """Hide *generation* from readers: its rows are about to change."""
    return replace(held, finished=held.finished - {generation}, staged=held.staged | {generation})


def finished(held: GenerationRecord, generation: int) -> GenerationRecord:
    """Show *generation* to readers."""
    return replace(
        held, finished=held.finished | {generation}, staged=held.staged - {generation}, tip=generation
    )


def forgotten(held: GenerationRecord, generation: int) -> GenerationRecord:
    """Drop *generation*, of which no row is left."""
    tip = _UNKNOWN if held.tip == generation else held.tip
    return replace(held, finished=held.finished - {generation}, staged=held.staged - {generation}, tip=tip)


def only(held: GenerationRecord, kept: Collection[int]) -> GenerationRecord:
    """Hide all finished generations but *kept*."""
    return replace(held, finished=held.finished & frozenset(kept))


def showing(held: GenerationRecord, generation: int) -> GenerationRecord:
    """Widen what the view may show rows of by *generation*; one of an older form is made anew."""
    low = held.view_low if held.view_form == FORM else _UNKNOWN
    return replace(held, view_low=min(low, generation), view_high=max(held.view_high, generation))


def shown(held: GenerationRecord, generation: int, *, embedded: bool) -> GenerationRecord:
    """Say that the view shows *generation* and nothing else."""
    return replace(held, view_low=generation, view_high=generation, view_form=FORM, view_embedded=embedded)


def is_shown(held: GenerationRecord, generation: int, *, embedded: bool) -> bool:
    """Whether the view shows *generation* whole, with vectors where they are asked for."""
    return held == shown(held, generation, embedded=embedded)


class GenerationStore:
    """Loads and changes what is held; each call is one transaction."""

    def __init__(self, connection: Connection, ix: str) -> None:
        self._connection = connection
        self._ix = ix

    def load(self) -> GenerationRecord:
        """Return what is held now."""
        return self._connection.read(lambda transaction: load_held(transaction, self._ix))

    def save(self, change: Callable[[GenerationRecord], GenerationRecord]) -> GenerationRecord:
        """Apply *change* to what is held, and give what is held then."""

        def work(transaction: Transaction) -> GenerationRecord:
            held = change(load_held(transaction, self._ix))
            values = {name: getattr(held, name) for name in _FIELDS}
            values |= {"finished": sorted(held.finished), "staged": sorted(held.staged)}
            transaction.run(_SAVE, ix=self._ix, **values)
            return held

        return self._connection.write(work)
