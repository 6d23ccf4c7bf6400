"""Sentences, whatever elements stand in them: every word is read, in its order."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.parse.html.visibility import word_set
from tests.fakes.pages import parse_page, texts_of

BEFORE = "Gardens need water in summer, and the soil should stay loose so that the roots can breathe well."
BEHIND = "In winter they need nothing but patience and a cover of dry leaves against the wind and the cold."
WORDS = ["alder", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel", "ivy", "juniper"]
# Not `address`, `center` and `summary`: they end a paragraph, and are blocks beside it.
KNOWN = sorted(
    word_set(
        "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark "
        "meter nobr output q ruby s samp slot small span strike strong sub sup time tt u var"
    )
)
NAMES = st.one_of(st.sampled_from(KNOWN), st.from_regex(r"[a-z]{1,6}(-[a-z]{1,6}){1,2}", fullmatch=True))
SPANS = st.tuples(st.integers(0, len(WORDS) - 1), st.integers(1, len(WORDS)), NAMES)
AROUND = st.sampled_from(["main", "article", "div"])


@settings(max_examples=60, deadline=None)
@given(
    spans=st.lists(SPANS, min_size=1, max_size=3), around=AROUND, attributes=st.sampled_from(["", " id=toc"])
)
def test_every_word_of_a_sentence_is_read_whatever_element_it_stands_in(
    spans: list[tuple[int, int, str]], around: str, attributes: str
) -> None:
    words = list(WORDS)
    for start, length, name in spans:
        end = min(start + length, len(words)) - 1
        words[start] = f"<{name}{attributes}>{words[start]}"
        words[end] += f"</{name}>"
    sentence = f"<p>The trees are {' '.join(words)} and no other.</p>"
    page = f"<h1>Trees</h1><{around}><p>{BEFORE}</p>{sentence}<p>{BEHIND}</p></{around}>"
    assert words_of(page) == f"{BEFORE} The trees are {' '.join(WORDS)} and no other. {BEHIND}".split()


def words_of(page: str) -> list[str]:
    text = " ".join(texts_of(parse_page(f"<html><body>{page}</body></html>")).values())
    # What is struck, raised or lowered is marked as such.
    return re.sub(r"~~|[\^_()]", "", unicodedata.normalize("NFKC", text)).split()
