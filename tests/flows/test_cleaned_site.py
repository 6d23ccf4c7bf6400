"""The site of the how-to page on cleaning, crawled as it is and then as that page says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.real_sites import unpack
from tests.fakes.site_server import Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild, outcomes

pytestmark = pytest.mark.server

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "clean-a-site.md").read_text("utf-8")
(HTML,) = re.findall(r"^```html\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(SOURCE,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(HOOK,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
VALVES = (
    "<title>Valves</title><main><h1>Valves</h1><h2 id=inlet>The inlet valve</h2><p>It is the blue one, "
    "beside the door. Turn it by a quarter, never further, and hang the key back on its nail.</p></main>"
)
VOTE = "<title>Vote</title><h1>Vote</h1><p>Say how the handbook served you, in a sentence or two.</p>"
SEED = "https://docs.example.org/handbook/pumps.html"


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {"/pumps.html": HTML, "/valves.html": VALVES, "/vote.html": VOTE}
    scripts = {path: with_validators(page.encode(), etag=f'"{path}"') for path, page in pages.items()}
    with serve(Site(scripts)) as served:
        yield served


def write_source(folder: Path, site: Site, *, cleaned: bool) -> Path:
    """The page's own source file, led to the site on loopback, with its hook beside it."""
    text = SOURCE.replace(SEED, site.url("/pumps.html")) + (
        f"allow_private: ['{site.address}']\nrate: {{per_host_delay: 0}}\n"
    )
    if not cleaned:
        text = re.sub(r"^content:\n(?:  .*\n)*|^clean:.*\n", "", text, flags=re.MULTILINE)
    (folder / "cleaning.py").write_text(HOOK)
    path = folder / "handbook.yaml"
    path.write_text(text)
    return path


def query(sitegraph: Sitegraph, index: Path, words: str) -> list[dict[str, Any]]:
    """What `sitegraph query` finds, best first."""
    done = sitegraph.call("query", words, "--index", str(index), "--format", "json")
    assert done.returncode == 0, done.stderr
    chunks: list[dict[str, Any]] = json.loads(done.stdout)["evidence"]
    return chunks


def texts(sitegraph: Sitegraph, index: Path) -> str:
    return "\n".join(row["text"] for row in sitegraph.export(index)["chunks"])


def test_the_site_of_the_how_to_page(sitegraph: Sitegraph, site: Site, tmp_path: Path) -> None:
    index = tmp_path / "index"
    first = sitegraph.run(write_source(tmp_path, site, cleaned=False), index)
    before = texts(sitegraph, index)
    for boilerplate in ("release 4.2", "Tell the writers", "Read in 2 minutes"):
        assert boilerplate in before
    assert outcomes(first) == {"added": 3}
    source = write_source(tmp_path, site, cleaned=True)

    cleaned = sitegraph.run(source, index)

    assert (cleaned["documents"]["fetched"], cleaned["documents"]["not_modified"]) == (0, 3)
    assert outcomes(cleaned) == {"changed": 1, "unchanged": 2}
    assert cleaned["problems"] == []
    after = texts(sitegraph, index)
    for boilerplate in ("release 4.2", "Tell the writers", "Read in", "copy the link"):
        assert boilerplate not in after
    found = query(sitegraph, index, "how do I start a pump that hums")
    assert found[0]["heading_path"] == ["Pumps", "Starting a pump"]
    assert found[0]["fragment"] in ("start-a-pump", "starting")
    assert {row["title"] for row in sitegraph.export(index)["documents"]} == {"Pumps", "Valves", "Vote"}
    nothing = query(sitegraph, index, "tell the writers whether this was of any use")
    assert not any("writers" in chunk["text"] for chunk in nothing)
    assert_equals_clean_rebuild(sitegraph, source, index)

    more = "    for heading in soup.select('h2'):\n        heading.find_next('p').append(' Mind the belt.')\n"
    (tmp_path / "cleaning.py").write_text(HOOK + more)
    edited = sitegraph.run(source, index)

    assert (edited["documents"]["fetched"], edited["documents"]["not_modified"]) == (0, 3)
    assert outcomes(edited) == {"changed": 2, "unchanged": 1}
    assert edited["problems"] == []
    assert "Mind the belt." in texts(sitegraph, index)
    assert sitegraph.run(source, index)["generation"] is None


def test_a_hook_that_fails_on_one_page_leaves_its_old_version_and_all_others(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    index, source = tmp_path / "index", write_source(tmp_path, site, cleaned=True)
    sitegraph.run(source, index)
    (tmp_path / "cleaning.py").write_text(
        HOOK + "    soup.select_one('#inlet, #starting').append(' (mended)')\n"
    )

    report = sitegraph.run(source, index)

    assert report["problems"] == [
        {
            "url": site.url("/vote.html"),
            "reason": "failed: clean cleaning:drop_reading_times raised AttributeError: 'NoneType' object "
            "has no attribute 'append' (cleaning.py, line 9); the page is left out",
        }
    ]
    assert (outcomes(report)["changed"], outcomes(report)["failed"]) == (2, 1)
    rows = sitegraph.export(index)["chunks"]
    assert "The inlet valve (mended)" in {row["heading_path"][-1] for row in rows}
    assert any("how the handbook served you" in row["text"] for row in rows)


@pytest.mark.long
def test_a_selector_that_matches_no_page_is_a_problem_until_it_does(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    index, source = tmp_path / "index", write_source(tmp_path, site, cleaned=True)
    source.write_text(source.read_text().replace(".vote,", ".votes, .notice,"))

    report = sitegraph.run(source, index)

    wrong = [{"url": "handbook", "reason": "content.remove '.votes' matched no page"}]
    assert report["problems"] == wrong
    assert sitegraph.run(source, index)["problems"] == wrong
    source.write_text(source.read_text().replace(".votes", ".vote"))
    assert sitegraph.run(source, index)["problems"] == []


def test_what_is_wrong_with_the_cleaning_is_refused_before_anything_is_asked(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    source = write_source(tmp_path, site, cleaned=True)
    source.write_text(source.read_text().replace("[.page]", "['.page[']").replace(":drop_", ":dropp_"))

    done = sitegraph.call("run", str(source), "--index", str(tmp_path / "index"))

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "line 5: content.select.0: '.page[' is not a CSS selector: Malformed attribute selector" in line
    assert "line 8: clean: cleaning:dropp_reading_times: cleaning has no function dropp_reading_times" in line
    assert site.paths() == []


@pytest.mark.data
def test_a_page_of_a_real_site_is_cleaned_of_what_the_extractor_keeps(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    html = next(unpack("sites/postgresql.tar.xz", "15.20", tmp_path / "site").rglob("html"))
    with serve_folder(html) as address:
        source = tmp_path / "manual.yaml"
        source.write_text(
            f"name: manual\nkind: web\nseeds: ['http://{address}/app-pgdump.html']\n"
            f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\nscope: {{max_pages: 1}}\n"
            "content: {select: [.refentry], remove: [.refsynopsisdiv, dt], title: h2}\n"
        )
        sitegraph.run(source, tmp_path / "index")
    rows = sitegraph.export(tmp_path / "index")["chunks"]
    (example,) = [row for row in rows if "pg_restore -d newdb db.dump" in row["text"]]
    assert example["heading_path"][-1] == "Examples"
    assert "pg_dump [connection-option...]" not in "\n".join(row["text"] for row in rows)
