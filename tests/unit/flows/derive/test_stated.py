"""Names looked up as they are asked for: what is found is what the whole catalogue would say."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from flows.derive.names import StatedNames
from indexes.stores.ledger.ledger import Ledger
from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.mentions import DocumentContext, choose_meanings
from ingest.link.spotting import find_catalogued
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument
from schemas.names import Name, NameRole
from tests.fakes.ledger_rows import make_live, publish, put

PATHS = tuple("abcdefghijkl")
PIECES = (
    "Gate",
    "gate",
    "House",
    "the",
    "x",
    "WAL",
    "wal",
    "GOV-0017",
    "a_b",
    "日本",
    "é",
    "C++",
    "No. 7",
    "of",
)
JOINS = (" ", " ", " ", "-", ", ", "_", "'s ", ") (", "", "\n")
COMMON = ("Gate House", "WAL", "(the) Gate")
"""Names that more things have than a name may mean."""
TERMS = (NameRole.TERM, NameRole.ACRONYM)


def drawn_text(chance: random.Random, pieces: int) -> str:
    """Pieces of names with something between them: of such things texts consist, too."""
    if chance.random() < 0.3:
        return chance.choice(COMMON)
    said = [chance.choice(PIECES) + chance.choice(JOINS) for _ in range(pieces)]
    return chance.choice(("", "", "(")) + "".join(said).strip()


def drawn_names(chance: random.Random, doc: str) -> tuple[Name, ...]:
    """A few names of a document, of its sections and of terms that it explains."""
    names: list[Name] = []
    for number in range(chance.randrange(6)):
        text, role = drawn_text(chance, chance.randint(1, 4)), chance.choice(tuple(NameRole))
        entity = text if chance.random() < 0.6 else drawn_text(chance, chance.randint(1, 2))
        node = None if role in TERMS else chance.choice((doc, f"section:{doc}-{number}"))
        names.append(Name(text=text, role=role, entity=entity, node=node))
    return tuple(dict.fromkeys(names))


def meant(catalogue: Catalogue, text: str, doc: str) -> list[tuple[str, float, str]]:
    """What the names in a text mean in a document, in reading order."""
    spans = find_catalogued(text, catalogue)
    chosen = [choose_meanings(catalogue.meanings[span.text], DocumentContext(doc=doc)) for span in spans]
    return [
        (one.entity, one.confidence, str(spans[n])) for n, several in enumerate(chosen) for one in several
    ]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_looked_up_is_what_the_whole_catalogue_says(ledger: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    names: dict[str, tuple[Name, ...]] = {}

    def version(path: str, number: str) -> LiveDocument:
        live = make_live(path, number)
        names[live.fragment_sha] = drawn_names(chance, live.doc)
        ledger.names.save([(live.fragment_sha, names[live.fragment_sha])])
        return live

    live = {one.doc: one for one in (version(path, "1") for path in PATHS)}
    base = publish(ledger, *map(put, live.values()), base=0)
    changes: dict[str, DocumentChange] = {}
    for path in chance.sample(PATHS, 3):
        old = live.pop(make_live(path, "1").doc)
        new = version(path, "2") if chance.random() < 0.7 else None
        kind = ChangeKind.CHANGED if new else ChangeKind.REMOVED
        changes[old.doc] = DocumentChange(kind=kind, old=old, new=new)
        live |= {new.doc: new} if new else {}
    whole = build_catalogue(
        Stated(doc, name) for doc, one in live.items() for name in names[one.fragment_sha]
    )
    stated = StatedNames(names=ledger.names, base=base, changes=changes)

    for _ in range(4):
        read, linked = chance.sample(sorted(live), 3), chance.sample(sorted(live), 2)
        texts = [drawn_text(chance, chance.randrange(30)) for _ in range(4)]
        fragment: Any = SimpleNamespace(chunks=[SimpleNamespace(text=text) for text in texts])
        part = stated.catalogue_for({doc: live[doc] for doc in read}, [fragment], linked)

        for doc in read:
            assert part.by_doc.get(doc) == whole.by_doc.get(doc)
            assert [meant(part, text, doc) for text in texts] == [meant(whole, text, doc) for text in texts]
        assert [part.by_node.get(doc) for doc in linked] == [whole.by_node.get(doc) for doc in linked]
        assert part.entities.items() <= whole.entities.items()
