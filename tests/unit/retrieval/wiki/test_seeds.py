"""Where a question begins in the graph."""

from ingest.parse.document import parse_document
from retrieval.wiki.evidence import PASSAGES, SEEDS_MAX, Seeds, find_seeds, parse_query
from schemas.fragment import ParseRequest
from schemas.ids import page_id
from schemas.nodes import Page
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.governance import governance_index
from tests.fakes.pages import count_words
from tests.fakes.small_index import SmallIndex, build_index, page
from tests.fakes.wiki import DAEMON, PLATFORM, mention, people_index


def seeds_of(index: SmallIndex, query: str) -> Seeds:
    return find_seeds(index.chunks, index.graph, index.encoder, query, parse_query(query))


def doc(name: str) -> str:
    return page_id(f"files://manual/{name}.md")


def test_what_the_question_names_comes_first_then_passages_that_share_its_words() -> None:
    index = people_index()
    found = seeds_of(index, "Who maintains the Lease Daemon?")
    assert {DAEMON.id, doc("daemon")} <= set(found.named)
    assert PLATFORM.id not in found.named
    assert found.passages == (next(row.id for row in index.rows if "maintained by" in row.text),)


def test_forms_of_a_name_are_found_whatever_their_case() -> None:
    assert DAEMON.id in seeds_of(people_index(), "what do LEASE DAEMONS do").named


def test_a_document_is_found_by_its_own_id_also_where_no_passage_says_it() -> None:
    assert seeds_of(governance_index(), "What supersedes GOV-0017?").named[0] == doc("gov-0017")


def test_a_question_that_names_nothing_is_looked_for_by_its_single_keywords() -> None:
    index = people_index()
    found = seeds_of(index, "daemon xyzzy plugh quux frotz")
    assert DAEMON.id in found.named
    assert found.passages == ()
    by_passage = seeds_of(index, "xyzzy plugh frotz spring quux")
    assert by_passage.named == ()
    assert by_passage.passages == (next(row.id for row in index.rows if "spring" in row.text),)


def test_nothing_found_is_no_seeds_and_no_error() -> None:
    for query in ("xyzzy plugh", "?!", "the of and"):
        assert seeds_of(people_index(), query).ids == ()
    assert seeds_of(build_index([], []), "Lease Daemon").ids == ()


def test_a_chapter_is_found_by_its_name_once_and_not_its_book() -> None:
    chapters = {name: f"<h1>{name}</h1><p>About {name.lower()}.</p>" for name in ("Lamp rooms", "Fog bells")}
    request = ParseRequest(uri="files://s/island.epub", source="s", path="island.epub")
    book = parse_document(ebooklib_epub("The island", chapters), request, count_tokens=count_words)
    bells = next(node for node in book.nodes if isinstance(node, Page) and node.title == "Fog bells")

    found = seeds_of(build_index([(book.nodes, book.chunks)], book.edges), "Who rings the fog bells?")

    assert found.named == (bells.id,)


def test_there_are_never_more_than_ten_seeds() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnop"]
    pages = [page(word, {word: f"All about {word}."}) for word in words]
    for query in (" ".join(words), f"{' '.join(words)} {' '.join(f'no{n}' for n in range(40))}"):
        found = seeds_of(build_index(pages, []), query)
        assert len(found.ids) == SEEDS_MAX
        assert len(found.passages) <= PASSAGES


def test_seeds_are_the_same_every_time() -> None:
    documents, entity = [page(f"p{n}", {f"Page {n}": "The Lease Daemon."}) for n in range(30)], DAEMON
    index = build_index([*documents, ((entity,), ())], [mention(chunk, entity) for _, (chunk,) in documents])
    assert seeds_of(index, "Lease Daemon") == seeds_of(index, "Lease Daemon")
