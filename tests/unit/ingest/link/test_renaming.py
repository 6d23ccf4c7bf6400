"""What is called otherwise: the difference of two catalogues, found without making both whole."""

import random
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from ingest.link.catalogue import (
    Catalogue,
    NameChanges,
    Stated,
    build_catalogue,
    compare_names,
    entities_near,
)
from ingest.link.mentions import DocumentContext, choose_meanings
from schemas.names import Name, NameRole

ROLES = tuple(NameRole)
ENTITIES = ("Gate", "gate", "GATE", "Gate House", "WAL", "wal", "Write-ahead log", "Yard", "GOV-0017")
TEXTS = (*ENTITIES, "the gate", "log")


def stated(doc: str, text: str, role: NameRole = NameRole.TITLE, *, entity: str | None = None) -> Stated:
    """A name that a document has, or explains."""
    node = None if role in (NameRole.TERM, NameRole.ACRONYM) else f"node of {doc}"
    return Stated(doc, Name(text=text, role=role, entity=entity or text, node=node))


def drawn(chance: random.Random, doc: str) -> list[Stated]:
    """A few names of a document."""
    return [
        stated(doc, chance.choice(TEXTS), chance.choice(ROLES), entity=chance.choice(ENTITIES))
        for _ in range(chance.randrange(4))
    ]


@dataclass(frozen=True)
class Listed:
    """Keeps the port NamesByEntity over a list."""

    names: list[Stated]

    def of(self, folded: Collection[str]) -> list[Stated]:
        return [one for one in self.names if one.name.folded in folded]

    def called(self, texts: Collection[str]) -> frozenset[str]:
        return frozenset(one.name.folded for one in self.names if one.name.text in texts)


def compared(kept: list[Stated], old: list[Stated], new: list[Stated]) -> NameChanges:
    """What differs, from those names alone that are near the changed ones."""
    near = entities_near({*old} ^ {*new}, Listed([*kept, *old, *new]))
    before, after = (Listed([*kept, *part]).of(near) for part in (old, new))
    return compare_names(before, after, changing={one.doc for one in (*old, *new)})


def in_full(kept: list[Stated], old: list[Stated], new: list[Stated]) -> NameChanges:
    """The same from two whole catalogues."""
    before, after = build_catalogue([*kept, *old]), build_catalogue([*kept, *new])

    def differing(name: str) -> frozenset[str]:
        one, other = getattr(before, name), getattr(after, name)
        return frozenset(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))

    named = differing("by_doc")
    return NameChanges(
        named=named,
        about=frozenset(doc for doc in named if before.by_node.get(doc) != after.by_node.get(doc)),
        texts=differing("meanings"),
        entities=differing("entities"),
        after={id_: after.entities[id_] for id_ in differing("entities") & after.entities.keys()},
        labels=len(after.labels) - len(before.labels),
    )


def test_a_new_title_is_a_new_meaning_and_leaves_other_names_alone() -> None:
    kept = [stated("a", "Gate House"), stated("b", "Yard")]

    found = compared(kept, [], [stated("c", "Stables")])

    assert (found.named, found.texts) == ({"c"}, {"Stables"})
    assert len(found.entities) == 1


def test_where_nothing_changes_no_document_is_looked_at() -> None:
    names = [stated("a", "Gate House")]

    assert compared([stated("b", "Yard")], names, names[::-1]) == NameChanges()


def test_a_second_document_of_a_title_touches_the_first_and_no_text() -> None:
    found = compared([stated("a", "Yard"), stated("b", "Gate")], [], [stated("c", "Yard")])

    assert found.named == {"a", "c"}
    assert found.texts == frozenset(), "the title means what it meant"


def test_whatever_comes_and_goes_it_is_what_two_whole_catalogues_differ_in() -> None:
    chance = random.Random(7)
    for _ in range(300):
        kept = [one for doc in "abcdefgh" for one in drawn(chance, doc)]
        old, new = (drawn(chance, "x") + drawn(chance, "y") for _ in range(2))
        found, wanted = compared(kept, old, new), in_full(kept, old, new)
        assert (found.named, found.entities) == (wanted.named, wanted.entities)
        assert (found.after, found.labels) == (wanted.after, wanted.labels)
        assert found.texts <= wanted.texts
        assert wanted.about <= found.about <= found.named, "a document too many is only looked at in vain"


def test_no_document_of_names_that_stay_reads_a_text_otherwise_that_is_left_out() -> None:
    chance, left_out = random.Random(8), 0
    for _ in range(300):
        kept = [one for doc in "abcdefgh" for one in drawn(chance, doc)]
        old, new = (drawn(chance, "x") + drawn(chance, "y") for _ in range(2))
        if not (kept or old):
            continue
        before, after = build_catalogue([*kept, *old]), build_catalogue([*kept, *new])
        stays = in_full(kept, old, new).texts - compared(kept, old, new).texts
        left_out += len(stays)
        for text, reading in product(stays, readings()):
            one, other = (meant(catalogue, text, reading) for catalogue in (before, after))
            assert one == other, (text, reading)
    assert left_out > 20


def readings() -> list[DocumentContext]:
    """Documents of names that stay, by which other they link to."""
    return [DocumentContext(doc=doc, linked=frozenset(linked)) for doc in "abz" for linked in ("", *"abxy")]


def meant(catalogue: Catalogue, text: str, reading: DocumentContext) -> list[tuple[str, float]]:
    """Which entities a text means, and how surely; none for one that is no name."""
    chosen = choose_meanings(catalogue.meanings.get(text, ()), reading)
    return [(candidate.entity, candidate.confidence) for candidate in chosen]


def test_one_more_that_explains_an_acronym_is_nothing_to_those_that_use_it() -> None:
    log, list_ = (
        [stated(doc, "WAL", NameRole.ACRONYM, entity=entity)]
        for doc, entity in (("a", "Write-ahead log"), ("b", "Wide area list"))
    )
    again = stated("c", "WAL", NameRole.ACRONYM, entity="Write-ahead log")

    assert compared([*log, *list_], [], [again]).texts == frozenset()
    assert compared([*log], [], list_).texts == {"WAL"}, "a second meaning matters to all"
