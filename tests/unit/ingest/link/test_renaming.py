"""What is called otherwise: the difference of two catalogues, found without making both whole."""

import random

from ingest.link.catalogue import Stated, build_catalogue
from ingest.link.renaming import NameChanges, compare_names
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
    )


def test_a_new_title_is_a_new_meaning_and_leaves_other_names_alone() -> None:
    kept = [stated("a", "Gate House"), stated("b", "Yard")]

    found = compare_names(kept, [], [stated("c", "Stables")])

    assert (found.named, found.texts) == ({"c"}, {"Stables"})
    assert len(found.entities) == 1


def test_where_nothing_changes_or_nothing_was_there_no_document_is_looked_at() -> None:
    names = [stated("a", "Gate House")]

    assert compare_names([stated("b", "Yard")], names, names[::-1]) == NameChanges()
    assert compare_names([], [], names) == NameChanges()


def test_a_second_document_of_a_title_touches_the_first_and_no_text() -> None:
    found = compare_names([stated("a", "Yard"), stated("b", "Gate")], [], [stated("c", "Yard")])

    assert found.named == {"a", "c"}
    assert found.texts == frozenset(), "the title means what it meant"


def test_whatever_comes_and_goes_it_is_what_two_whole_catalogues_differ_in() -> None:
    chance = random.Random(7)
    for _ in range(300):
        kept = [one for doc in "abcdefgh" for one in drawn(chance, doc)]
        old, new = (drawn(chance, "x") + drawn(chance, "y") for _ in range(2))
        found, wanted = compare_names(kept, old, new), in_full(kept, old, new)
        if not (kept or old):
            continue
        assert (found.named, found.texts, found.entities) == (wanted.named, wanted.texts, wanted.entities)
        assert wanted.about <= found.about <= found.named, "a document too many is only looked at in vain"
