"""Findings of the linter on real manuals against the verdicts of a reader, and contradictions put into one.

`lint_verdicts.json` has for each manual findings that somebody read at both places: right or not, and why.
A finding that nobody has read counts for nothing. A rule that gets worse loses right ones or adds wrong ones.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from retrieval.lint.catalogue import RULES
from retrieval.lint.contradiction import contradictions
from retrieval.lint.findings import LintFinding, in_order
from retrieval.lint.prose import sentences
from retrieval.lint.site import LintedSite
from retrieval.verify.quantities import find_quantities
from schemas.nodes import Chunk
from tests.fakes.lint_sites import site_of_pages
from tests.quality.floors import hold
from tests.quality.html_sites import SOURCES, Site, Source

pytestmark = [pytest.mark.data, pytest.mark.timeout(900)]

VERDICTS = Path(__file__).with_name("lint_verdicts.json")
MANUALS: Mapping[str, Source] = {
    **SOURCES,
    "postgresql": Source(
        "sites/postgresql.tar.xz", "17.11-0+deb13u1", "usr/share/doc/postgresql-doc-17/html"
    ),
}
SEEDS = 40
DENIALS = ((" is ", " is not "), (" are ", " are not "), (" can ", " cannot "), (" will ", " will not "))


def linted(name: str, folder: Path) -> LintedSite:
    site = Site(MANUALS[name], folder)
    return site_of_pages(name, site.fragments, site.pages)


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> LintedSite:
    return linted("git", tmp_path_factory.mktemp("git"))


def all_findings(site: LintedSite) -> tuple[LintFinding, ...]:
    return in_order([one for rule in RULES.values() if not rule.asked for one in rule.find(site)])


def verdicts(name: str) -> Mapping[str, Mapping[str, Any]]:
    read = json.loads(VERDICTS.read_text("utf-8"))[name]
    return {one["fingerprint"]: one for one in read}


def hold_precision(figures: list[str], name: str, site: LintedSite) -> None:
    known = verdicts(name)
    found = all_findings(site)
    judged = [known[one.fingerprint] for one in found if one.fingerprint in known]
    right = sum(one["right"] for one in judged)
    note = f"({right} of {len(judged)} judged, {len(found)} found)"
    hold(figures, "lint", f"{name}.precision", right / len(judged), note=note)
    hold(figures, "lint", f"{name}.right", right)


@pytest.mark.long
def test_findings_on_the_git_manual_are_right(git: LintedSite, figures: list[str]) -> None:
    hold_precision(figures, "git", git)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in json.loads(VERDICTS.read_text("utf-8")) if name != "git"])
def test_findings_on_other_manuals_are_right(name: str, tmp_path: Path, figures: list[str]) -> None:
    hold_precision(figures, name, linted(name, tmp_path))


@dataclass(frozen=True, slots=True)
class Seed:
    """A sentence that two documents have, and what one of them is made to say instead."""

    chunk: str
    before: str
    after: str


@pytest.mark.long
def test_contradictions_put_into_the_git_manual_are_found(git: LintedSite, figures: list[str]) -> None:
    seeds = list(_seeds(git))[:SEEDS]
    assert len(seeds) == SEEDS
    found = [{place.text for place in one.places} for one in contradictions(_seeded(git, seeds))]
    right = sum({seed.before, seed.after} in found for seed in seeds)
    hold(figures, "lint", "git.seeded", right / SEEDS, note=f"({right} of {SEEDS})")
    hold(figures, "lint_at_most", "git.not_seeded", len(found) - right)


def _seeded(site: LintedSite, seeds: Sequence[Seed]) -> LintedSite:
    """Return the site with all seeds in it."""
    texts = {one.id: one.text for one in site.passages}
    for seed in seeds:
        texts[seed.chunk] = texts[seed.chunk].replace(seed.before, seed.after)
    return replace(site, passages=tuple(replace(one, text=texts[one.id]) for one in site.passages))


def _seeds(site: LintedSite) -> Iterator[Seed]:
    """Yield every other sentence that stands in exactly two documents, with another number, or denied."""
    said: dict[str, list[Chunk]] = {}
    for chunk in site.passages:
        for one in sentences(chunk):
            said.setdefault(one.text, []).append(chunk)
    twice = [(text, chunks) for text, chunks in said.items() if len({one.doc for one in chunks}) == 2]
    for text, chunks in sorted(twice)[::2]:
        edited = _edited(text)
        if edited is not None and chunks[0].text.count(text) == 1:
            yield Seed(chunks[0].id, text, edited)


def _edited(text: str) -> str | None:
    for one in find_quantities(text):
        if text[one.start : one.end].isdigit():
            return f"{text[: one.start]}{int(text[one.start : one.end]) + 7}{text[one.end :]}"
    for plain, denied in DENIALS:
        if text.count(plain) == 1 and " not " not in text:
            return text.replace(plain, denied)
    return None
