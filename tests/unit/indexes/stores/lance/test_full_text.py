"""Words are cut and stemmed as in the language of most chunks, or of each."""

from pathlib import Path

import pytest

from indexes.stores.lance.search_indexes import refresh_text_indexes
from indexes.stores.lance.stems import stems_of
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS, STEMS, connect, full_text_of
from schemas.evidence import SearchField
from tests.fakes.graph_samples import DIM, make_chunk, make_vectors

GERMAN = (
    "Die Häuser wurden im Herbst verkauft.",
    "Kündigungsfristen gelten für alle Verträge.",
    "Der Pförtner verwahrt die Schlüssel.",
)
FRENCH = ("Les utilisateurs configurent leurs serveurs.", "Les baux sont renouvelés chaque année.")


@pytest.fixture
def store(tmp_path: Path) -> LanceChunkStore:
    return LanceChunkStore.create(tmp_path / "index", dim=DIM)


def _publish(store: LanceChunkStore, generation: int, lang: str | None, *texts: str) -> None:
    writer = store.writer()
    writer.stage(generation, base=generation - 1)
    writer.apply([(make_chunk(text, lang=lang), make_vectors()) for text in texts], [])
    writer.finish(generation)


def _found(store: LanceChunkStore, generation: int, asked: str) -> tuple[str, ...]:
    reader = store.at(generation)
    hits = reader.search_text(SearchField.TEXT, asked, top_k=9)
    texts = {chunk.id: chunk.text for chunk in reader.get([hit.chunk_id for hit in hits])}
    return tuple(texts[hit.chunk_id] for hit in hits)


@pytest.mark.parametrize(
    ("lang", "texts", "asked", "answer"),
    [
        ("de", GERMAN, "Haus", GERMAN[0]),
        ("de-CH", GERMAN, "Welche Kündigungsfrist?", GERMAN[1]),
        ("fr", FRENCH, "renouveler", FRENCH[1]),
        (
            "ja",
            ("東京都の天気予報を確認してください。", "鍵は門番が保管します。"),
            "天気",
            "東京都の天気予報を確認してください。",
        ),
    ],
)
def test_another_form_of_a_word_is_found_in_its_own_language(
    store: LanceChunkStore, lang: str, texts: tuple[str, ...], asked: str, answer: str
) -> None:
    _publish(store, 1, None, *texts)
    _publish(store, 2, lang, *texts)

    assert _found(store, 1, asked) == (), "unstated is English, whose endings these are not"
    assert _found(store, 2, asked) == (answer,)


def test_most_chunks_decide_and_earlier_generations_stay_as_they_were(store: LanceChunkStore) -> None:
    english = [f"The house of number {number} was sold." for number in range(5)]
    _publish(store, 1, "de", *GERMAN)
    _publish(store, 2, "en", *english)

    assert _found(store, 1, "Haus") == (GERMAN[0],)
    assert _found(store, 2, "Haus") == ()
    assert len(_found(store, 2, "houses")) == 5


def test_where_the_language_stays_no_index_is_made_anew(tmp_path: Path, store: LanceChunkStore) -> None:
    _publish(store, 1, "de", *GERMAN)
    table = connect(tmp_path / "index").open_table(CHUNKS)
    before = table.version

    refresh_text_indexes(table)

    assert table.version == before
    _publish(store, 2, "de", "Der Garten gehört zum Haus.")
    assert set(_found(store, 2, "Hauses")) == {GERMAN[0], "Der Garten gehört zum Haus."}


@pytest.mark.parametrize(
    ("counts", "language"),
    [
        ({}, "English"),
        ({None: 3, "de": 2}, "English"),
        ({None: 2, "de": 2}, "English"),
        ({"de": 2, "fr": 2}, "German"),
        ({"de-CH": 2, "de_AT": 2, "fr": 3}, "German"),
        ({"PT-br": 1}, "Portuguese"),
    ],
)
def test_the_language_is_that_of_most_chunks_and_english_where_none_says(
    counts: dict[str | None, int], language: str
) -> None:
    assert full_text_of(counts).language == language
    assert full_text_of(counts).stem


@pytest.mark.parametrize(
    ("counts", "stem", "tokenizer"),
    [
        ({"pl": 1}, False, "simple"),
        ({"zh": 1}, False, "icu"),
        ({"en": 90, "ja": 10}, True, "icu"),
        ({"en": 96, "ja": 4}, True, "simple"),
    ],
)
def test_no_language_is_stemmed_as_another_and_one_without_spaces_is_cut_into_words(
    counts: dict[str | None, int], stem: bool, tokenizer: str
) -> None:
    assert (full_text_of(counts).stem, full_text_of(counts).base_tokenizer) == (stem, tokenizer)


def test_an_index_of_several_languages_finds_words_of_each(store: LanceChunkStore) -> None:
    texts = {
        "en": "The houses were sold.",
        "ru": "Колокол звонит.",
        "ja": "東京都の天気予報を確認してください。",
    }
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply([(make_chunk(text, lang=lang), make_vectors()) for lang, text in texts.items()], [])
    writer.finish(1)

    assert [_found(store, 1, asked) for asked in ("house", "колокол", "天気")] == [
        (text,) for text in texts.values()
    ]


SEVERAL = {
    "en": ("The harbour keeper rents berths.", "renting a berth"),
    "de": (GERMAN[1], "die Kündigungsfrist eines Vertrags"),
    "fr": (FRENCH[0], "configurer un serveur"),
    "ru": ("Колокола звонят по утрам.", "когда звонит колокол утром"),
    "pl": ("Latarnicy zapalają lampy o zmierzchu.", "latarnik zapala lampę"),
    "pt-BR": ("Os barcos foram alugados ontem.", "alugar um barco"),
    "ja": ("鍵は門番が保管します。", "鍵"),
}
"""By language: a text, and other forms of its words."""


def test_where_an_index_has_stems_each_language_finds_the_other_forms_of_its_words(tmp_path: Path) -> None:
    store = LanceChunkStore.create(tmp_path / "index", dim=DIM, optional=frozenset({STEMS}))
    chunks = [
        make_chunk(text, lang=lang, heading_path=(text,), anchor_texts=(text,))
        for lang, (text, _) in SEVERAL.items()
    ]
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply([(chunk, make_vectors()) for chunk in chunks], [])
    writer.finish(1)

    reader = store.at(1)
    for field in (SearchField.TEXT, SearchField.HEADING, SearchField.ANCHORS):
        best = {
            lang: reader.get([reader.search_text(field, asked, top_k=1)[0].chunk_id])[0].text
            for lang, (_, asked) in SEVERAL.items()
        }
        assert best == {lang: text for lang, (text, _) in SEVERAL.items()}, field
    assert reader.damaged_rows() == ()


WRITTEN = {
    "hi": ("किताबों की दुकान सुबह खुलती है।", "किताब"),
    "ta": ("நூலகங்கள் காலையில் திறக்கும்.", "நூலகங்கள்"),
    "ar": ("كَتَبَ الحارسُ رِسالةً", "رِسالةً"),
    "he": ("הַמְנַהֵל שׁוֹמֵר עַל הַמַּפְתֵּחַ", "הַמַּפְתֵּחַ"),
    "tr": ("İSTANBUL limanı kapalıdır.", "İstanbul"),
    "de": ("Die Häuser sind verkauft.", "Ha\u0308user"),
    "en": ("Set max_wal_size on db.example.com, since it isn't 3.14.", "max_wal_size"),
}
"""By language: a text of words with marks or signs in them, and some of them."""


@pytest.mark.parametrize("beside", [(), ("鍵は門番が保管します。", "การตั้งค่าเซิร์ฟเวอร์")], ids=["simple", "icu"])
def test_a_word_with_marks_or_signs_in_it_is_found_by_its_stem(
    tmp_path: Path, beside: tuple[str, ...]
) -> None:
    store = LanceChunkStore.create(tmp_path / "index", dim=DIM, optional=frozenset({STEMS}))
    texts = {**{text: lang for lang, (text, _) in WRITTEN.items()}, **dict.fromkeys(beside, "th")}
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply([(make_chunk(text, lang=lang), make_vectors()) for text, lang in texts.items()], [])
    writer.finish(1)

    for text, asked in (*WRITTEN.values(), *(("การตั้งค่าเซิร์ฟเวอร์", "ตั้งค่า") for _ in beside[1:])):
        assert _found(store, 1, asked)[:1] == (text,), asked
    for asked in ("db.example.com", "isn't", "3.14"):
        assert _found(store, 1, asked)[:1] == (WRITTEN["en"][0],), asked


@pytest.mark.parametrize("language", ["ar", "de", "it"])
def test_a_text_without_spaces_takes_no_longer_to_stem_than_one_with_them(language: str) -> None:
    """By the square it would take minutes."""
    endless = "ab" * 500_000
    assert stems_of(f"{endless} ende", language).startswith(endless)
