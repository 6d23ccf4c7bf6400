"""What the index's own graph says of passages."""

from dataclasses import replace

from retrieval.iterative.facts import StepFacts
from retrieval.iterative.readers import read_from_index
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import ChunkNode, Entity, EntityType, Node, Page
from tests.fakes.memory_stores import MemoryGraphStore
from tests.fakes.novels import evidence

NOVEL = evidence("Silver Harbour", "It is a novel by Ada Quill, who is often read.")
AUTHOR = evidence("Ada Quill", "She wrote it in Port Almond.")


def entity(key: str, name: str, *aliases: str) -> Entity:
    return Entity(id=key, doc=key, name=name, entity_type=EntityType.DOCUMENT, aliases=aliases)


def document(title: str) -> Page:
    key = f"page:{title}"
    return Page(id=key, doc=key, source="s", title=title, content_hash="h", path=f"{title}.md")


def edge(kind: EdgeKind, src: str, dst: str, doc: str, **fields: object) -> Edge:
    return Edge(id=f"edge:{kind}:{src}:{dst}", kind=kind, src=src, dst=dst, doc=doc, source="s", **fields)  # type: ignore[arg-type]


NODES: tuple[Node, ...] = (
    document("Silver Harbour"),
    document("Ada Quill"),
    *(ChunkNode(id=one.chunk_id, doc=one.doc, source="s", content_hash="h") for one in (NOVEL, AUTHOR)),
    entity("entity:novel", "Silver Harbour"),
    entity("entity:ada", "Ada Quill", "A. Quill"),
    entity("entity:port", "Port Almond"),
)
NAMES = (
    edge(EdgeKind.NAMES, "entity:novel", "page:Silver Harbour", "page:Silver Harbour"),
    edge(EdgeKind.NAMES, "entity:ada", "page:Ada Quill", "page:Ada Quill"),
)
MENTIONS = edge(
    EdgeKind.MENTIONS, NOVEL.chunk_id, "entity:ada", NOVEL.doc, text="Ada Quill", chunk=NOVEL.chunk_id
)
RELATED = edge(
    EdgeKind.RELATED,
    "entity:ada",
    "entity:port",
    AUTHOR.doc,
    predicate="wrote it in",
    text="wrote it in Port Almond",
    chunk=AUTHOR.chunk_id,
)
LINKS = edge(
    EdgeKind.LINKS_TO,
    NOVEL.doc,
    AUTHOR.doc,
    NOVEL.doc,
    anchor_text="who is often read",
    position=LinkPosition.BODY,
    chunk=NOVEL.chunk_id,
)


def read(*edges: Edge) -> StepFacts:
    store = MemoryGraphStore()
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(NODES, ())
    writer.apply_edges((*NAMES, *edges), ())
    writer.finish(1)
    return read_from_index(store.at(1), (NOVEL, AUTHOR), step=2)


def said(facts: StepFacts) -> list[tuple[str, str, str, str]]:
    texts = {one.chunk_id: one.text for one in (NOVEL, AUTHOR)}
    return [
        (one.subject, one.predicate, one.object, texts[one.chunk][slice(*one.span)])
        for one in facts.statements
    ]


def test_a_passage_is_about_what_its_document_is_named() -> None:
    (novel, author) = read().mentions
    assert (novel.name, novel.ref, author.ref) == ("Silver Harbour", "entity:novel", "entity:ada")
    assert author.aliases == ("A. Quill",)


def test_mentions_are_triples_with_their_words() -> None:
    assert said(read(MENTIONS)) == [("Silver Harbour", "mentions", "Ada Quill", "Ada Quill")]


def test_a_link_of_the_body_means_what_the_page_it_leads_to_is_named() -> None:
    facts = read(LINKS)
    assert said(facts) == [("Silver Harbour", "links to", "Ada Quill", "who is often read")]
    assert facts.statements[0].object_ref == "entity:ada"


def test_links_of_the_navigation_say_nothing() -> None:
    assert said(read(replace(LINKS, position=LinkPosition.NAV))) == []


def test_relations_keep_their_predicate() -> None:
    assert ("Ada Quill", "wrote it in", "Port Almond", "wrote it in Port Almond") in said(
        read(MENTIONS, RELATED)
    )


def test_a_relation_whose_words_do_not_stand_in_the_passage_is_left_out() -> None:
    assert said(read(replace(MENTIONS, text="Bo Reed"))) == []


def test_what_front_matter_states_is_a_statement_without_words() -> None:
    stated = edge(EdgeKind.DEPENDS_ON, NOVEL.doc, AUTHOR.doc, NOVEL.doc)
    verified = edge(EdgeKind.RELATES_TO, NOVEL.doc, AUTHOR.doc, NOVEL.doc, predicate="verified_by")
    store = MemoryGraphStore()
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(NODES, [])
    writer.apply_edges([*NAMES, stated, replace(verified, id="edge:verified")], [])
    writer.finish(1)

    facts = read_from_index(store.at(1), [NOVEL], step=2)

    assert [(one.subject, one.predicate, one.object, one.span) for one in facts.statements] == [
        ("Silver Harbour", "depends on", "Ada Quill", (0, 0)),
        ("Silver Harbour", "verified by", "Ada Quill", (0, 0)),
    ]
    assert {one.name for one in facts.mentions} == {"Silver Harbour", "Ada Quill"}
