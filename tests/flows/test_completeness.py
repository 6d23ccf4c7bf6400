"""Whether everything is in: the real commands over served sites of which it is known what nothing names."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.fakes.hidden_pages import SHAPES, Shape, draw_captures
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.site_server import Reply, Script, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

WORDS = [
    a + b for a in ("bar", "cor", "del", "fen", "gol", "har", "kem", "lor") for b in ("an", "ix", "um", "ot")
]
SERVED = {
    "independent": replace(SHAPES["independent"], pages=120),
    "forgotten": replace(SHAPES["forgotten"], pages=120),
    "sitemap nearly whole": replace(SHAPES["sitemap nearly whole"], pages=120),
    "tiny": SHAPES["tiny"],
    "large": replace(SHAPES["large"], pages=700),
}


def page(number: int, more: str = "") -> str:
    text = " ".join(Random(number).choices(WORDS, k=60))
    return (
        f"<!DOCTYPE html><title>Page {number}</title><main><h1>Page {number}</h1><p>{text}.</p>{more}</main>"
    )


def sitemap(urls: list[str]) -> Reply:
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(f'<?xml version="1.0"?><urlset>{listed}</urlset>'.encode(), content_type="application/xml")


def feed(urls: list[str]) -> Reply:
    items = "".join(f"<item><link>{url}</link></item>" for url in urls)
    return Reply(f"<rss><channel>{items}</channel></rss>".encode(), content_type="application/rss+xml")


def pages_of(site: Site, captures: list[frozenset[str]]) -> dict[str, Script]:
    """A hub and lists that name pages as drawn; nothing names some of them, which are there all the same."""
    paths = {way: [] for way in ("sitemap", "link", "llms.txt", "feed")}
    for number, ways in enumerate(captures):
        for way in ways:
            paths[way].append(f"/m/{number}.html")
    links = "".join(f"<p>See <a href='{path}'>{path}</a> for more of it.</p>" for path in paths["link"])
    named = {way: [site.url(path) for path in found] for way, found in paths.items()}
    lines = "".join(f"- [it]({url})\n" for url in named["llms.txt"])
    robots = f"Sitemap: {site.url('/sitemap.xml')}\nSitemap: {site.url('/feed.xml')}\n"
    return {
        **{f"/m/{number}.html": Reply(page(number).encode()) for number in range(len(captures))},
        "/m/": Reply(page(-1, links).encode()),
        "/sitemap.xml": sitemap(named["sitemap"]),
        "/feed.xml": feed(named["feed"]),
        "/llms.txt": Reply(f"# It\n\n{lines}".encode(), content_type="text/plain"),
        "/robots.txt": Reply(robots.encode(), content_type="text/plain"),
    }


def write_manual(folder: Path, site: Site, more: str = "") -> Path:
    path = folder / "manual.yaml"
    path.write_text(
        f"name: manual\nkind: web\nseeds: ['{site.url('/m/')}']\nallow_private: ['{site.address}']\n"
        f"rate: {{per_host_delay: 0}}\n{more}"
    )
    return path


@pytest.mark.parametrize("shape", SERVED.values(), ids=SERVED.keys())
def test_status_tells_how_many_pages_nothing_names(shape: Shape, tiny: Sitegraph, tmp_path: Path) -> None:
    captures = draw_captures(shape, 3)
    hidden = sum(not ways for ways in captures)
    with serve(Site()) as site:
        site.pages.update(pages_of(site, captures))
        report = tiny.run(write_manual(tmp_path, site), tmp_path / "index")

    told = tiny.call("status", "--index", str(tmp_path / "index"), "--format", "json")
    found = json.loads(told.stdout)["sources"]["manual"]["completeness"]
    assert found == report["completeness"]
    assert (found["indexed"], found["share"], found["reasons"]) == (len(captures) - hidden + 1, 1.0, {})
    assert found["unknown"]["low"] <= hidden <= found["unknown"]["high"]
    text = tiny.call("status", "--index", str(tmp_path / "index")).stdout
    assert f"indexed: {found['indexed']:,} of {found['indexed']:,} pages that are named (100.0%)\n" in text
    assert f"unknown: likely {found['unknown']['likely']:,} more pages, which nothing names; between" in text


LINKED = (
    "moved",
    "copy",
    "fine",
    "also",
    "more",
    "nowhere",
    "no/x",
    "broken",
    "empty",
    "asks",
    "deep",
    "quiet",
)
OTHERS = ("/m/data.json", "/m/x/x/x/x/x.html", "https://elsewhere.example/")
NOINDEX = "<meta name=robots content=noindex>"
NOFOLLOW = "<meta name=robots content=nofollow>"


def every_reason() -> dict[str, Script]:
    """A site with an address for each reason not to be indexed."""
    links = "".join(f"<p>See <a href='/m/{path}.html'>{path}</a> for more of it.</p>" for path in LINKED)
    links += "".join(f"<p>See <a href='{path}'>{path}</a> as well.</p>" for path in OTHERS)
    return {
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /m/no/\n", content_type="text/plain"),
        "/m/": Reply(page(0, links).encode()),
        "/m/fine.html": Reply(page(1).encode()),
        "/m/copy.html": Reply(page(1).encode()),
        "/m/also.html": Reply(page(2).encode()),
        "/m/more.html": Reply(page(3).encode()),
        "/m/moved.html": Reply(b"", 301, {"Location": "/m/fine.html"}),
        "/m/broken.html": Reply(b"", 403),
        "/m/empty.html": Reply(b"<title>Log in</title><form><input type=password name=p></form>"),
        "/m/asks.html": Reply(page(4).replace("<title>", f"{NOINDEX}<title>").encode()),
        "/m/deep.html": Reply(page(5, "<a href='deeper.html'>deeper</a>").encode()),
        "/m/quiet.html": Reply(
            page(6, "<a href='kept.html'>x</a>").replace("<title>", f"{NOFOLLOW}<title>").encode()
        ),
        "/m/data.json": Reply(b'{"a": 1}', content_type="application/json"),
        "/m/listed.html": Reply(page(7).encode()),
    }


def test_every_named_address_is_told_with_its_reason_and_so_is_a_fall(
    tiny: Sitegraph, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    with serve(Site(every_reason())) as site:
        site.pages["/sitemap.xml"] = sitemap(
            [site.url(f"/{path}") for path in ("blog/", "m/listed.html", "m/quiet.html", "m/off/x")]
        )
        source = write_manual(tmp_path, site, "scope: {max_depth: 1, exclude: ['*/off/*']}\n")
        source.write_text(
            source.read_text().replace("exclude:", f"include: ['{site.url('/m/*')}'], exclude:")
        )
        first = tiny.run(source, index)
        told = json.loads(
            tiny.call("completeness", "manual", "--index", str(index), "--format", "json").stdout
        )
        text = tiny.call(
            "completeness", "--index", str(index), "--reason", "failed", "--reason", "trap"
        ).stdout
        everything = tiny.call("completeness", "--index", str(index), "--all").stdout
        site.pages |= {f"/m/{path}.html": Reply(b"", 410) for path in ("fine", "copy", "also", "more")}
        second = tiny.run(source, index, accept=True)

    (found,) = told["sources"].values()
    addresses = {one["uri"].removeprefix(site.origin): one for one in found.pop("addresses")}
    assert {path: one["reason"] for path, one in addresses.items()} == {
        "/m/moved.html": "redirected",
        "/m/fine.html": "duplicate",
        "/m/nowhere.html": "dead_link",
        "/m/data.json": "unsupported",
        "/m/no/x.html": "disallowed",
        "/m/broken.html": "failed",
        "/m/empty.html": "quarantined",
        "/m/asks.html": "noindex",
        "/m/deeper.html": "too_deep",
        "/m/kept.html": "nofollow",
        "/m/x/x/x/x/x.html": "trap",
        "/blog/": "out_of_scope",
        "/m/off/x": "out_of_scope",
    }
    assert addresses["/m/off/x"]["detail"] == "excluded by scope.exclude"
    assert (found["indexed"], found["left_out"], found["elsewhere"], found["no_page"]) == (7, 6, 2, 5)
    assert first["completeness"] == {**found, "fell": 0.0}
    assert [line.split("  ")[1:4] for line in text.splitlines()[3:]] == [
        ["", site.url("/m/broken.html"), "failed: HTTP 403"],
        ["", site.url("/m/x/x/x/x/x.html"), "trap: a path segment more than 3 times"],
    ]
    assert f"    {site.url('/m/listed.html')}  indexed  (sitemap)\n" in everything
    assert second["completeness"]["indexed"] == 4
    assert second["completeness"]["fell"] == pytest.approx(7 / 13 - 4 / 10)


def test_a_manual_by_mkdocs_is_whole_and_says_so_and_a_folder_lists_all(
    tiny: Sitegraph, tmp_path: Path
) -> None:
    """The sitemap is MkDocs's; it lists a page that no other page links to, and its 404 page nobody does."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, name in enumerate(("index", "start", "tides", "apart")):
        (docs / f"{name}.md").write_text(
            f"# {name.title()}\n\n{' '.join(Random(number).choices(WORDS, k=80))}\n"
        )
    pages = "".join(f"  - {name}.md\n" for name in ("index", "start", "tides"))
    with serve(Site()) as site:
        (tmp_path / "mkdocs.yml").write_text(
            f"site_name: Port\nsite_url: {site.url('/m/')}\nplugins: []\nuse_directory_urls: false\n"
            f"nav:\n{pages}not_in_nav: apart.md\n"
        )
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=tmp_path, check=True)
        built = tmp_path / "site"
        site.pages = {
            f"/m/{file.relative_to(built)}": Reply(file.read_bytes(), content_type=None)
            for file in built.rglob("*")
            if file.suffix in (".html", ".xml")
        }
        site.pages["/m/"] = site.pages["/m/index.html"]
        site.pages["/robots.txt"] = Reply(
            f"Sitemap: {site.url('/m/sitemap.xml')}\n".encode(), content_type=None
        )
        found = tiny.run(write_manual(tmp_path, site), tmp_path / "index")["completeness"]
        why = tiny.call("why", site.url("/m/apart.html"), "--index", str(tmp_path / "index")).stdout
    files = tmp_path / "files.yaml"
    files.write_text("name: files\nkind: files\nroots: [docs]\n")
    listed = tiny.run(files, tmp_path / "index")["completeness"]

    assert (found["indexed"], found["left_out"], found["share"]) == (4, 0, 1.0)
    assert "found       in a sitemap at" in why
    assert found["reasons"] == {"duplicate": 1}, "index.html is the seed"
    assert found["ways"] == {"link": 4, "seed": 1, "sitemap": 5}
    assert found["unknown"]["low"] <= 0 <= found["unknown"]["high"]
    assert (listed["indexed"], listed["ways"]) == (4, {"folder": 4})
    assert listed["unknown"] == {"likely": 0, "low": 0, "high": 0, "method": "listed", "why": ""}


def test_a_flow_run_shows_what_is_not_indexed(
    on_prefect: Sitegraph, prefect_server: PrefectServer, tmp_path: Path
) -> None:
    with serve(
        Site({"/m/": Reply(page(0, "<a href='no.html'>no</a>").encode()), "/m/no.html": Reply(b"", 403)})
    ) as site:
        on_prefect.run(write_manual(tmp_path, site), tmp_path / "index")

    wanted = {"artifacts": {"key": {"any_": ["sitegraph-manual", "sitegraph-manual-not-indexed"]}}}
    shown = {one["key"]: one["data"] for one in prefect_server.call("/artifacts/filter", wanted)}
    assert (
        "Indexed: 1 of 2 pages that are named (50.0%); left out: 1 failed. Unknown: how many more pages"
        in shown["sitegraph-manual"]
    )
    assert json.loads(shown["sitegraph-manual-not-indexed"]) == [
        {"reason": "failed", "addresses": 1, "what became of them": "left_out"}
    ]


def test_a_source_that_nobody_has_read_and_an_index_without_one_are_told(
    tiny: Sitegraph, tmp_path: Path
) -> None:
    nowhere = tiny.call("completeness", "--index", str(tmp_path / "none"))
    assert nowhere.returncode == 2
    files = tmp_path / "files.yaml"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A\n\nThe tide turns at noon, and the boats wait for it.\n")
    files.write_text("name: files\nkind: files\nroots: [docs]\n")
    tiny.run(files, tmp_path / "index")
    unknown = tiny.call("completeness", "port", "--index", str(tmp_path / "index"))

    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == "sitegraph: port: no run has read a source of this name; known: files\n"
