"""Sentences of the evidence as an answer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from retrieval.answering.answerable import Familiarity
from retrieval.answering.answered import Answered, split_quotable
from retrieval.answering.extract import BEST_MAX, FURTHER_MAX, PASSAGES_MAX, extract_answer, weigh_sentences
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle
from tests.fakes.pages import parse_page
from tests.fakes.small_index import AS_OF, GENERATION, Document, build_index, page

QUESTION = "who keeps the great key"


@pytest.fixture(scope="module")
def bundle() -> ContextBundle:
    index = build_index(
        [
            page("keys", {"Great key": "It is old. The night porter keeps the great key. He sleeps by day."}),
            page("list", {"List of keys": "- great key: porter\n- small key: maid\n\n1 2 3"}),
            page("copy", {"Great key again": "The night porter keeps the great key."}),
            page("long", {"Listing": f"great key keeps {'x ' * 400}."}),
        ],
        [],
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query(QUESTION))


class Scripted:
    """A cross-encoder that knows what it will say."""

    def __init__(self, **logits: float) -> None:
        self.logits = logits

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(
            max((logit for word, logit in self.logits.items() if word in text), default=-5.0)
            for text in texts
        )


def test_a_sentence_is_there_once_with_the_label_of_the_better_evidence(bundle: ContextBundle) -> None:
    candidates = weigh_sentences(QUESTION, bundle.evidence)
    texts = [one.text for one in candidates]
    assert texts.count("The night porter keeps the great key.") == 1
    best = next(one for one in candidates if one.text == "The night porter keeps the great key.")
    holders = [one.S for one in bundle.evidence if best.text in one.text]
    assert holders[0] == best.evidence.S
    assert len(holders) == 2


def test_lines_of_a_list_are_sentences_and_endless_ones_and_bare_numbers_are_not(
    bundle: ContextBundle,
) -> None:
    texts = {one.text for one in weigh_sentences(QUESTION, bundle.evidence)}
    assert "- great key: porter" in texts
    assert not any(text.startswith(("1 2 3", "great key keeps x")) for text in texts)


def test_the_sentence_that_has_most_of_the_question_covers_most(bundle: ContextBundle) -> None:
    assert (
        max(weigh_sentences(QUESTION, bundle.evidence), key=lambda one: one.covered).text
        == "The night porter keeps the great key."
    )


def test_a_short_passage_is_quoted_whole_with_its_logit(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=Scripted(sleeps=6.0))
    assert [one.text for one in answer.sentences] == [
        "It is old.",
        "The night porter keeps the great key.",
        "He sleeps by day.",
    ]
    assert {one.logit for one in answer.sentences} == {6.0}
    assert answer.text.count("[S") == 1


def test_a_passage_far_behind_the_best_is_not_quoted(bundle: ContextBundle) -> None:
    for maid, count in ((3.5, 2), (2.5, 1)):
        answer = extract_answer(bundle, reranker=Scripted(sleeps=6.0, maid=maid))
        assert len({one.S for one in answer.sentences}) == count


def test_what_is_quoted_is_bounded_and_in_the_order_of_the_evidence() -> None:
    lines = [" ".join(f"porter{at}n{word}" for word in range(9)) + "." for at in range(60)]
    pages = [page(f"p{at}", {f"Keys {at}": "\n\n".join(lines[at * 10 : at * 10 + 10])}) for at in range(6)]
    index = build_index(pages, [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    answer = extract_answer(retriever.retrieve(build_query("keys")), reranker=Scripted(porter=2.0))
    labels = [int(one.S[1:]) for one in answer.sentences if one.S]
    assert labels == sorted(labels)
    assert len(set(labels)) == PASSAGES_MAX
    quoted = sum(len(one.text) for one in answer.sentences)
    assert quoted <= BEST_MAX + (PASSAGES_MAX - 1) * FURTHER_MAX


def test_of_a_long_passage_the_neighbours_of_the_best_sentence_are_quoted() -> None:
    filler = [
        f"Filler number {at} says nothing that anybody would want to know of any door." for at in range(16)
    ]
    told = "The porter hangs it behind the clock."
    index = build_index([page("key", {"Great key": " ".join((*filler[:8], told, *filler[8:]))})], [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query("where is the great key"))
    answer = extract_answer(found, reranker=Scripted(porter=4.0))
    texts = [one.text for one in answer.sentences]
    assert told in texts
    assert filler[8] in texts
    assert filler[0] not in texts
    assert " ".join(texts) in found.evidence[0].text


def test_where_no_passage_has_enough_nothing_is_found(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=Scripted(key=1.0))
    assert (answer.text, answer.nearest) == ("not found", ("S1", "S2", "S3"))


def test_a_question_of_words_that_the_index_lacks_takes_a_higher_logit(bundle: ContextBundle) -> None:
    strange = Familiarity(unknown=0.5)
    assert extract_answer(bundle, reranker=Scripted(key=4.0), familiarity=strange).not_found
    assert not extract_answer(bundle, reranker=Scripted(key=5.0), familiarity=strange).not_found


def test_a_question_behind_a_story_is_read_by_itself(bundle: ContextBundle) -> None:
    class Short(Scripted):
        """Finds nothing for a question with a story."""

        def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
            found = super().score_pairs(query, texts)
            return tuple(one - 9.0 for one in found) if "locked" in query else found

    told = replace(bundle, query="We got locked out again. Who keeps the great key?")
    answer = extract_answer(told, reranker=Short(sleeps=5.0))
    assert "The night porter keeps the great key." in answer.text


HOUSE = [
    page("night", {"Night": "The porter sleeps.", "Doors": "He hangs it behind the clock."}),
    page("garden", {"Garden": "Roses need water."}),
]
OWN_WORDS = (
    "we came home late, where does he put what opens doors in a house at night so nobody else gets hold of it"
)


@pytest.mark.parametrize(
    ("question", "cosine", "found"),
    [
        (OWN_WORDS, 0.5, {"sleeps", "clock", "water"}),
        (OWN_WORDS, 0.4, set()),
        (OWN_WORDS.replace("night", "noon"), 0.5, set()),
    ],
)
def test_own_words_that_no_cross_encoder_knows_are_answered_by_the_page_found_first(
    question: str, cosine: float, found: set[str]
) -> None:
    index = build_index(HOUSE if "night" in question else HOUSE[1:], [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    bundle = retriever.retrieve(build_query(question))
    answer = extract_answer(bundle, reranker=Scripted(), familiarity=Familiarity(cosine=cosine))
    assert {one.text.rpartition(" ")[2].strip(".") for one in answer.sentences} == found
    assert {one.logit for one in answer.sentences} <= {None}


def test_a_number_is_answered_by_a_number(bundle: ContextBundle) -> None:
    counted = replace(bundle, query="How many porters keep the great key?")
    assert extract_answer(counted, reranker=Scripted(sleeps=6.0)).not_found


def test_without_a_cross_encoder_the_nearest_passage_must_be_near(bundle: ContextBundle) -> None:
    near, far = Familiarity(cosine=0.6), Familiarity(cosine=0.3)
    answer = extract_answer(bundle, reranker=None, familiarity=near)
    assert "The night porter keeps the great key." in {one.text for one in answer.sentences}
    assert extract_answer(bundle, reranker=None, familiarity=far).not_found
    strange = Familiarity(cosine=0.6, unknown=0.3)
    assert extract_answer(bundle, reranker=None, familiarity=strange).not_found


def test_without_a_cross_encoder_a_passage_with_much_less_score_is_not_quoted(bundle: ContextBundle) -> None:
    first, second, *_ = bundle.evidence
    for score, count in ((0.8, 2), (0.79, 1)):
        both = replace(bundle, evidence=(replace(first, score=1.0), replace(second, score=score)))
        assert len({one.S for one in extract_answer(both, reranker=None).sentences}) == count


CODE_ALONE = "key = porter.key();\nclock.hang(key);"


@pytest.mark.parametrize(
    ("other", "quoted"),
    [
        (CODE_ALONE, {"telling"}),
        ("# the porter hangs it behind the clock\nclock.hang(key);", {"telling", "other"}),
        ("clock | 1\nkey | 2", {"telling", "other"}),
        ("clock\nkey", {"telling", "other"}),
    ],
)
def test_code_without_a_word_about_it_is_quoted_only_where_nothing_else_is(
    other: str, quoted: set[str]
) -> None:
    telling = "The porter hangs the key behind the clock."
    index = build_index([page("telling", {"Key": telling}), page("other", {"Code": other})], [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query("where is the key"))
    assert len(found.evidence) == 2
    answer = extract_answer(found, reranker=Scripted(**{"": 6.0}))
    assert {"telling" if one.text == telling else "other" for one in answer.sentences} == quoted
    alone = replace(found, evidence=tuple(one for one in found.evidence if one.text != telling))
    assert not extract_answer(alone, reranker=Scripted(**{"": 6.0})).not_found


LEVELS = {
    "install": "The export set keeps the modules of a target.",
    "features": "The standard of a target is set by its compile features.",
    "files": "A target has files.",
    "sources": "A target has sources.",
    "links": "A target links others.",
    "names": "A target has a name.",
}


@pytest.mark.parametrize(
    ("question", "logits", "quoted"),
    [
        ("how do I set the standard of a target", {"modules": 2.0}, []),
        ("how do I set the standard of a target", {"modules": 2.0, "compile": 1.5}, ["features"]),
        ("how do I set the standard of a target", {"modules": 4.0, "compile": 3.5}, ["install", "features"]),
        ("how do I set the standard of a target", {"compile": 2.0, "modules": 1.5}, ["features", "install"]),
        ("how do I set the standard of a target", {"compile": 4.0, "modules": 3.5}, ["features", "install"]),
        ("how do I set which standard every compiler takes for one target", {"modules": 2.0}, ["install"]),
        ("what is a target", {"sources": 2.0}, ["sources"]),
        ("how do I establish the standard of a target", {"compile": 2.0, "modules": 2.5}, ["features"]),
    ],
)
def test_what_lacks_a_telling_word_of_a_short_question_answers_only_if_clearly_or_found_first(
    question: str, logits: dict[str, float], quoted: list[str]
) -> None:
    index = build_index([page(name, {name: text}) for name, text in LEVELS.items()], [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query(question, top_k=len(LEVELS)))
    assert len(found.evidence) == len(LEVELS)
    answer = extract_answer(found, reranker=Scripted(**logits))
    assert {one.text for one in answer.sentences} == {LEVELS[name] for name in quoted}
    assert answer.not_found == (not quoted)
    assert bool(answer.nearest) == (not quoted)


def test_no_evidence_is_not_found(bundle: ContextBundle) -> None:
    nothing = replace(bundle, evidence=())
    for reranker in (None, Scripted(key=9.0)):
        answer = extract_answer(nothing, reranker=reranker)
        assert (answer.text, answer.nearest) == ("not found", ())


def test_a_sentence_that_poses_the_question_answers_nothing() -> None:
    index = build_index(
        [
            page("faq", {"Questions": 'Who keeps the great key?\n\n`ask "Who keeps the great key?" --all`'}),
            page("keys", {"Great key": "The porter keeps the great key."}),
        ],
        [],
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query("Who keeps the great key?"))
    assert len(found.evidence) == 2
    said = extract_answer(found, reranker=None)
    assert [one.text for one in said.sentences] == ["The porter keeps the great key."]
    stated = retriever.retrieve(build_query("the porter keeps the great key"))
    assert not extract_answer(stated, reranker=None).not_found


def test_a_short_passage_is_quoted_whole_with_lines_of_numbers_and_lines_said_twice() -> None:
    lines = ["The ports open by default are:", "8080", "443", "and:", "443", "and:", "9090"]
    found = asked_of(page("ports", {"Ports": "\n".join(lines)}), text="Which ports are open by default?")
    assert [one.text for one in found.sentences] == lines


LISTED = ["Exceptions to this are:", "- .git", "- .npmrc", "- node_modules", "- package-lock.json", "- .git"]
CODE = ["CALL audit(", "[", "{", "'user': 7", "}", "]", ");", "]", "COMMIT;"]


@pytest.mark.parametrize("lines", [LISTED, CODE])
def test_of_a_long_passage_lines_between_quoted_ones_are_quoted_whatever_they_are(lines: list[str]) -> None:
    filler = [f"Filler {at} says nothing that anybody would want to know of a port." for at in range(12)]
    text = "\n".join((*filler, ". .", *filler[:1], *lines, "These cannot be included.", *filler[6:]))
    found = asked_of(page("files", {"Files": text}), text="Which?", reranker=Scripted(**{lines[0]: 9.0}))
    quoted = "\n".join(one.text for one in found.sentences)
    assert "\n".join((*lines, "These cannot be included.")) in quoted
    assert quoted in text


def test_a_sentence_that_poses_the_question_stays_between_others() -> None:
    lines = ["Which port?", "They asked:", "Which port?", "Port 80, they were told.", "Which port?"]
    found = asked_of(page("ports", {"Ports": "\n".join(lines)}), text="Which port?")
    assert [one.text for one in found.sentences] == lines[1:4]


def test_what_a_further_question_adds_far_from_the_quotation_is_marked() -> None:
    filler = [f"Filler {at} says nothing that anybody would want to know of a port." for at in range(20)]
    text = "\n".join(("Ports are open.", *filler, "The porter closes them."))
    reranker = Scripted(**{"Ports are open": 9.0})
    only = bundle_of(page("ports", {"Doors": text}), text="Which ports are open?")

    class Further(Scripted):
        """Finds the last line by the further question alone."""

        def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
            return (Scripted(porter=9.0) if "closes" in query else reranker).score_pairs(query, texts)

    found = extract_answer(only, reranker=Further(), further=["Who closes them?"])
    assert found.sentences[0].text == "Ports are open."
    assert found.sentences[-1].text == "… The porter closes them."
    assert found.text.count("…") == 1


@pytest.mark.parametrize("text", [f"Ports: {' '.join(map(str, range(8000, 8200)))}", "端口" * 400])
def test_of_one_endless_line_the_beginning_is_quoted(text: str) -> None:
    found = asked_of(page("ports", {"Ports": text}), text="Which ports are open?")
    (only,) = found.sentences
    assert text.startswith(only.text)
    assert BEST_MAX - 10 < len(only.text) <= BEST_MAX


def test_an_endless_line_and_the_question_itself_are_never_the_best() -> None:
    endless = f"Ports: {' '.join(map(str, range(8000, 8200)))}"
    lines = ["Which ports are open?", endless, "All ports of the house are open to the porter alone."]
    found = asked_of(page("ports", {"Ports": "\n".join(lines)}), text="Which ports are open?")
    assert [one.text for one in found.sentences] == lines[2:]


PAGE = """<main><h1>Custom commands</h1>
<p>Commands make files. For example, the code</p>
<pre>add_custom_command(
  OUTPUT out.c)
add_library(myLib out.c)</pre>
<p>adds a custom command to run someTool. It runs again when needed <a href="#n1">[83]</a>.</p>
<ul><li>A first item of it.</li><li>A second item of it.</li></ul>
<aside class="footnote" id="n1" role="doc-footnote"><span class="label">[83]</span>
<p>Since version 3. Before that it never ran.</p></aside></main>"""


@pytest.mark.parametrize("limit", [60, 120, 240, 480])
def test_whatever_is_best_no_quotation_begins_within_code_a_footnote_or_a_sentence(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.answering.extract.BEST_MAX", limit)
    (chunk,) = parse_page(PAGE).chunks
    parts = split_quotable(chunk.text)
    for best in parts:
        reranker = Scripted(**{"": 8.0, best: 9.0})
        found = asked_of(page("commands", {"Commands": chunk.text}), text="Which?", reranker=reranker)
        said = [one.text for one in found.sentences]
        assert set(said) <= set(parts)
        assert said[0][0] in "CFIA-["
        assert ("adds a custom command to run someTool." in said) == ("For example, the code" in said)
        assert ("[83]" in said) == ("Before that it never ran." in said)
        lines = found.text.splitlines()
        assert not any("add_library" in line and line != "add_library(myLib out.c)" for line in lines)
        assert not any("[83]" in line for line in lines)


def test_a_quotation_does_not_end_with_what_leads_to_more() -> None:
    found = asked_of(page("levels", {"Levels": "It sets the level.\n\nSupported values are:"}), text="Which?")
    assert [one.text for one in found.sentences] == ["It sets the level."]


def asked_of(document: Document, *, text: str, reranker: Scripted | None = None) -> Answered:
    """Ask a small index of one document, unless told with a cross-encoder that takes all for an answer."""
    return extract_answer(bundle_of(document, text=text), reranker=reranker or Scripted(**{"": 8.0}))


def bundle_of(document: Document, *, text: str) -> ContextBundle:
    index = build_index([document], [])
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return replace(retriever.retrieve(build_query("ports")), query=text)
