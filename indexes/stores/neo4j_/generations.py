"""Which generations of an index are finished or being staged: one small node per index."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from indexes.stores.neo4j_.session import Connection, Transaction

_UNKNOWN = -1
_LOAD = "MATCH (i:SitegraphIndex {id: $ix}) RETURN i.finished AS finished, i.staged AS staged, i.tip AS tip"
_SAVE = "MERGE (i:SitegraphIndex {id: $ix}) SET i.finished = $finished, i.staged = $staged, i.tip = $tip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The generations of an index.

    Readers may ask for the `finished` ones. `staged` were begun and neither finished nor aborted. `tip` is
    the generation that the rows with no end belong to, -1 where that is not known.
    """

    finished: frozenset[int] = frozenset()
    staged: frozenset[int] = frozenset()
    tip: int = 0


def load_held(transaction: Transaction, ix: str) -> Held:
    """Give the generations of an index; of an unknown index, none."""
    for row in transaction.run(_LOAD, ix=ix):
        return Held(finished=frozenset(row["finished"]), staged=frozenset(row["staged"]), tip=row["tip"])
    return Held()


def begun(held: Held, generation: int) -> Held:
    """Hide *generation* from readers: its rows are about to change."""
    return replace(held, finished=held.finished - {generation}, staged=held.staged | {generation})


def finished(held: Held, generation: int) -> Held:
    """Show *generation* to readers."""
    return Held(finished=held.finished | {generation}, staged=held.staged - {generation}, tip=generation)


def forgotten(held: Held, generation: int) -> Held:
    """Drop *generation*, of which no row is left."""
    tip = _UNKNOWN if held.tip == generation else held.tip
    return Held(finished=held.finished - {generation}, staged=held.staged - {generation}, tip=tip)


def only(held: Held, kept: Collection[int]) -> Held:
    """Hide all finished generations but *kept*."""
    return replace(held, finished=held.finished & frozenset(kept))


class Generations:
    """Loads and changes what is held; each call is one transaction."""

    def __init__(self, connection: Connection, ix: str) -> None:
        self._connection = connection
        self._ix = ix

    def load(self) -> Held:
        """Give what is held now."""
        return self._connection.read(lambda transaction: load_held(transaction, self._ix))

    def save(self, change: Callable[[Held], Held]) -> None:
        """Apply *change* to what is held."""

        def work(transaction: Transaction) -> None:
            held = change(load_held(transaction, self._ix))
            transaction.run(
                _SAVE, ix=self._ix, finished=sorted(held.finished), staged=sorted(held.staged), tip=held.tip
            )

        self._connection.write(work)
