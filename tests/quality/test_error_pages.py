"""Which pages that stand in for content are kept out, and which good ones with them."""

import time
from pathlib import Path

import pytest

from ingest.diff.page_features import extract_features
from ingest.diff.quarantine import Version
from ingest.diff.soft_errors import find_soft_error
from ingest.parse.document import parse_document
from tests.fakes.pages import count_words
from tests.quality.error_pages_set import ERROR_PAGES, is_held, is_kept_out, real_pages, samples, share
from tests.quality.floors import hold
from tests.quality.html_sites import HOST, SOURCES, Site, parse
from tests.quality.test_html_speed import request

BEFORE = {
    "long": Version(text=" ".join(f"subject{number}" for number in range(400))),
    "short": Version(text=" ".join(f"subject{number}" for number in range(35))),
}
"""Good versions without a word of what came: of the long one a notice is a fifth, of the short one more."""


@pytest.mark.parametrize("folder", ["development", "held_out"])
def test_a_first_crawl_keeps_what_stands_in_for_content_out(folder: str, figures: list[str]) -> None:
    pages = samples(folder)
    kept_out, missed = share(pages, is_kept_out)
    hold(figures, "error_pages", f"{folder}.first", kept_out, note=f"of {len(pages)}; not {missed}")


@pytest.mark.parametrize("before", list(BEFORE))
@pytest.mark.parametrize("folder", ["development", "held_out"])
def test_a_recrawl_holds_the_good_version(folder: str, before: str, figures: list[str]) -> None:
    pages = samples(folder)
    held, missed = share(pages, lambda page: is_held(page, BEFORE[before]))
    hold(figures, "error_pages", f"{folder}.again.{before}", held, note=f"of {len(pages)}; not {missed}")


def test_good_pages_about_errors_are_let_in(figures: list[str]) -> None:
    pages = samples("good")
    _, kept_out = share(pages, lambda page: not is_kept_out(page))
    hold(
        figures,
        "error_pages_at_most",
        "good.first",
        len(kept_out) / len(pages),
        note=f"of {len(pages)}: {kept_out}",
    )


@pytest.mark.data
@pytest.mark.timeout(900)
@pytest.mark.long
def test_real_pages_about_errors_are_let_in(tmp_path: Path, figures: list[str]) -> None:
    pages = real_pages(tmp_path)
    assert len(pages) == 200
    _, kept_out = share(pages, lambda page: not is_kept_out(page))
    hold(
        figures,
        "error_pages_at_most",
        "real.first",
        len(kept_out) / len(pages),
        note=f"of {len(pages)}: {kept_out}",
    )
    _, held = share(pages, lambda page: not is_held(page, BEFORE["short"]))
    hold(
        figures, "error_pages_at_most", "real.again", len(held) / len(pages), note=f"of {len(pages)}: {held}"
    )


@pytest.mark.data
def test_the_page_that_a_manual_has_for_missing_pages_is_known_for_one(tmp_path: Path) -> None:
    for name in ERROR_PAGES:
        site, _, path = name.partition("/")
        data = Site(SOURCES[site], tmp_path).pages[path]
        assert is_kept_out((parse(data, HOST + path), data))


@pytest.mark.data
@pytest.mark.long
@pytest.mark.timeout(900)
def test_looking_costs_a_hundredth_of_parsing(tmp_path: Path, figures: list[str]) -> None:
    """Least of three rounds each: other work on the machine only adds."""
    pages = dict(list(Site(SOURCES["postgresql"], tmp_path).pages.items())[::4])
    parsing, looking = [], []
    for _ in range(3):
        start = time.process_time()
        fragments = {
            name: parse_document(data, request(name), count_tokens=count_words)
            for name, data in pages.items()
        }
        parsing.append(time.process_time() - start)
        words = {name: sum(len(c.text.split()) for c in f.chunks) for name, f in fragments.items()}
        start = time.process_time()
        for name, fragment in fragments.items():
            find_soft_error(extract_features(fragment, pages[name], words=words[name]))
        looking.append(time.process_time() - start)
    note = f"{1e6 * min(looking) / len(pages):.0f} us a page of postgresql"
    hold(figures, "error_pages_at_most", "of_parsing", min(looking) / min(parsing), note=note)
