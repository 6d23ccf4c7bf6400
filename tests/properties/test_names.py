"""Reading names and relations from any text: nothing breaks, and what is found stands where it is said to."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingest.link.catalogue import Stated, build_catalogue
from ingest.link.naming import is_name
from ingest.link.relations import predicate_between, sentence_spans
from ingest.link.spotting import find_capitalised, find_catalogued, find_phrases
from schemas.names import Name, NameRole, find_acronyms

PIECES = st.sampled_from(
    [
        "Gate",
        "House",
        "gate",
        "of",
        "the",
        "GOV-0017",
        "(WAL)",
        "is a",
        "a.b",
        ".",
        ",",
        " ",
        "\n",
        "'s",
        "-",
        "_",
        "é",
        "日本",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=20).map("".join), st.lists(PIECES).map(" ".join)
)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_spans_say_what_stands_there_and_do_not_overlap(text: str, names: list[str]) -> None:
    catalogue = build_catalogue(
        Stated(f"page:{name}", Name(text=name, role=NameRole.TITLE, entity=name, node=f"page:{name}"))
        for name in names
        if is_name(name)
    )
    listed = find_catalogued(text, catalogue)
    found = sorted((*listed, *find_capitalised(text, listed)))
    for spans in (found, find_phrases(text, names)):
        assert all(text[span.start : span.end] == span.text for span in spans)
        assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(span.text in catalogue.meanings for span in listed)


@given(TEXTS)
def test_sentences_are_parts_of_the_text_in_order(text: str) -> None:
    places = list(sentence_spans(text))
    assert "".join("".join(text[a:b].split()) for a, b in places) == "".join(text.split())
    assert places == sorted(places)
    predicate_between(text)


@given(TEXTS)
def test_acronyms_and_what_they_stand_for_are_in_the_text(text: str) -> None:
    for acronym in find_acronyms(text):
        assert acronym.short in text
        assert acronym.expansion in text
