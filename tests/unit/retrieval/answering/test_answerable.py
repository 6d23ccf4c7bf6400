"""What tells a question that an index answers from one that it does not."""

from dataclasses import replace

import pytest

from retrieval.answering.answerable import (
    Familiarity,
    asked_words,
    is_answerable,
    is_sensed,
    measure_evidence,
    measure_familiarity,
    note_language,
    tells_number,
    unknown_words,
    weigh_unknown,
)
from retrieval.retriever import Retriever
from schemas.evidence import Query
from tests.fakes.encoder import HashEncoder
from tests.fakes.small_index import AS_OF, DIM, GENERATION, build_index, page


def test_words_that_stand_nowhere_are_counted_once_each_and_without_contractions() -> None:
    index = build_index([page("keys", {"Great key": "The night porter hangs it behind the clock."})], [])
    found = measure_familiarity(
        "Why isn't the porter's key on the Heliograph, the Heliograph, the clock?",
        index.chunks,
        index.encoder,
    )
    assert asked_words("Why isn't the porter's key on the clock?") == ("porter", "key", "clock")
    assert found.unknown == pytest.approx(1 / 4)


def test_a_word_of_several_is_known_if_each_of_them_is() -> None:
    index = build_index([page("keys", {"Great key": "Set porter_hangs and key_clock."})], [])
    vector = index.encoder.encode_query("?")
    asked = "What do porter_hangs, porter_clock, porter_heliograph and key_ do?"
    assert unknown_words(asked, index.chunks, vector) == ("porter_heliograph",)


def test_a_question_in_the_words_of_a_passage_is_nearer_than_another() -> None:
    text = "The night porter hangs the great key behind the clock."
    index = build_index([page("keys", {"Great key": text})], [])
    near = measure_familiarity("night porter great key clock", index.chunks, index.encoder)
    far = measure_familiarity("elephants eat grass", index.chunks, index.encoder)
    assert 0.0 <= far.cosine < near.cosine <= 1.0
    assert (near.unknown, far.unknown) == (0.0, 1.0)


def test_the_id_of_a_document_that_is_there_is_no_unknown_word() -> None:
    keys = page("keys", {"Great key": "The night porter hangs it behind the clock."}, doc_id="ADR-0042")
    index = build_index([keys], [])
    asked = "Where does the porter hang the key according to {}?"

    there = measure_familiarity(asked.format("adr-0042"), index.chunks, index.encoder)
    nowhere = measure_familiarity(asked.format("ADR-0043"), index.chunks, index.encoder)

    assert nowhere.unknown - there.unknown == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("question", "lacks_name"),
    [
        ("Who hangs the key on the Heliograph?", True),
        ("We moved. Heliograph or not, who hangs the key?", False),
        ("who hangs the heliograph up", False),
        ("Was hängt der Pförtner so an den Heliograph in der Nacht?", False),
        ("who hangs the heliograph2 up", True),
        ("who writes the .heliograph file", True),
        ("who sets --heliograph", True),
        ("who calls use_heliograph", True),
    ],
)
def test_an_unknown_word_that_is_written_as_a_name_is_one(question: str, lacks_name: bool) -> None:
    unknown = [word for word in asked_words(question) if "heliograph" in word]
    assert unknown
    assert weigh_unknown(question, unknown).lacks_name is lacks_name
    assert not weigh_unknown(question, ()).lacks_name


@pytest.mark.parametrize(
    ("unknown", "logit", "answered"),
    [(0.0, 1.1, True), (0.0, 1.0, False), (0.2, 2.0, False), (0.2, 2.5, True), (1.0, 7.9, False)],
)
def test_unknown_words_cost_logits(unknown: float, logit: float, answered: bool) -> None:
    assert is_answerable(Familiarity(unknown=unknown, cosine=0.0), logit) is answered


@pytest.mark.parametrize(
    ("unknown", "cosine", "answered"),
    [(0.0, 0.46, True), (0.0, 0.45, False), (0.2, 0.6, False), (0.2, 0.7, True)],
)
def test_without_a_cross_encoder_they_cost_cosine(unknown: float, cosine: float, answered: bool) -> None:
    assert is_answerable(Familiarity(unknown=unknown, cosine=cosine), None) is answered


@pytest.mark.parametrize(
    ("question", "sentence", "told"),
    [
        ("How many keys may a porter keep?", "A porter keeps at most two keys.", True),
        ("How many keys may a porter keep?", "A porter keeps 1.200 keys.", True),
        ("How many keys may a porter keep?", "A porter keeps keys in box 7. ", True),
        ("How many keys may a porter keep?", "A porter keeps keys.", False),
        ("How many keys may a porter keep?", "Porters sleep 8 hours.", False),
        ("After how many hours does he sleep?", "He keeps keys.", False),
        ("max_keys - how many does it allow?", "max_keys = 7", True),
        ("max_keys - how many does it allow?", "max_keys is a limit", False),
        ("How can I see how many keys he keeps?", "Ask him.", True),
        ("Who keeps the key?", "Ask him.", True),
    ],
)
def test_what_asks_for_a_number_takes_one_of_what_is_counted(
    question: str, sentence: str, told: bool
) -> None:
    assert tells_number(question, [sentence]) is told


OWN_WORDS = (
    "my uncle locked the gate last night and went abroad, who opens it for our guests tomorrow morning"
)


@pytest.mark.parametrize(
    ("question", "found", "sensed"),
    [
        (OWN_WORDS, Familiarity(cosine=0.45), True),
        (OWN_WORDS, Familiarity(cosine=0.44), False),
        (OWN_WORDS, Familiarity(cosine=0.49, unknown=0.2), False),
        (OWN_WORDS, Familiarity(cosine=0.51, unknown=0.2), True),
        (OWN_WORDS, Familiarity(cosine=0.9, unknown=0.2, lacks_name=True), False),
        (OWN_WORDS.replace("uncle", "Uncle").replace("gate", "Gate"), Familiarity(cosine=0.9), False),
        ("who opens the gate for our guests", Familiarity(cosine=0.9), False),
    ],
)
def test_own_words_at_length_are_near_by_the_cosine(question: str, found: Familiarity, sensed: bool) -> None:
    assert is_sensed(question, found) is sensed


def test_an_unknown_name_costs_more_than_another_word() -> None:
    known = Familiarity(unknown=0.1, cosine=0.6)
    lacking = Familiarity(unknown=0.1, cosine=0.6, lacks_name=True)
    assert is_answerable(known, 6.0)
    assert not is_answerable(lacking, 6.0)
    assert is_answerable(lacking, 6.8)


class Polyglot(HashEncoder):
    """An encoder that says of itself that it puts languages side by side."""

    joins_languages, unrelated = True, 0.5


@pytest.mark.parametrize(
    ("question", "lang", "encoder", "sense"),
    [
        ("Wann hangs der night porter the great key?", "de-AT", Polyglot, 0.0),
        ("Wann hangs der night porter the great key?", "en", Polyglot, 0.12),
        ("When is the great key hung by the porter?", "de", Polyglot, 0.12),
        ("When is the great key hung by the porter?", "en", Polyglot, None),
        ("When is the great key hung by the porter?", None, Polyglot, None),
        ("Wann hangs der night porter the great key?", "de", HashEncoder, None),
    ],
)
def test_what_is_not_english_is_judged_by_the_nearest_of_the_evidence(
    question: str, lang: str | None, encoder: type[HashEncoder], sense: float | None
) -> None:
    nodes, chunks = page("keys", {"Great key": "The night porter hangs the great key behind the clock."})
    index = build_index([(nodes, tuple(replace(one, lang=lang) for one in chunks))], [])
    reader = encoder(DIM)
    retriever = Retriever(index.chunks, index.graph, reader, generation=GENERATION, as_of=AS_OF)
    found = measure_evidence(retriever.retrieve(Query(text=question)), index.chunks, reader)
    if sense is None:
        assert found.sense is None
        return
    ((_, vectors),) = index.chunks.text_vectors([chunks[0].id])
    cosine = float(vectors[0] @ reader.encode_query(question))
    assert found.sense == pytest.approx((cosine - 0.5) / 0.5 + sense)
    assert is_answerable(found, None) is is_answerable(found, 9.0) is (found.sense > 0)


@pytest.mark.parametrize(
    ("question", "sense", "answered", "said"),
    [
        (
            "Wie oft läutet die Glocke?",
            0.2,
            True,
            "the question is in 'de': passages are chosen by their vectors",
        ),
        ("Bell?", 0.2, True, "what was found is not English: passages are chosen by their vectors"),
        (
            "Wie oft läutet die Glocke?",
            None,
            False,
            "the encoder of this index and the cross-encoder read English",
        ),
        ("Wie oft läutet die Glocke?", None, True, ""),
        ("How often does it ring?", None, False, ""),
    ],
)
def test_what_does_not_work_in_a_language_is_said(
    question: str, sense: float | None, answered: bool, said: str
) -> None:
    notes = note_language(question, Familiarity(sense=sense), answered=answered)
    assert len(notes) == bool(said)
    assert said in "".join(notes)
