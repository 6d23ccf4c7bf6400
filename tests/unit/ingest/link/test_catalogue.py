"""The catalogue of all documents' names."""

import random

from hypothesis import given
from hypothesis import strategies as st

from ingest.link.catalogue import MAX_HOMONYMS, Catalogue, Stated, build_catalogue
from schemas.ids import entity_id
from schemas.names import Name, NameRole
from schemas.nodes import EntityType


def title(text: str, doc: str, disambiguation: str = "") -> Stated:
    return Stated(
        doc, Name(text=text, role=NameRole.TITLE, entity=text, disambiguation=disambiguation, node=doc)
    )


def term(text: str, expansion: str, doc: str) -> Stated:
    role = NameRole.TERM if text == expansion else NameRole.ACRONYM
    return Stated(doc, Name(text=text, role=role, entity=expansion))


def meant(catalogue: Catalogue, text: str) -> list[str]:
    return [candidate.entity for candidate in catalogue.meanings.get(text, ())]


def test_documents_of_one_title_share_an_entity_that_names_each_less_surely() -> None:
    catalogue = build_catalogue([title("Gate House", "page:b"), title("Gate House", "page:a")])
    id_ = entity_id("Gate House")
    assert meant(catalogue, "Gate House") == [id_]
    assert {node: named.confidence for node, named in catalogue.nodes[id_].items()} == {
        "page:a": 0.6,
        "page:b": 0.6,
    }
    assert catalogue.by_node == {"page:a": id_, "page:b": id_}
    assert catalogue.entities[id_].entity_type is EntityType.DOCUMENT


def test_a_title_over_too_many_documents_is_a_label() -> None:
    several = [title("Gate House", f"page:{n}") for n in range(MAX_HOMONYMS + 1)]
    catalogue = build_catalogue(several)
    assert (catalogue.entities, catalogue.meanings, catalogue.nodes) == ({}, {}, {})
    assert catalogue.labels == {"Gate House"}
    assert build_catalogue(several[1:]).labels == frozenset()


def test_a_name_of_too_many_entities_means_none_of_them() -> None:
    several = [title("Mercury", f"page:{n}", str(n)) for n in range(MAX_HOMONYMS + 1)]
    catalogue = build_catalogue(several)
    assert meant(catalogue, "Mercury") == []
    assert catalogue.labels == {"Mercury"}
    assert len(catalogue.entities) == MAX_HOMONYMS + 1
    assert len(meant(build_catalogue(several[1:]), "Mercury")) == MAX_HOMONYMS


def test_the_code_of_an_id_means_all_documents_that_share_it() -> None:
    names = [
        Stated(
            f"page:{n}", Name(text="PRD-0008", role=NameRole.CODE_PREFIX, entity=f"T{n}", node=f"page:{n}")
        )
        for n in range(MAX_HOMONYMS + 3)
    ]
    assert len(meant(build_catalogue(names), "PRD-0008")) == MAX_HOMONYMS + 3


def test_terms_that_differ_in_capitals_alone_are_one_entity() -> None:
    forms = ("write-ahead log", "Write-Ahead Log")
    stated = [term(text, form, "page:a") for form in forms for text in (form, "WAL")]
    catalogue = build_catalogue(stated)
    id_ = entity_id("Write-Ahead Log")
    assert list(catalogue.entities) == [id_]
    assert catalogue.entities[id_].aliases == ("WAL", "write-ahead log")
    assert {text: meant(catalogue, text) for text in (*forms, "WAL")} == {
        text: [id_] for text in (*forms, "WAL")
    }


def test_a_term_that_a_document_is_titled_for_is_that_documents_entity() -> None:
    stated = [title("Write-Ahead Log", "page:wal", "DOC-1"), term("WAL", "write-ahead log", "page:a")]
    assert meant(build_catalogue(stated), "WAL") == [entity_id("Write-Ahead Log", "DOC-1")]


STATED = st.builds(
    title,
    st.sampled_from(["Gate House", "Night Porter", "Mercury"]),
    st.sampled_from(["page:a", "page:b", "page:c"]),
    st.sampled_from(["", "planet", "GOV-1"]),
) | st.builds(
    term,
    st.sampled_from(["WAL", "Gate House"]),
    st.sampled_from(["Gate House", "gate house", "Wet And Late"]),
    st.sampled_from(["page:a", "page:b"]),
)


@given(st.lists(STATED, max_size=8), st.randoms())
def test_the_order_in_which_names_come_does_not_show(stated: list[Stated], chance: random.Random) -> None:
    shuffled = [*stated, *stated[:2]]
    chance.shuffle(shuffled)
    assert build_catalogue(shuffled) == build_catalogue(stated)
