"""Text and headings of annotated web pages, beside what trafilatura finds on the same pages."""

import pytest

from tests.quality.floors import hold
from tests.quality.html_wcxb import Scores, annotated_pages, means, pooled, score_page

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1800)]

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


def test_pages_of_all_types_are_read_better_than_by_trafilatura(
    scores: list[Scores], figures: list[str]
) -> None:
    ours, theirs = means(scores)
    hold(figures, "html", "wcxb.all.above_trafilatura", ours - theirs, note=f"{ours:.4f}, {theirs:.4f}")
