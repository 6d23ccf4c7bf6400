"""`sitegraph lint` on real manuals: what was broken in them is found, and what was not is left alone."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.data]

HTML = "usr/share/doc/python-requests-doc/html"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual of Requests, its own pages without those of its source code."""
    folder = unpack("sites/requests.tar.xz", "2.32.3", tmp_path_factory.mktemp("requests"))
    html = next(folder.glob(f"*/{HTML}"))
    shutil.rmtree(html / "_modules")
    return html


def spoil(html: Path) -> None:
    """Break a manual: a page gone, an id renamed, a page that nothing leads to."""
    (html / "community" / "updates.html").unlink()
    quickstart = html / "user" / "quickstart.html"
    text = quickstart.read_text()
    assert text.count('id="timeouts"') == 1
    quickstart.write_text(text.replace('id="timeouts"', 'id="waiting"'))
    faq = (html / "community" / "faq.html").read_text()
    (html / "lost.html").write_text(
        "<html><head><title>Lost</title></head><body><h1>A page that nobody finds</h1>"
        f"<p>It has a text of its own and {len(faq)} reasons to be read.</p></body></html>"
    )


def lint(program: Sitegraph, index: Path, *options: str, code: int) -> dict[str, Any]:
    done = program.call("lint", "--index", str(index), "--format", "json", "--quiet", *options)
    assert done.returncode == code, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def rules_of(record: dict[str, Any]) -> set[str]:
    return {one["rule"] for one in record["findings"]}


def test_what_was_broken_in_a_folder_is_found_with_file_and_line(
    tiny: Sitegraph, manual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = shutil.copytree(manual, tmp_path / "docs")
    source = tmp_path / "manual.yaml"
    source.write_text("name: manual\nkind: files\nroots: [docs]\n")
    index, baseline = tmp_path / "index", tmp_path / "baseline.json"
    monkeypatch.chdir(tmp_path)
    tiny.run(source, index)
    assert tiny.call("lint", "--index", str(index), "--write-baseline", str(baseline)).returncode == 0
    assert lint(tiny, index, "--baseline", str(baseline), code=0)["findings"] == []

    spoil(html)
    tiny.run(source, index, accept=True)
    record = lint(tiny, index, "--baseline", str(baseline), code=1)

    by_rule = {one["rule"]: one for one in record["findings"]}
    assert {"dead-link", "dead-fragment", "orphan"} == set(by_rule)
    assert by_rule["orphan"]["places"][0]["path"] == "docs/lost.html"
    assert "community/updates.html" in by_rule["dead-link"]["message"]
    assert "#timeouts" in by_rule["dead-fragment"]["message"]
    for place in by_rule["dead-fragment"]["places"]:
        line = (tmp_path / place["path"]).read_text().splitlines()[place["line"] - 1]
        assert "timeouts" in line
    again = tiny.call("lint", "--index", str(index), "--format", "json", "--quiet", "--fail-on", "never")
    assert again.returncode == 0
    log = tiny.call("lint", str(source), "--index", str(index), "--format", "sarif", "--quiet")
    results = json.loads(log.stdout)["runs"][0]["results"]
    assert {one["ruleId"] for one in results} >= set(by_rule)
    assert all(
        (tmp_path / one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]).is_file()
        for one in results
    )

    source.write_text(
        source.read_text()
        + "lint:\n  disable: [dead-link, dead-fragment]\n  ignore:\n    - {rule: '*', path: '*.html'}\n"
    )
    assert lint(tiny, index, str(source), code=0)["findings"] == []


def test_a_site_that_answers_404_has_a_dead_link(tiny: Sitegraph, manual: Path, tmp_path: Path) -> None:
    html = shutil.copytree(manual, tmp_path / "docs")
    spoil(html)
    index = tmp_path / "index"
    with serve_folder(html) as address:
        source = tmp_path / "site.yaml"
        source.write_text(
            f"name: site\nkind: web\nseeds: ['http://{address}/index.html']\nallow_private: ['{address}']\n"
            "rate: {per_host_delay: 0}\n"
        )
        tiny.run(source, index)

    record = lint(tiny, index, "--rules", "dead-link,dead-fragment", code=1)

    dead = {one["message"].partition(" (")[0] for one in record["findings"] if one["rule"] == "dead-link"}
    assert f"links to http://{address}/community/updates.html, which answers 404" in dead
    assert rules_of(record) == {"dead-link", "dead-fragment"}
    text = tiny.call("lint", "--index", str(index), "--rules", "dead-link", "--fail-on", "never", "--quiet")
    assert text.stdout.startswith(f"http://{address}/")
    assert text.stdout.splitlines()[-1] == f"{len(dead)} errors"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rules", "no-such"], "has no no-such; known: dead-fragment"),
        (["--rules", "orphan,-dead-link"], "use one of them"),
        (["--baseline", "none.json"], "--write-baseline"),
        (["--baseline", "a", "--write-baseline", "b"], "give one of them"),
        (["none.yaml"], "cannot be read"),
        ([], "index"),
    ],
)
def test_what_is_asked_wrongly_is_one_line_and_code_2(
    tiny: Sitegraph, tmp_path: Path, options: list[str], said: str
) -> None:
    done = tiny.call("lint", "--index", str(tmp_path / "none"), *options)

    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
