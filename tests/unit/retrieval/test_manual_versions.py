"""Answers from manuals in several versions: from the latest of each document, and no passage twice."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.families import Families
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.edges import Edge
from schemas.evidence import ContextBundle, Evidence
from schemas.families import SourceFamily
from schemas.ids import normalise_text
from tests.fakes.small_index import AS_OF, GENERATION, SOURCE, Document, SmallIndex, build_index, link, page

FAMILY = SourceFamily(source=SOURCE, family="shop", url="^([^/]+)/")

SAME = "A lease lasts for ten minutes and is then given to whoever asks next."
OLD, NEW = "The default of lease_seconds is 60.", "The default of lease_seconds is 90."


def edition(version: str, name: str, *texts: str) -> Document:
    """A page of one version of the manual."""
    sections = {f"{name} {number}": text for number, text in enumerate(texts)}
    return page(f"{version}/{name}", sections, version=version)


def manual(*documents: Document) -> SmallIndex:
    return build_index(documents, _linked(documents))


def _linked(documents: tuple[Document, ...]) -> list[Edge]:
    """Every page links to the next one, whatever its version, so that the graph leads everywhere."""
    first = [chunks[0] for _, chunks in documents]
    return [link(a, b, "see also") for a, b in pairwise(first)]


def ask(index: SmallIndex, text: str, **options: Any) -> ContextBundle:
    families = Families((FAMILY,), index.chunks)
    retriever = Retriever(
        index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF, families=families
    )
    return retriever.retrieve(build_query(text, **options))


def by_text(bundle: ContextBundle) -> dict[str, Evidence]:
    found = {one.text: one for one in bundle.evidence}
    assert len(found) == len(bundle.evidence), "a passage came twice"
    return found


@pytest.fixture
def shop() -> SmallIndex:
    return manual(
        edition("15", "leases", SAME, OLD),
        edition("17", "leases", SAME, NEW),
        edition("16", "leases", SAME),
        edition("15", "carts", "A cart holds leases of goods."),
        page("blog", {"Blog": "We wrote about leases and about lease_seconds."}),
    )


def test_the_latest_answers_and_says_where_else_it_stands(shop: SmallIndex) -> None:
    found = by_text(ask(shop, "how long does a lease last"))
    assert found.keys() == {
        SAME,
        NEW,
        "A cart holds leases of goods.",
        "We wrote about leases and about lease_seconds.",
    }
    versions = found[SAME].versions
    assert versions is not None
    assert (versions.family, versions.version, versions.also_in, versions.not_in) == (
        "shop",
        "17",
        ("16", "15"),
        (),
    )
    assert found["We wrote about leases and about lease_seconds."].versions is None


def test_a_page_that_newer_versions_lack_answers_and_says_so(shop: SmallIndex) -> None:
    versions = by_text(ask(shop, "what does a cart hold"))["A cart holds leases of goods."].versions
    assert versions is not None
    assert (versions.version, versions.not_in, versions.also_in) == ("15", ("17", "16"), ())


def test_a_version_that_is_asked_for_answers_alone(shop: SmallIndex) -> None:
    found = by_text(ask(shop, "default of lease_seconds", version="15"))
    assert NEW not in found
    assert OLD in found
    assert {one.versions.version for one in found.values() if one.versions} == {"15"}


def test_of_all_versions_what_is_said_twice_comes_once_from_the_newest(shop: SmallIndex) -> None:
    found = by_text(ask(shop, "how long does a lease last", version="all"))
    assert {OLD, NEW, SAME} <= found.keys()
    versions = found[SAME].versions
    assert versions is not None
    assert (versions.version, versions.also_in) == ("17", ("16", "15"))


def test_a_page_under_another_name_that_says_the_same_comes_once_from_the_newest() -> None:
    index = manual(edition("15", "leasing", SAME), edition("17", "leases", SAME))
    (one,) = ask(index, "how long does a lease last").evidence
    assert one.file_path == "17/leases.md"


def test_without_a_family_nothing_is_left_out_or_said(shop: SmallIndex) -> None:
    retriever = Retriever(shop.chunks, shop.graph, shop.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query("default of lease_seconds")).evidence
    assert {OLD, NEW} <= {one.text for one in found}
    assert all(one.versions is None for one in found)


def test_top_k_is_filled_from_what_is_left() -> None:
    old = [edition("1", f"page{n}", f"lease lease lease number {n}") for n in range(30)]
    new = [edition("2", f"page{n}", f"a lease among other words, number {n}") for n in range(30)]
    found = ask(manual(*old, *new), "lease", top_k=20).evidence
    assert len(found) == 20
    assert {one.versions.version for one in found if one.versions} == {"2"}


VERSIONS = ("main", "3rc1", "1", "2")
"""The one that is preferred last."""
WORDS = ("lease", "cart", "guard", "door", "bell", "lamp")

pages = st.lists(
    st.tuples(
        st.sampled_from(VERSIONS),
        st.sampled_from("abcde"),
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(pages=pages, text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_passage_of_an_older_version_stands_where_a_newer_document_is(
    pages: list[tuple[str, str, list[list[str]]]], text: str
) -> None:
    index = manual(
        *(edition(version, name, *map(" ".join, texts)) for version, name, texts in pages),
    )
    place = {version: number for number, version in enumerate(VERSIONS)}
    newest: dict[str, str] = {}
    for version, name, _ in sorted(pages, key=lambda one: place[one[0]]):
        newest[name] = version

    for wanted in (None, "all", *{version for version, _, _ in pages}):
        found = ask(index, text, top_k=50, version=wanted).evidence
        texts = [normalise_text(one.text) for one in found]
        assert len(set(texts)) == len(texts)
        for one in found:
            version, _, name = (one.file_path or "").removesuffix(".md").partition("/")
            assert one.versions is not None
            assert one.versions.version == version
            if wanted is None:
                assert newest[name] == version
            elif wanted != "all":
                assert version == wanted
            there = {other for other, name_, _ in pages if name_ == name}
            assert set(one.versions.not_in) == {
                other for other in {v for v, _, _ in pages} - there if _before(place, other, version)
            }
            assert set(one.versions.also_in) <= there - {version}


def _before(place: dict[str, int], one: str, other: str) -> bool:
    return place[one] > place[other]


def test_what_a_version_says_elsewhere_is_compared_whole_though_evidence_is_cut() -> None:
    long = " ".join(f"A lease number {n} lasts for {n} minutes." for n in range(9))
    index = manual(edition("1", "leases", long), edition("2", "leases", long))
    (one,) = ask(index, "how long does a lease last", token_budget=16, top_k=1).evidence
    assert len(one.text) < len(long)
    assert one.versions is not None
    assert one.versions.also_in == ("1",)
