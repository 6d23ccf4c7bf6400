"""Documents by the ids that they have of their own (`GOV-0017`), as the next generation will hold them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flows.derive.remembered import Remembered
from indexes.stores.ledger.generations import Generations
from schemas.changes import DocumentChange

MOST_LOOKUPS = 5
"""To look a batch's ids up goes through all documents, at a seventh of the price of reading all their ids."""


@dataclass(kw_only=True)
class NextDocIds:
    """Looks ids up, batch by batch; once that has been many batches, reads all of them."""

    generations: Generations
    base: int
    changes: Mapping[str, DocumentChange]
    _remembered: Remembered[str] = field(default_factory=Remembered)
    _lookups: int = 0

    def among(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """Node id by document id, case folded, of those asked for that a document will have.

        Of equal ids the lowest node id wins.
        """
        asked = {one.casefold() for one in doc_ids}
        held, new = self._held_among(asked), self._new
        return held | {one: min(new[one], held.get(one, new[one])) for one in asked & new.keys()}

    def _held_among(self, asked: Collection[str]) -> dict[str, str]:
        if self._lookups < MOST_LOOKUPS:
            return self._remembered.among(asked, self._look_up)
        return {one: self._all[one] for one in asked if one in self._all}

    def _look_up(self, folded: Collection[str]) -> Mapping[str, str]:
        self._lookups += bool(folded)
        return self.generations.by_doc_id(self.base, folded, without_docs=self.changes.keys())

    @cached_property
    def _all(self) -> Mapping[str, str]:
        return self.generations.by_doc_id(self.base, without_docs=self.changes.keys())

    @cached_property
    def _new(self) -> Mapping[str, str]:
        new = [change.new for change in self.changes.values() if change.new]
        return dict(sorted(((live.doc_id.casefold(), live.doc) for live in new if live.doc_id), reverse=True))
