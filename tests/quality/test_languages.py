"""One index of six languages answers questions in each from documents in each."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench.languages.__main__ import (
    LANGUAGES,
    Found,
    Said,
    ask_all,
    ask_site,
    build_index,
    crawl_site,
    load_facts,
)
from indexes.embed.named_models import MULTILINGUAL, locate_model
from schemas.errors import ConfigError
from tests.fakes.exported_encoder import encoder_cache
from tests.quality.floors import hold

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@cache
def found() -> Found:
    """What all questions find of pages that say nothing of each other."""
    with _prepared() as folder:
        return ask_all(build_index(folder))


@cache
def said() -> Said:
    """What they find of a site whose pages name their translations."""
    with _prepared() as folder:
        return ask_site(crawl_site(folder))


@contextmanager
def _prepared() -> Iterator[Path]:
    try:
        locate_model(MULTILINGUAL)
    except ConfigError as missing:
        pytest.skip(missing.message)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITEGRAPH_CACHE", str(encoder_cache()))
        yield Path(folder)


def test_each_language_has_the_same_facts() -> None:
    assert {len(load_facts(language)) for language in LANGUAGES} == {20}


def test_documents_answer_in_their_own_language_and_in_another(figures: list[str]) -> None:
    hold(figures, "languages", "same.hit@3", found().same)
    hold(figures, "languages", "across.hit@3", found().across)
    for language, share in found().unfiltered.items():
        figures.append(f"  all documents, asked in {language}: hit@3 {share:.2f}")
    figures.append(f"  answers from all documents that say a fact twice: {found().twice}")


def test_of_translations_each_fact_is_told_once_and_in_the_language_of_the_question(
    figures: list[str],
) -> None:
    hold(figures, "languages", "translations.once", said().once)
    hold(figures, "languages", "translations.own", said().own)


def test_questions_in_other_languages_than_english_are_answered_without_a_model(figures: list[str]) -> None:
    hold(figures, "languages", "answers.right", said().right)
    hold(figures, "languages_at_most", "answers.wrong", said().wrong)
