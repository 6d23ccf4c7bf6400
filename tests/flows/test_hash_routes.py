"""A site whose pages are routes behind `#`: each is a document of its own where scripts run, there alone."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.site_server import Ask, Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

ROUTER = """
const main = document.getElementById('main');
async function show() {
  const route = location.hash.replace(/^#!?/, '').split('?')[0] || '/';
  const found = await fetch('pages' + (route === '/' ? '/home' : route) + '.json');
  if (!found.ok) { main.innerHTML = '<h1>Not found</h1>'; return; }
  const page = await found.json();
  document.title = page.title;
  main.innerHTML = '<h1>' + page.title + '</h1><h2 id="use">Use</h2><p>' + page.text + '</p>' +
    page.links.map(one => '<a href="' + one + '">' + one + '</a>').join(' ');
}
addEventListener('hashchange', show);
show();
"""
SHELL = (
    "<!doctype html><html><head><title>Lamps</title><link rel='canonical' href='/app/'></head>"
    "<body><nav><a href='#/'>Home</a> <a href='#use'>Use</a></nav><main id='main'></main>"
    "<script src='router.js'></script></body></html>"
)
TEXTS = {
    "home": ("Lamps", "Lamps of the harbour are lit by keepers at dusk.", ["#/guide", "#!/valves", "#/gone"]),
    "guide": ("Guide", "The guide tells keepers to trim the wick on Mondays.", ["#/guide?id=use", "#/"]),
    "valves": ("Valves", "Valves of brass are cleaned with quicksilver oil once a year.", ["#/guide"]),
}


def _json(title: str, text: str, links: list[str]) -> Reply:
    record = {"title": title, "text": f"{text} " * 4, "links": links}
    return Reply(json.dumps(record).encode(), content_type="application/json")


@pytest.fixture
def app() -> Iterator[Site]:
    """The application: one shell, a router, and its pages as JSON."""
    site = Site({f"/app/pages/{name}.json": _json(*page) for name, page in TEXTS.items()})
    site.pages["/app/"] = Reply(SHELL.encode())
    site.pages["/app/router.js"] = Reply(ROUTER.encode(), content_type="text/javascript")
    with serve(site):
        yield site


def write_source(folder: Path, app: Site, *, javascript: bool) -> Path:
    file = folder / "lamps.yaml"
    file.write_text(
        f"name: lamps\nkind: web\nseeds: ['{app.url('/app/')}']\nallow_private: ['{app.address}']\n"
        f"rate: {{per_host_delay: 0}}\njavascript: {json.dumps(javascript)}\n"
    )
    return file


def documents(sitegraph: Sitegraph, index: Path, app: Site) -> dict[str, str]:
    """Titles of the documents by address, behind the application's."""
    found = sitegraph.export(index)["documents"]
    return {row["url"].removeprefix(app.url("/app/")): row["title"] for row in found}


@pytest.mark.skipif(
    not (os.environ.get("SITEGRAPH_CHROMIUM") or shutil.which("chromium")), reason="Chromium is not installed"
)
def test_each_route_is_a_document_that_is_cited_by_it(
    sitegraph: Sitegraph, app: Site, tmp_path: Path
) -> None:
    pytest.importorskip("playwright", reason="the extra js is not installed")
    source, index = write_source(tmp_path, app, javascript=True), tmp_path / "index"
    report = sitegraph.run(source, index)
    assert documents(sitegraph, index, app) == {"": "Lamps", "#/guide": "Guide", "#!/valves": "Valves"}, (
        report
    )

    def first(question: str) -> dict[str, Any]:
        asked = sitegraph.call("query", question, "--index", str(index), "--format", "json")
        cited: dict[str, Any] = json.loads(asked.stdout)["citations"][0]
        return cited

    cited = first("What are valves cleaned with?")
    assert (cited["url"], cited["fragment"], cited["text_fragment"]) == (
        app.url("/app/#!/valves"),
        None,
        None,
    )
    listed = sitegraph.call("query", "What are valves cleaned with?", "--index", str(index)).stdout
    assert f"     {app.url('/app/#!/valves')}\n" in listed
    names = {row["id"]: row["url"] for row in sitegraph.export(index)["documents"]}
    links = {
        (names[edge["src"]].partition("#")[2], names[edge["dst"]].partition("#")[2])
        for edge in sitegraph.export(index)["edges"]
        if edge["kind"] == "links_to"
    }
    assert links >= {("", "/guide"), ("", "!/valves"), ("!/valves", "/guide"), ("/guide", "")}

    app.pages["/app/pages/valves.json"] = _json("Valves", "Valves are cleaned with soap.", ["#/guide"])
    again = sitegraph.run(source, index)
    assert (again["documents"]["changed"], again["documents"]["added"]) == (1, 0)
    assert first("What are valves cleaned with?")["url"] == app.url("/app/#!/valves")
    assert sitegraph.damage(index) == ()
    why = sitegraph.call("why", app.url("/app/#!/valves"), "--index", str(index))
    assert (why.returncode, "Valves" in why.stdout) == (0, True), why.stderr


def test_without_the_browser_a_route_is_its_page(sitegraph: Sitegraph, app: Site, tmp_path: Path) -> None:
    def shell(_: Ask) -> Reply:
        return Reply(
            SHELL.replace("<main id='main'>", "<main><h1>Lamps</h1><a href='#/guide'>Guide</a>").encode()
        )

    app.pages["/app/"] = shell
    source, index = write_source(tmp_path, app, javascript=False), tmp_path / "index"
    sitegraph.run(source, index)
    assert documents(sitegraph, index, app) == {"": "Lamps"}
