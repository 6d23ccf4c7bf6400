"""What the passages of a document mention."""

from collections.abc import Mapping

from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.mentions import MAX_CATALOGUED, mention_edges, name_edges, read_document
from ingest.link.naming import stated_names
from schemas.edges import Edge, EdgeKind
from schemas.fragment import GraphFragment
from schemas.ids import entity_id
from schemas.nodes import EntityType
from tests.fakes.written_index import note, parse_note


def catalogue_of(*fragments: GraphFragment) -> Catalogue:
    return build_catalogue(Stated(f.doc, name) for f in fragments for name in stated_names(f))


def mentions(text: str, *others: GraphFragment, targets: Mapping[str, str] | None = None) -> dict[str, Edge]:
    fragment = parse_note(note("Overview", text), path="here.md")
    read = read_document(fragment, catalogue_of(fragment, *others), targets=targets or {})
    return {edge.dst: edge for edge in mention_edges(read, source="notes")}


def titled(title: str, text: str = "Nothing.", **stated: str) -> GraphFragment:
    return parse_note(note(title, text, **stated), path=f"{title}.md")


def test_a_document_does_not_mention_what_it_is_about() -> None:
    fragment = titled("Gate House", "The Gate House is old.")
    read = read_document(fragment, catalogue_of(fragment), targets={})
    assert mention_edges(read, source="notes") == ()


def test_a_single_word_that_is_also_written_small_is_no_name() -> None:
    lanterns = titled("Lanterns")
    assert mentions("We sell Lanterns here.", lanterns).keys() == {entity_id("Lanterns")}
    assert mentions("We sell Lanterns and lanterns here.", lanterns) == {}


def test_a_single_word_at_the_start_of_a_sentence_is_no_name() -> None:
    assert mentions("Lanterns burn. Lanterns shine.", titled("Lanterns")) == {}
    assert mentions("GOV-0017 holds.", titled("Lanterns", id="GOV-0017")).keys() == {
        entity_id("Lanterns", "GOV-0017")
    }


def test_the_text_of_a_link_means_what_it_leads_to() -> None:
    mercury = [titled("Mercury (planet)"), titled("Mercury (element)")]
    text = "They speak of [Swift Mercury](there.md) and of Mercury."
    found = mentions(text, *mercury, targets={"files://notes/there.md": mercury[1].doc})
    (edge,) = found.values()
    assert edge.dst == entity_id("Mercury", "element")
    assert (edge.text, edge.confidence, edge.count) == ("Swift Mercury", 0.95, 2)


def test_names_and_ids_that_nobody_lists_are_entities_by_themselves_and_symbols_are_not() -> None:
    fragment = parse_note(
        note("Overview", "We asked Michael Curtiz how `os.path` and `__name__` work by RFC-2616.")
    )
    read = read_document(fragment, build_catalogue(()), targets={})
    assert {entity.name: entity.entity_type for entity in read.found.values()} == {
        "Michael Curtiz": EntityType.NAME,
        "RFC-2616": EntityType.CODE,
    }
    assert {edge.confidence for edge in mention_edges(read, source="notes")} == {0.6}


def test_a_name_that_could_mean_several_things_is_counted_and_makes_no_edge() -> None:
    mercury = [titled("Mercury (planet)"), titled("Mercury (element)")]
    fragment = parse_note(note("Overview", "They sang of Mercury."))
    read = read_document(fragment, catalogue_of(*mercury), targets={})
    assert read.unclear == {"Mercury"}
    assert mention_edges(read, source="notes") == ()


def test_a_passage_mentions_at_most_so_many_and_the_surest() -> None:
    others = [titled(f"Tower Bell{letter} Two") for letter in "ABCDEFGHIJKLMN"]
    text = "; ".join(split for split in (f"Tower Bell{letter} Two" for letter in "ABCDEFGHIJKLMN"))
    found = mentions(f"{text}; GOV-0017", *others, titled("Lease Keeper", id="GOV-0017"))
    assert len(found) == MAX_CATALOGUED
    assert entity_id("Lease Keeper", "GOV-0017") in found


def test_a_document_and_its_sections_are_named() -> None:
    fragment = titled("Gate House", "a\n\n## Night Porter\n\nb")
    edges = {edge.src: edge for edge in name_edges(fragment.doc, catalogue_of(fragment), source="notes")}
    assert {edge.kind for edge in edges.values()} == {EdgeKind.NAMES}
    assert edges[entity_id("Gate House")].dst == fragment.doc
    assert edges[entity_id("Night Porter")].dst.startswith("section:")
    assert edges[entity_id("Night Porter")].confidence == 0.7
