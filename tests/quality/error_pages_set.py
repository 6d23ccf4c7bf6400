"""Samples of pages that stand in for content, and real good pages that talk about errors."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from ingest.diff.page_features import extract_features
from ingest.diff.quarantine import Version, bad_content, has_collapsed, read_version
from ingest.diff.soft_errors import find_soft_error
from schemas.documents import SoftError
from schemas.fragment import GraphFragment
from tests.quality.html_sites import SOURCES, Site, parse
from tests.quality.html_wcxb import annotated_pages

SAMPLES = Path(__file__).with_name("error_pages")
URI = "http://docs.example/guide/page.html"

SITES = ("postgresql", "git", "flask-3.1", "requests-2.32", "debian-policy", "debian-faq", "bash")
ERROR_PAGES = frozenset({"flask-3.1/404.html"})
"""Pages of these sites that are what their servers send for a missing page."""

_TALK = re.compile(
    r"\b(?:error|denied|forbidden|exception|traceback|maintenance|unavailable|not found|403|404|500|502|503"
    r"|blocked|suspended|timeout|moved|permission|login|cookies?)\b",
    re.IGNORECASE,
)

Page = tuple[GraphFragment, bytes]


def samples(folder: str) -> Mapping[str, Page]:
    """The pages of one folder of samples by name, parsed as they would be if a site had sent them."""
    files = sorted((SAMPLES / folder).glob("*.html"))
    return {file.name: (parse(data := file.read_bytes(), URI), data) for file in files}


def told(page: Page) -> SoftError | None:
    """What the page alone tells."""
    fragment, data = page
    return find_soft_error(extract_features(fragment, data))


def is_kept_out(page: Page) -> bool:
    """Whether a first crawl keeps the page out of the index; the host answers 404 to unknown addresses."""
    fragment, data = page
    return _verdict(read_version(fragment, data), None, told(page)) is not None


def is_held(page: Page, before: Version) -> bool:
    """Whether a recrawl keeps the version before, be it for what the page says or for how little is left."""
    fragment, data = page
    error = told(page)
    if fragment.noindex:
        return error is not None and error.sure
    now = read_version(fragment, data)
    return _verdict(now, before, error) is not None or has_collapsed(now, before)


def _verdict(now: Version, before: Version | None, error: SoftError | None) -> str | None:
    return bad_content(now, before, missing=_honest, soft_error=error)


def _honest() -> Version | None:
    return None


def share(pages: Mapping[str, Page], is_so: Callable[[Page], bool]) -> tuple[float, list[str]]:
    """Part of the pages of which it is so, and the names of those of which it is not."""
    others = [name for name, page in pages.items() if not is_so(page)]
    return 1 - len(others) / len(pages), others


@cache
def real_pages(folder: Path) -> Mapping[str, Page]:
    """200 real pages of manuals and of the web that talk about errors more than others, and what is short."""
    found = dict(_all_real(folder))
    talk = {
        name: len(_TALK.findall(text := _text(page))) / (20 + len(text.split()))
        for name, page in found.items()
    }
    return {name: found[name] for name in sorted(talk, key=lambda name: (-talk[name], name))[:200]}


def _all_real(folder: Path) -> Iterator[tuple[str, Page]]:
    for name in SITES:
        site = Site(SOURCES[name], folder)
        for path, fragment in site.fragments.items():
            if not fragment.noindex and f"{name}/{path}" not in ERROR_PAGES:
                yield f"{name}/{path}", (fragment, site.pages[path])
    for page in annotated_pages():
        yield page.url, (parse(page.data, page.url), page.data)


def _text(page: Page) -> str:
    return "\n".join(chunk.text for chunk in page[0].chunks)
