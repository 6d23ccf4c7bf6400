"""Text and headings of annotated web pages, beside what trafilatura finds on the same pages."""

import pytest

from tests.quality.floors import hold
from tests.quality.html_scores import mean
from tests.quality.html_wcxb import Scores, annotated_pages, means, pooled, score_page

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1800)]

FAR = 0.05
"""How much worse in 4-gram F1 a reader notices: a paragraph missing, or another story among the text."""

TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")


@pytest.fixture(scope="module")
def scores() -> list[Scores]:
    return [score_page(page) for page in annotated_pages()]


def of_type(scores: list[Scores], page_type: str) -> list[Scores]:
    return [score for score in scores if score.page_type == page_type]


def test_text_of_documentation_pages_agrees_with_their_annotation(
    scores: list[Scores], figures: list[str]
) -> None:
    ours, theirs = means(of_type(scores, "documentation"))
    hold(figures, "html", "wcxb.documentation.word_f1", ours, note=f"trafilatura {theirs:.4f}")


def test_headings_of_documentation_pages_are_found(scores: list[Scores], figures: list[str]) -> None:
    headings = pooled(of_type(scores, "documentation"))
    hold(figures, "html", "wcxb.documentation.heading_recall", headings.recall, note=f"of {headings.stated}")


def test_headings_that_are_found_are_annotated(scores: list[Scores], figures: list[str]) -> None:
    headings = pooled(of_type(scores, "documentation"))
    hold(
        figures,
        "html",
        "wcxb.documentation.heading_precision",
        headings.precision,
        note=f"of {headings.found}",
    )


@pytest.mark.parametrize("page_type", TYPES)
def test_no_type_of_page_is_read_worse_than_by_trafilatura(
    scores: list[Scores], page_type: str, figures: list[str]
) -> None:
    ours, theirs = means(of_type(scores, page_type))
    hold(
        figures,
        "html",
        f"wcxb.{page_type}.above_trafilatura",
        ours - theirs,
        note=f"{ours:.4f}, {theirs:.4f}",
    )


@pytest.mark.parametrize("was_seen", [True, False])
def test_articles_are_read_without_what_stands_around_them(
    scores: list[Scores], was_seen: bool, figures: list[str]
) -> None:
    articles = [score for score in of_type(scores, "article") if score.was_seen is was_seen]
    ours, theirs = mean(score.our_runs for score in articles), mean(score.their_runs for score in articles)
    half = "seen" if was_seen else "unseen"
    hold(figures, "html", f"wcxb.article.{half}.four_gram_f1", ours, note=f"trafilatura {theirs:.4f}")


def test_few_articles_are_read_far_worse_than_by_trafilatura(
    scores: list[Scores], figures: list[str]
) -> None:
    articles = of_type(scores, "article")
    worse = sum(score.their_runs - score.our_runs > FAR for score in articles)
    hold(figures, "html_at_most", "wcxb.article.far_below_trafilatura", worse, note=f"of {len(articles)}")


def test_pages_of_all_types_are_read_better_than_by_trafilatura(
    scores: list[Scores], figures: list[str]
) -> None:
    ours, theirs = means(scores)
    hold(figures, "html", "wcxb.all.above_trafilatura", ours - theirs, note=f"{ours:.4f}, {theirs:.4f}")
