"""Annotated web pages of seven types (WCXB) and how our text and trafilatura's agree with them."""

import gzip
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pytest

from ingest.parse.wording import without_figures
from schemas.fragment import GraphFragment
from schemas.nodes import Section
from tests.fakes.real_sites import DATA
from tests.quality.html_scores import Matches, key, markdown_headings, mean, shingle_f1, word_f1
from tests.quality.html_sites import headed, parse

_FOLDER = DATA / "html-wcxb"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedPage:
    """A page with what people say is its content; `data` is its bytes without orders to robots."""

    page_type: str
    url: str
    data: bytes
    text: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What one page scored: ours, trafilatura's, and headings found, stated, shared.

    `ours` and `theirs` are of words; `our_runs` and `their_runs` of runs of four.
    """

    page_type: str
    ours: float
    theirs: float
    our_runs: float
    their_runs: float
    was_seen: bool
    headings: Matches


def annotated_pages() -> Iterator[AnnotatedPage]:
    """Return every page that has main content, in order; skips where there is no data folder."""
    if not _FOLDER.is_dir():
        pytest.skip(f"no annotated pages: {_FOLDER} is not there")
    kinds = json.loads((_FOLDER / "metadata.json").read_text())["files"]
    stated = dict(_members("dev-ground-truth.tar.xz"))
    for name, packed in sorted(_members("dev-html.tar")):
        page = json.loads(stated[name])
        gold: dict[str, Any] = page["ground_truth"]
        if gold["main_content"]:
            data = gzip.decompress(packed).replace(b"noindex", b"").replace(b"NOINDEX", b"")
            yield AnnotatedPage(
                page_type=kinds[name]["page_type"],
                url=page["url"],
                data=data,
                text=gold["main_content"],
                markdown=gold["main_content_markdown"] or "",
            )


def _members(archive: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(_FOLDER / archive) as files:
        for member in files:
            content = files.extractfile(member)
            if content is not None:
                yield member.name.rpartition("/")[2].partition(".")[0], content.read()


def score_page(page: AnnotatedPage) -> Scores:
    """Score our parser and trafilatura (comments for forums only) on one page."""
    from trafilatura import extract

    fragment = parse(page.data, page.url)
    theirs = extract(page.data, include_comments=page.page_type == "forum") or ""
    headings = Matches()
    headings.add(
        [key(section.heading) for section in headed(fragment)], list(markdown_headings(page.markdown))
    )
    ours = text_of(fragment)
    return Scores(
        page_type=page.page_type,
        ours=word_f1(ours, page.text),
        theirs=word_f1(theirs, page.text),
        our_runs=shingle_f1(ours, page.text),
        their_runs=shingle_f1(theirs, page.text),
        was_seen=was_seen(page.url),
        headings=headings,
    )


def was_seen(name: str) -> bool:
    """Whether the page is of the half that rules were made after; the other half is only measured."""
    return sha256(name.encode()).digest()[0] % 2 == 0


def text_of(fragment: GraphFragment) -> str:
    """The texts of a page's chunks in order, each heading once, before what stands under it."""
    headings = {node.id: node.heading for node in fragment.nodes if isinstance(node, Section)}
    texts: list[str] = []
    last = None
    for chunk in fragment.chunks:
        heading = headings[chunk.section_id or ""]
        if chunk.section_id != last and heading != chunk.text:
            texts.append(heading)
        last = chunk.section_id
        texts.append(without_figures(chunk.text))  # annotators wrote down no alternative texts
    return "\n".join(texts)


def pooled(scores: list[Scores]) -> Matches:
    """Headings of pages whose annotation marks any: on the others it holds them as plain lines."""
    total = Matches()
    for score in scores:
        if score.headings.stated:
            total.found += score.headings.found
            total.stated += score.headings.stated
            total.shared += score.headings.shared
    return total


def means(scores: list[Scores]) -> tuple[float, float]:
    """Mean word F1, ours and trafilatura's."""
    return mean(score.ours for score in scores), mean(score.theirs for score in scores)
