"""What a site says that its pages may be used for: kept, cited, followed when it changes, and respected."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sitegraph as api
from schemas.errors import ConfigError
from tests.fakes.site_server import Reply, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here

TDM_FILE = "/.well-known/tdmrep.json"
NARROWED = "allow=ai-input"
QUESTION = "Which valve does the harbour lamp have?"


def page(title: str, head: str = "", links: tuple[str, ...] = ()) -> bytes:
    """A page with a text of its own."""
    text = f"The {title} lamp of the harbour has a valve of brass that {title} keepers clean on Mondays. " * 3
    led = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    top = f"<head><title>{title}</title>{head}</head>"
    return f"<html>{top}<body><main><h1>{title}</h1><p>{text}</p>{led}</main></body></html>".encode()


def text(body: str) -> Reply:
    return Reply(body.encode(), content_type="text/plain")


@pytest.fixture(scope="module")
def program() -> Sitegraph:
    return sitegraph_here()


@pytest.fixture
def site() -> Iterator[Site]:
    """Five pages that answer 304; one refuses by its header, one by a meta element."""
    links = ("/open.html", "/header.html", "/meta.html", "/mined/a.html")
    pages = {
        "/": page("start", links=links),
        "/open.html": page("open"),
        "/meta.html": page("meta", '<meta name="robots" content="noai, noimageai">', ("/open.html",)),
        "/mined/a.html": page("mined"),
    }
    served = Site({path: with_validators(body, etag='"1"') for path, body in pages.items()})
    served.pages["/header.html"] = Reply(page("header"), headers={"X-Robots-Tag": "noai"})
    with serve(served):
        yield served


@pytest.fixture
def source(site: Site, tmp_path: Path) -> Path:
    file = tmp_path / "lamps.yaml"
    file.write_text(
        f"name: lamps\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
        "rate: {per_host_delay: 0}\n"
    )
    return file


def asked(program: Sitegraph, index: Path, *options: str) -> dict[str, Any]:
    """A query as its command answers it, as JSON."""
    done = program.call(
        "query", QUESTION, "--index", str(index), "--format", "json", "--top-k", "20", *options
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(bundle: dict[str, Any], site: Site) -> dict[str, set[tuple[str, bool, str]]]:
    """What is said of uses of each cited page, by its path: the use, whether it is allowed, and where."""
    return {
        cited["url"].removeprefix(site.origin): {
            (one["use"], one["allowed"], one["origin"]) for one in cited.get("uses", ())
        }
        for cited in bundle["citations"]
    }


NOAI = {("ai-input", False), ("ai-train", False)}


def of(origin: str) -> set[tuple[str, bool, str]]:
    return {(*one, origin) for one in NOAI}


def test_a_citation_says_what_its_page_may_be_used_for(
    program: Sitegraph, site: Site, source: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    site.pages["/robots.txt"] = text("User-agent: *\nContent-Signal: search=yes\nAllow: /\n")
    rules = [{"location": "/mined/*", "tdm-reservation": 1, "tdm-policy": "https://example.org/p"}]
    site.pages[TDM_FILE] = Reply(json.dumps(rules).encode(), content_type="application/json")
    program.run(source, index)

    found = told(asked(program, index), site)
    searched = {("search", True, "robots.txt")}
    assert found == {
        "/": searched,
        "/open.html": searched,
        "/header.html": searched | of("header"),
        "/meta.html": searched | of("meta"),
        "/mined/a.html": searched | of("tdmrep.json"),
    }
    lines = program.call("query", QUESTION, "--index", str(index), "--top-k", "20").stdout
    assert "ai-input refused (header: noai, seen 20" in lines
    assert program.damage(index) == ()


def test_a_changed_word_is_in_by_the_next_run_though_no_page_changed(
    program: Sitegraph, site: Site, source: Path, tmp_path: Path
) -> None:
    """In each place where it can be said, and taken back; a run that hears nothing new publishes nothing."""
    index, open_page = tmp_path / "index", site.pages["/open.html"]
    del site.pages["/header.html"], site.pages["/meta.html"]
    program.run(source, index)
    assert program.run(source, index)["generation"] is None
    added = program.call("audiences", "--add", NARROWED, "--index", str(index), "--quiet")
    assert added.returncode == 0, added.stderr

    signals = "User-agent: *\nContent-Signal: ai-input=no\n"
    unchanged = Reply(b"", 304, {"ETag": '"1"', "X-Robots-Tag": "noai"}, None)
    reserved = Reply(b"", 304, {"ETag": '"1"', "TDM-Reservation": "1"}, None)
    mined = text('[{"location": "/open.html", "tdm-reservation": 1}]')
    for path, reply, before, origin in (
        ("/robots.txt", text(signals), Reply(b"", 404), "robots.txt"),
        (TDM_FILE, mined, Reply(b"", 404), "tdmrep.json"),
        ("/open.html", unchanged, Reply(page("open"), headers={"ETag": '"1"'}), "header"),
        ("/open.html", reserved, Reply(page("open"), headers={"ETag": '"1"'}), "header"),
    ):
        site.pages[path] = reply
        report = program.run(source, index)
        assert (report["documents"]["changed"], report["chunks"]["embedded"]) == (0, 0), origin
        said = told(asked(program, index), site)["/open.html"]
        assert {(use, by) for use, allowed, by in said if not allowed} >= {("ai-input", origin)}
        assert "/open.html" not in told(asked(program, index, "--allow", "ai-input"), site)
        site.pages[path] = before
        program.run(source, index)
        assert told(asked(program, index), site)["/open.html"] == set()
        assert "/open.html" in told(asked(program, index, "--allow", "ai-input"), site)
        site.pages["/open.html"] = open_page
    assert program.damage(index) == ()


def test_what_may_be_no_input_is_searched_by_nobody_who_allows_input_alone(
    program: Sitegraph, site: Site, source: Path, tmp_path: Path
) -> None:
    """By the command, ask, rows for programs and Python; another use needs an index of its own."""
    index = tmp_path / "index"
    program.run(source, index)
    missing = program.call("query", QUESTION, "--index", str(index), "--allow", "ai-input")
    assert (missing.returncode, "sitegraph audiences --add allow=ai-input" in missing.stderr) == (2, True)
    added = program.call("audiences", "--add", NARROWED, "--index", str(index), "--quiet")
    assert (added.returncode, added.stdout) == (0, f"{NARROWED}: generation 1, 3 documents\n")

    assert {*told(asked(program, index), site)} == {*PATHS}
    assert {*told(asked(program, index, "--allow", "ai-input"), site)} == {*PATHS} - REFUSED
    answered = program.call("ask", QUESTION, "--index", str(index), "--allow", "ai-input", "--format", "json")
    assert '"url"' in answered.stdout
    assert not any(f'"url": "{site.url(path)}"' in answered.stdout for path in REFUSED)
    with api.open(index, allow=("ai-input",)) as opened:
        cited = {one.url for one in opened.retrieve(QUESTION, top_k=20).citations}
    assert cited == {site.url(path) for path in {*PATHS} - REFUSED}
    with pytest.raises(ConfigError, match="'reading' is not a use; write one or more of: search, ai-input"):
        api.open(index, allow=("reading",))
    site.pages["/robots.txt"] = text("User-agent: *\nContent-Signal: ai-train=no\n")
    program.run(source, index)
    program.call("audiences", "--add", "allow=ai-train", "--index", str(index), "--quiet")
    refused = program.call("query", QUESTION, "--index", str(index), "--allow", "ai-train")
    assert (refused.returncode, "since all refuse that use" in refused.stderr) == (2, True), refused.stderr
    program.call("audiences", "--drop", "allow=ai-train", "--index", str(index), "--quiet")
    listed = program.call("audiences", "--index", str(index))
    assert listed.stdout == f"{NARROWED}: generation 2, 3 documents\n", "no audience of groups comes with it"


PATHS = ("/", "/open.html", "/header.html", "/meta.html", "/mined/a.html")
REFUSED = {"/header.html", "/meta.html"}


def test_a_day_from_which_a_page_is_no_more_to_be_shown_needs_no_answer_of_the_site(
    program: Sitegraph, site: Site, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    from runtime.clock import SystemClock

    index = tmp_path / "index"
    head = '<meta name="robots" content="unavailable_after: 2050-06-25">'
    site.pages["/open.html"] = with_validators(page("open", head), etag='"1"')
    program.run(source, index)
    program.call("audiences", "--add", NARROWED, "--index", str(index), "--quiet")
    assert "/open.html" in told(asked(program, index, "--allow", "ai-input"), site)

    monkeypatch.setattr(SystemClock, "now", lambda _: datetime(2050, 6, 26, tzinfo=UTC))
    assert program.call("audiences", "--sync", "--index", str(index), "--quiet").returncode == 0
    assert "/open.html" not in told(asked(program, index, "--allow", "ai-input"), site)
