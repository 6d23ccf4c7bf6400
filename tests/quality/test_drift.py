"""Which versions are held since a page has moved far from its own past, and which honest ones with them."""

import time
from collections.abc import Iterable
from math import sqrt
from pathlib import Path

import pytest

from ingest.diff.drift import has_drifted
from ingest.diff.quarantine import read_version
from ingest.parse.document import parse_document
from tests.fakes.pages import count_words
from tests.quality.drift_set import Change, bad_changes, edited_changes, honest_changes
from tests.quality.error_pages_set import is_held
from tests.quality.floors import hold
from tests.quality.test_html_speed import request

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(1800)]


def is_told(change: Change) -> bool:
    """Whether a recrawl keeps the version before for what the page says or for how little is left."""
    return is_held((change.now, change.data), read_version(change.before))


def is_put_aside(change: Change) -> bool:
    """Whether it keeps it for that, or for how far the page moved."""
    return is_told(change) or (not change.now.noindex and has_drifted(change.now, change.before))


def held(changes: Iterable[Change]) -> tuple[int, int, list[str]]:
    """How many of how many changes are held, and the names of those that are not."""
    found = [(change.name, is_put_aside(change)) for change in changes]
    return sum(one for _, one in found), len(found), [name for name, one in found if not one]


def interval(hits: int, of: int) -> str:
    """Wilson's interval of a share, at 95 %."""
    share, z = hits / of, 1.96
    middle, width = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = ((middle + side * width) / (1 + z * z / of) for side in (-1, 1))
    return f"{hits} of {of}, {low:.4f} to {high:.4f}"


@pytest.mark.parametrize("half", ["development", "held_out"])
def test_bad_versions_are_held_whatever_they_say(half: str, tmp_path: Path, figures: list[str]) -> None:
    hits, of, missed = held(bad_changes(half, tmp_path))
    hold(figures, "drift", half, hits / of, note=f"{interval(hits, of)}; not {missed}")


def test_pages_of_the_next_release_are_let_in(tmp_path: Path, figures: list[str]) -> None:
    changes = list(honest_changes(tmp_path))
    hits, of, _ = held(changes)
    names = [change.name for change in changes if is_put_aside(change)]
    hold(figures, "drift_at_most", "releases", hits / of, note=f"{interval(hits, of)}: {names}")


def test_pages_that_are_split_merged_filled_or_dressed_anew_are_let_in(
    tmp_path: Path, figures: list[str]
) -> None:
    """What a page loses with four fifths of its text it lost before."""
    changes = list(edited_changes(tmp_path))
    names = [change.name for change in changes if is_put_aside(change) and not is_told(change)]
    note = f"{interval(len(names), len(changes))}: {names}"
    hold(figures, "drift_at_most", "edits", len(names) / len(changes), note=note)


def test_measuring_costs_a_twentieth_of_parsing(tmp_path: Path, figures: list[str]) -> None:
    """Least of three rounds each: other work on the machine only adds."""
    changes = list(honest_changes(tmp_path, sites=("git",)))
    parsing, measuring = [], []
    for _ in range(3):
        start = time.process_time()
        for change in changes:
            parse_document(change.data, request(change.name), count_tokens=count_words)
        parsing.append(time.process_time() - start)
        start = time.process_time()
        for change in changes:
            has_drifted(change.now, change.before)
        measuring.append(time.process_time() - start)
    note = f"{1e3 * min(measuring) / len(changes):.2f} ms a changed page of git"
    hold(figures, "drift_at_most", "of_parsing", min(measuring) / min(parsing), note=note)
