"""What is taken for a secret in real manuals, which are full of samples, and what looking for it costs."""

import time
from collections import Counter
from pathlib import Path

import pytest

from ingest.parse.secrets import find_in_markup, find_in_texts
from schemas.nodes import Section
from tests.quality.html_sites import SOURCES, Site

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(600)]

SITES = ("flask-3.1", "requests-2.32", "git", "postgresql")
MANUALS = ("debian-policy", "developers-reference", "debian-faq", "bash", "reportlab")

KNOWN = {
    ("flask-3.1", "config.html"): ("high_entropy", "high_entropy"),
    ("flask-3.1", "tutorial/deploy.html"): ("high_entropy",),
}
"""Sample keys that look like any other, as docs/decisions/0011 lists them; at most five are allowed."""


def test_of_all_samples_in_manuals_only_the_listed_keys_are_taken_for_secrets(
    tmp_path: Path, figures: list[str]
) -> None:
    hits = {
        (name, page): fragment.secrets
        for name in (*SITES, *MANUALS)
        for page, fragment in Site(SOURCES[name], tmp_path).fragments.items()
        if fragment.secrets
    }

    figures.append(f"secrets: {sum(map(len, hits.values()))} hits, {Counter(name for name, _ in hits)}")
    assert hits == KNOWN
    assert sum(map(len, hits.values())) <= 5


def test_what_looking_for_secrets_costs_is_printed(tmp_path: Path, figures: list[str]) -> None:
    site = Site(SOURCES["postgresql"], tmp_path)
    texts = {
        page: [node.text for node in fragment.nodes if isinstance(node, Section)]
        for page, fragment in site.fragments.items()
    }
    start = time.process_time()
    found = [find_in_texts(text) for text in texts.values()]
    found += [find_in_markup(data) for data in site.pages.values()]
    spent = 1000 * (time.process_time() - start) / len(site.pages)

    figures.append(f"secrets: {spent:.2f} CPU ms a page of postgresql, markup included")
    assert len(found) == 2 * len(site.pages) > 2000
    assert not any(found)
