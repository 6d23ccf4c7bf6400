"""Findings of the linter on real manuals against the verdicts of a reader.

`lint_verdicts.json` has for each manual findings that somebody read at both places: right or not, and why.
A finding that nobody has read counts for nothing. A rule that gets worse loses right ones or adds wrong ones.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from retrieval.lint.catalogue import RULES
from retrieval.lint.site import LintedSite, LintFinding, in_order
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
