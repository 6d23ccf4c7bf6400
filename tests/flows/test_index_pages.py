"""A site with a general index, lists of tags and footnotes, run by the real command."""

from pathlib import Path

import pytest

from tests.fakes.site_server import Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

ENTRIES = "".join(
    f"<li><a href='api.html#n{n}'>berth_{n}()</a>, <a href='api.html#m{n}'>[27]</a>" for n in range(1400)
)
PAGES = {
    "/docs/index.html": "<h1>Port</h1><p>The rules of the port, for keepers and for boats.</p>"
    "<a href=api.html>Calls</a> <a href=genindex.html>Index</a>"
    " <a href=tags/a.html>a</a> <a href=tags/b.html>b</a>",
    "/docs/api.html": "<h1>Calls</h1><h2 id=fees>Fees</h2>"
    "<p>A berth costs a crown<a href='#f1' id=r1>[1]</a> a day.</p>"
    "<h2 id=tides>Tides</h2><p>The tide turns at noon.</p>"
    "<div class=footnotes><div id=f1 class=footnote><p><a href='#r1'>[1]</a> A silver one.</p></div></div>",
    "/docs/genindex.html": f"<h1>Index</h1><h2>B</h2><ul>{ENTRIES}</ul>"
    "<h2>Z</h2><ul><li><a href='late.html'>zenith</a>, <a href='late.html#z'>[1]</a></ul>",
    "/docs/late.html": "<h1 id=z>The zenith</h1><p>Only the end of the index leads to what stands here.</p>",
    **{
        f"/docs/tags/{tag}.html": f"<h1>Tag {tag}</h1><ul>"
        + "".join(f"<li><a href='../api.html#n{n}'>All about berth {n}</a>" for n in range(20))
        + "</ul>"
        for tag in "ab"
    },
}  # fmt: skip


def test_indexes_lead_to_all_pages_and_give_no_passages_and_a_footnote_stands_by_its_mark(
    tiny: Sitegraph, tmp_path: Path
) -> None:
    pages = {path: f"<!DOCTYPE html><title>Port</title><main>{text}</main>" for path, text in PAGES.items()}
    with serve(
        Site({path: with_validators(page.encode(), etag=f'"{path}"') for path, page in pages.items()})
    ) as site:
        source, index = tmp_path / "port.yaml", tmp_path / "index"
        source.write_text(
            f"name: port\nkind: web\nseeds: ['{site.url('/docs/index.html')}']\n"
            f"allow_private: ['{site.address}']\nrate: {{per_host_delay: 0}}\n"
        )
        report = tiny.run(source, index)
        again = tiny.run(source, index)

    rows = tiny.export(index)["chunks"]
    assert {row["url"].rpartition("/")[2] for row in rows} == {"index.html", "api.html", "late.html"}
    assert report["documents"]["added"] == 6
    assert [problem["reason"] for problem in report["problems"]] == [
        "an index, which is followed and gives no passages",
        "a list of links, which is followed and gives no passages; pages: 2, such as this one",
    ]
    under = {row["section"]: row["text"] for row in rows}
    assert "A silver one." in under["Fees"]
    assert "A silver one." not in under["Tides"]
    assert next(row for row in rows if row["section"] == "The zenith")["anchor_texts"] == ["[1]", "zenith"]
    assert again["generation"] is None
    assert tiny.damage(index) == ()
