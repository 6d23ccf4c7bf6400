"""Which entities a question names, under all the names that it and the catalogue give them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from retrieval.question.relationship import ENTITIES_MAX, entities_of
from retrieval.question.words import fold


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEntity:
    """A name in a question; `names` begins with it and contains what it is short for, or its acronym."""

    name: str
    names: tuple[str, ...]


class QueryEntityExtractor:
    """Reads at most three entities from a question.

    Args: acronyms: acronym > what it is short for, known before anything is read; *limit* of 1 to 3.
    """

    def __init__(self, acronyms: Mapping[str, str] | None = None, *, limit: int = ENTITIES_MAX) -> None:
        self._acronyms = dict(acronyms or {})
        self._limit = limit

    def extract(
        self, question: str, *, known: Collection[str] = (), acronyms: Mapping[str, str] | None = None
    ) -> tuple[QueryEntity, ...]:
        """Return the entities, those of the catalogue first; an acronym and its long form are one.

        Args: known: names of the catalogue. acronyms: further ones, which those of the extractor go before.
        """
        spelled = {**(acronyms or {}), **self._acronyms}
        short = {fold(long): acronym for acronym, long in sorted(spelled.items(), reverse=True)}
        found: dict[str, QueryEntity] = {}
        for name in entities_of(question, [*known, *self._written_out(question, spelled)]):
            other = spelled.get(name) or short.get(fold(name))
            names = (name, other) if other else (name,)
            if not any(fold(one) in found for one in names):
                found[fold(name)] = QueryEntity(name=name, names=names)
        return tuple(found.values())[: self._limit]

    @staticmethod
    def _written_out(question: str, spelled: Mapping[str, str]) -> list[str]:
        """Long forms that the question uses, whatever its capitals."""
        return [long for long in spelled.values() if f" {fold(long)} " in f" {fold(question)} "]
