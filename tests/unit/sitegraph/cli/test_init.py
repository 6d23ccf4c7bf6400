"""`sitegraph init`: what it proposes, that the file it writes loads, and what it never does."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from math import exp
from pathlib import Path
from statistics import NormalDist

import pytest

from runtime.source_file import load_source, parse_source
from schemas.source import Source
from sitegraph.actions.probe import FEEDS, PAGES, spread
from sitegraph.actions.proposal import (
    START_SECONDS,
    Estimate,
    LookedAt,
    Proposal,
    SiteLook,
    propose_site,
    scope_prefix,
)
from sitegraph.actions.proposal_text import source_text, told_bytes, told_estimate, told_seconds
from sitegraph.actions.target import Target, TargetKind, find_target, is_source_file
from sitegraph.cli.app import run_app
from tests.fakes.folder_server import python_server
from tests.fakes.git_repositories import make_repository
from tests.fakes.site_server import Reply, Site, serve

START = "https://docs.example.org/guide/"
TARGET = Target(kind=TargetKind.SITE, place=START, name="guide")
PAGE = LookedAt(address=START, size=20_000, chunks=6, words=900, lang="en")


def proposed(look: SiteLook) -> tuple[Proposal, Source]:
    """What is proposed, and the source that its file is read as."""
    proposal = propose_site(TARGET, look)
    text = source_text(proposal, command="sitegraph init", run="sitegraph run guide.yaml")
    return proposal, parse_source(text, subject="guide.yaml", folder=Path("/"))


def test_a_crawl_delay_sets_the_pace_and_the_estimate() -> None:
    listed = tuple(f"{START}{number}.html" for number in range(600))

    proposal, source = proposed(SiteLook(start=START, pages=(PAGE,), crawl_delay=10.0, listed=listed))

    assert source.rate.per_host_delay == 10.0
    assert proposal.estimate.fetch_seconds == 6000.0
    assert list(told_estimate(proposal.estimate)) == [
        "At least 600 documents, about 12.0 MB, 3,600 passages.",
        "The first run takes about 1 h 41 min "
        "(10 s to start, 1 h 40 min to fetch at this pace, 56 s to index on two cores).",
    ]


def test_what_is_not_english_is_proposed_an_encoder_that_knows_it() -> None:
    english, _ = proposed(SiteLook(start=START, pages=(PAGE,)))
    german, _ = proposed(SiteLook(start=START, pages=(replace(PAGE, lang="de-CH"),)))

    assert (english.model, german.model) == ((), ("--model", "multilingual-e5-small"))
    assert "--model multilingual-e5-small" in source_text(german)


def test_no_run_takes_less_than_its_start() -> None:
    small = Estimate(documents=11, chunks=13, index_seconds=0.2)

    assert small.seconds == START_SECONDS + 0.2
    assert list(told_estimate(small)) == [
        "11 documents, 13 passages.",
        "The first run takes about 10 s (10 s to start, 1 s to index on two cores).",
    ]


def test_pages_that_are_left_out_are_not_counted() -> None:
    listed = tuple(f"{START}{version}/{name}" for version in ("1.0", "2.0") for name in ("a", "b", "c"))

    proposal, source = proposed(
        SiteLook(start=START, pages=(PAGE,), listed=(*listed, "https://docs.example.org/x"))
    )

    assert source.scope.exclude == (f"{START}1.0/*",)
    assert proposal.estimate.documents == 3


def test_without_a_sitemap_the_links_are_counted_and_a_note_says_so() -> None:
    page = replace(PAGE, links=(f"{START}a", f"{START}b", "https://elsewhere.example.org/"))

    proposal, source = proposed(SiteLook(start=START, pages=(page,)))

    assert proposal.estimate.documents == 3
    assert "no sitemap" in proposal.notes[-1]
    assert source.scope.max_pages == 100_000


@pytest.mark.parametrize(
    ("words", "has_scripts", "javascript"), [(3, True, True), (3, False, False), (90, True, False)]
)
def test_a_page_that_says_nothing_without_its_scripts_needs_them(
    words: int, has_scripts: bool, javascript: bool
) -> None:
    page = replace(PAGE, words=words, has_scripts=has_scripts)

    assert proposed(SiteLook(start=START, pages=(page,)))[1].javascript is javascript


def test_the_scope_is_the_folder_or_the_page_as_a_folder_where_there_are_pages_below_it() -> None:
    page = "https://docs.example.org/guide"

    assert scope_prefix(page, {page, f"{page}/a"}) == f"{page}/"
    assert scope_prefix(page, {page}) == "https://docs.example.org/"
    assert scope_prefix(f"{page}/start.html", {f"{page}/start.html/x"}) == f"{page}/"


def test_odd_characters_of_an_address_stay_what_they_are() -> None:
    start = "https://docs.example.org/a*[b]/"
    target = Target(kind=TargetKind.SITE, place=start, name="odd")

    text = source_text(propose_site(target, SiteLook(start=start, pages=(replace(PAGE, address=start),))))

    source = parse_source(text, subject="odd.yaml", folder=Path("/"))
    assert source.scope.include == ("https://docs.example.org/a[*][[]b]/*",)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("https://www.docs.example.org/guide/intro.html", TargetKind.SITE, "docs.example.org-guide"),
        ("https://git.example.org/house/rules.git", TargetKind.REPOSITORY, "rules"),
        ("https://docs.example.org/manual.pdf", TargetKind.DOCUMENT, "manual"),
    ],
)
def test_an_address_says_what_it_is(text: str, kind: TargetKind, name: str) -> None:
    target = find_target(text)

    assert (target.kind, target.name, target.is_url) == (kind, name, True)


def test_what_lies_here_says_what_it_is(tmp_path: Path) -> None:
    make_repository(tmp_path / "rules")
    (tmp_path / "crawl.warc.gz").touch()
    (tmp_path / "a b.md").touch()

    kinds = {
        name: find_target(str(tmp_path / name)).kind for name in ("rules", "crawl.warc.gz", "a b.md", ".")
    }

    assert kinds == {
        "rules": TargetKind.REPOSITORY,
        "crawl.warc.gz": TargetKind.ARCHIVE,
        "a b.md": TargetKind.DOCUMENT,
        ".": TargetKind.FOLDER,
    }
    assert find_target(str(tmp_path / "a b.md")).name == "a-b"
    assert not is_source_file(str(tmp_path / "a b.md"))
    assert is_source_file("missing.yaml")


@pytest.mark.parametrize("step", [7, 53, 97, 149, 211])
def test_the_range_of_passages_holds_the_truth_of_a_site_of_few_long_pages(step: int) -> None:
    spread_of = NormalDist(1.5, 1.2)
    passages = [round(exp(spread_of.inv_cdf((place * step % 250 + 0.5) / 250))) for place in range(250)]
    addresses = [f"{START}{number:03}.html" for number in range(250)]
    found = dict(zip(addresses, passages, strict=True))
    read = (PAGE, *(replace(PAGE, address=one, chunks=found[one]) for one in spread(addresses, PAGES)))

    estimate = proposed(SiteLook(start=START, pages=read, listed=tuple(addresses)))[0].estimate

    assert estimate.chunks_between is not None
    assert estimate.chunks_between[0] < sum(passages) < estimate.chunks_between[1]
    numbers = next(iter(told_estimate(estimate))).partition("MB, ")[2].replace(",", "")
    assert [len(one.rstrip("0")) <= 2 for one in re.findall(r"\d+", numbers)] == [True] * 3


def range_of(passages: Sequence[int], addresses: Sequence[str]) -> tuple[int, int] | None:
    """The range that a look at these pages of a site leads to."""
    read = (
        replace(PAGE, address=one, chunks=number) for one, number in zip(addresses, passages, strict=False)
    )
    look = SiteLook(start=START, pages=(PAGE, *read), listed=tuple(addresses))
    return proposed(look)[0].estimate.chunks_between


@pytest.mark.parametrize("long", range(2))
def test_the_range_allows_for_long_pages_that_the_sample_may_have_missed(long: int) -> None:
    """Five of 250 pages have a third of the passages, and 20 pages rarely have one of them."""
    found = range_of([100] * long + [3, 4, 5, 4] * 5, [f"{START}{number}.html" for number in range(250)])
    assert found is not None
    assert found[0] < 245 * 4 + 5 * 100 < found[1]


@pytest.mark.parametrize(
    "read", [[0, 0, 60], [5, 4, 5, 6, 4, 5, 5], [0] * 19, [2, 3, 1, 2, 400, 400, 400] * 2]
)
def test_a_range_that_would_say_nothing_is_left_out(read: list[int]) -> None:
    assert range_of(read, [f"{START}{number}.html" for number in range(4000)]) is None


def test_pages_that_lead_to_more_and_more_are_not_taken_for_all_that_there_is() -> None:
    read = [
        replace(PAGE, address=f"{START}{n}", links=tuple(f"{START}{m}" for m in range(n * 9, n * 9 + 9)))
        for n in range(21)
    ]
    estimate = proposed(SiteLook(start=START, pages=tuple(read)))[0].estimate
    closed = replace(PAGE, links=tuple(f"{START}{m}" for m in range(189)))

    assert (estimate.documents or 0) > 1000
    assert next(iter(told_estimate(estimate))).startswith("About ")
    assert proposed(SiteLook(start=START, pages=(closed,) * 21))[0].estimate.documents == 190


@pytest.mark.parametrize(("number", "count"), [(39, 20), (20, 20), (3, 20), (1143, 20), (0, 20)])
def test_a_sample_is_from_all_over(number: int, count: int) -> None:
    taken = spread([f"{place:04}" for place in range(number)], count)
    assert len(set(taken)) == min(number, count)
    assert sum(int(one) >= number / 2 for one in taken) >= len(taken) // 2


def test_a_folder_becomes_a_file_that_loads_and_leaves_out_what_tools_fill(tmp_path: Path) -> None:
    for name in ("docs/a.md", "docs/b.md", "docs/node_modules/left/readme.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Title\n\nWords of a page.\n")

    assert run_app(["init", "docs", "--quiet"]) == 0

    source = load_source(tmp_path / "docs.yaml")
    assert (source.kind, source.roots) == ("files", (str(tmp_path / "docs"),))
    assert source.scope.exclude == ("node_modules/*", "*/node_modules/*")
    assert '  - "docs"\n' in (tmp_path / "docs.yaml").read_text()


def test_a_repository_becomes_a_source_of_kind_git(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(tmp_path / "rules").commit({"a.md": "# A\n\nWords.\n", "b.md": "# B\n\nWords.\n"})

    assert run_app(["init", "rules", "--quiet", "--format", "json"]) == 0

    record = json.loads(capsys.readouterr().out)
    assert (record["kind"], record["estimate"]["documents"]) == ("git", 2)
    assert record["next"][0] == "sitegraph run rules.yaml"
    assert load_source(tmp_path / "rules.yaml").kind == "git"


def test_a_file_is_never_overwritten_unless_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nWords.\n")
    (tmp_path / "docs.yaml").write_text("mine")

    assert run_app(["init", "docs", "--quiet"]) == 2
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "docs.yaml").read_text() == "mine"
    assert run_app(["init", "docs", "--quiet", "--force"]) == 0
    assert load_source(tmp_path / "docs.yaml").name == "docs"


def test_a_site_is_asked_for_robots_sitemap_and_a_few_pages_alone(tmp_path: Path) -> None:
    with serve(Site()) as site:
        pages = [f"/guide/{number}.html" for number in range(40)]
        urls = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in pages)
        words = "<h1>Guide</h1><p>" + "Words of a page. " * 30
        site.pages.update(
            {
                "/robots.txt": Reply(b"User-agent: *\nCrawl-delay: 0.1\n", content_type="text/plain"),
                "/sitemap.xml": Reply(f"<urlset>{urls}</urlset>".encode(), content_type="text/xml"),
                "/guide/": Reply(words.encode()),
                **{path: Reply(words.encode()) for path in pages},
            }
        )
        call = ["init", site.url("/guide/"), "--allow-private", site.address, "-o", "guide.yaml", "--quiet"]

        assert run_app(call) == 0

        assert len(site.log) == 26
    source = load_source(tmp_path / "guide.yaml")
    assert "at least 40 documents" in (tmp_path / "guide.yaml").read_text().lower()
    assert source.allow_private == (site.address,)


def news(tag: str, *links: str) -> Reply:
    items = "".join(f"<item><link>{link}</link></item>" for link in links)
    return Reply(f"<{tag}><channel>{items}</channel></{tag}>".encode(), content_type="application/rss+xml")


def test_feeds_that_the_start_page_names_and_that_list_its_pages_are_proposed_and_asked_for_once(
    tmp_path: Path,
) -> None:
    feeds = {
        "/guide/news.rss": news("rss", "a.html", "b.html#top"),
        "/guide/feed/": news("rss", "/guide/b.html"),
        "/guide/comments/feed/": news("rss", "a.html#comment-1", "b.html#comment-2", "c.html"),
        "/guide/away.rss": news("rss", "https://elsewhere.example/x", "/blog/y"),
        "/guide/empty.rss": news("rss"),
        "/guide/page.rss": Reply(b"<!doctype html><title>Page</title>"),
        "/guide/gone.rss": Reply(b"", 404),
    }
    more = ("/blog/feed.xml", "https://elsewhere.example/feed.xml", "/guide/unnamed")
    links = "".join(
        f'<link rel=alternate type="Application/RSS+xml" href="{path}">' for path in (*more, *feeds)
    )
    links += '<link rel=alternate type="text/css" href="/guide/style.xml">'
    words = "<h1>Guide</h1><p>" + "Words of a page. " * 30
    shown = "".join(f"<a href={path}>{path}</a> " for path in feeds)
    site = Site({"/guide/": Reply(f"<head>{links}</head>{words}{shown}".encode()), **feeds})
    site.pages |= {f"/guide/{name}.html": Reply(words.encode()) for name in "abc"}
    with serve(site):
        call = ["init", site.url("/guide/"), "--allow-private", site.address, "-o", "guide.yaml", "--quiet"]
        assert run_app(call) == 0
        asked = site.paths()
        seeds = tuple(map(site.url, ("/guide/", "/guide/news.rss", "/guide/feed/")))
        assert load_source(tmp_path / "guide.yaml").seeds == seeds
    assert asked.count("/guide/news.rss") == asked.count("/guide/comments/feed/") == 1
    assert len([path for path in asked if path in feeds]) == FEEDS
    assert not {"/blog/feed.xml", "/guide/unnamed", "/guide/style.xml"} & {*asked}


def test_a_feed_says_nothing_of_how_much_there_is(tmp_path: Path) -> None:
    words = "<p>" + "Words of a page. " * 30
    links = "".join(f"<a href={number}.html>{number}</a> " for number in range(9))
    head = "<head><link rel=alternate type=application/atom+xml href=/feed></head>"
    site = Site({"/": Reply(f"{head}{words}{links}".encode())})
    site.pages["/feed"] = news("rss", "1.html")
    site.pages |= {f"/{number}.html": Reply(words.encode()) for number in range(9)}
    with serve(site):
        call = ["init", site.url("/"), "--allow-private", site.address, "-o", "all.yaml", "--quiet"]
        assert run_app(call) == 0
        assert load_source(tmp_path / "all.yaml").seeds == (site.url("/"), site.url("/feed"))
    assert "# About 10 documents" in (tmp_path / "all.yaml").read_text().replace("At least", "About")


def test_loopback_is_refused_unless_it_is_named_and_the_message_says_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with python_server(tmp_path) as server:
        assert run_app(["init", server.url, "--quiet"]) == 4
    assert f"add --allow-private {server.address}" in capsys.readouterr().err
    assert server.log == []


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.2, "1 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h"), (100_000, "1 d 3 h")]
)
def test_times_are_told_as_people_say_them(seconds: float, told: str) -> None:
    assert told_seconds(seconds) == told


def test_sizes_and_unknown_estimates_are_told() -> None:
    assert [told_bytes(size) for size in (10, 45_000, 2_500_000, 3 * 10**9)] == [
        "1 kB",
        "45 kB",
        "2.5 MB",
        "3.0 GB",
    ]
    assert list(told_estimate(Estimate(documents=None))) == ["How much there is is not known."]


def test_an_index_in_the_folder_is_not_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nWords.\n")
    (tmp_path / ".sitegraph" / "encoder").mkdir(parents=True)
    (tmp_path / ".sitegraph" / "encoder" / "vocab.txt").write_text("the\nof\n")

    assert run_app(["init", ".", "-o", "here.yaml", "--quiet"]) == 0

    assert load_source(tmp_path / "here.yaml").scope.exclude == (".sitegraph/*",)
    assert "# 1 document" in (tmp_path / "here.yaml").read_text()
