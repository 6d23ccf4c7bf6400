"""Two real versions of git's and of Flask's manual in one index: what is answered from which."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from indexes.publish.current import read_current
from schemas.ids import normalise_text
from sitegraph.cli.demo_script import serve_folder
from tests.fakes.copies import copy_index
from tests.fakes.neo4j_runs import index as neo4j_index
from tests.fakes.neo4j_runs import on_neo4j
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph
from tests.flows.test_real_sites import write_source

pytestmark = [pytest.mark.server, pytest.mark.data]
__all__ = ["neo4j_index", "on_neo4j"]

PAGES = ("git-stash.html", "git-annotate.html", "git-verify-tag.html", "git-whatchanged.html")
ONLY_OLD = "git-archimport.html"
OLD, NEW = "2.30.2", "2.47.3"
BY_URL = "family: git\nversion: {url: '/docs/([^/]+)/'}\nscope: {max_depth: 0}\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of two versions under `docs/`; one is the same in both, byte for byte, one only in the old."""
    folder = tmp_path_factory.mktemp("versions")
    for version in (OLD, NEW):
        unpacked = unpack("sites/git.tar.xz", version, folder / "unpacked" / version)
        served = folder / "served" / "docs" / version
        served.mkdir(parents=True)
        for page in (*PAGES, *((ONLY_OLD,) if version == OLD else ())):
            shutil.copy(next(unpacked.rglob(page)), served / page)
    docs = folder / "served" / "docs"
    shutil.copy(docs / NEW / "git-whatchanged.html", docs / OLD / "git-whatchanged.html")
    return folder / "served"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    with serve_folder(site) as address:
        yield address


def seeds(site: Path) -> list[str]:
    return sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))


@pytest.fixture(scope="module")
def built(sitegraph: Sitegraph, site: Path, served: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families")
    source = write_source(folder, served, seeds=seeds(site), more=BY_URL)
    report = sitegraph.run(source, folder / "index")
    assert report["documents"]["added"] == len(seeds(site)), "none is a copy of its other version"
    return folder


def ask(program: Sitegraph, index: Path, text: str, *options: str) -> list[dict[str, Any]]:
    called = program.call("query", text, "--index", str(index), "--format", "json", *options)
    assert called.returncode == 0, called.stderr
    evidence = json.loads(called.stdout)["evidence"]
    texts = [normalise_text(one["text"]) for one in evidence]
    assert len(set(texts)) == len(texts), "a passage came twice"
    return list(evidence)


def versions_in(evidence: list[dict[str, Any]]) -> set[str]:
    for one in evidence:
        assert f"/docs/{one['versions']['version']}/" in one["url"]
    return {one["versions"]["version"] for one in evidence}


def test_a_query_answers_from_the_latest_of_each_page(sitegraph: Sitegraph, built: Path) -> None:
    found = ask(sitegraph, built / "index", "how do I stash untracked files", "--top-k", "20")
    pages = {one["url"].rsplit("/", 1)[1]: one["versions"] for one in found}
    assert {page for page, of in pages.items() if of["version"] == OLD} <= {ONLY_OLD}
    assert pages["git-stash.html"]["version"] == NEW

    (first, *_) = ask(sitegraph, built / "index", "import a GNU Arch repository")
    assert first["versions"] == {"family": "git", "version": OLD, "also_in": [], "not_in": [NEW]}
    shown = sitegraph.call("query", "import a GNU Arch repository", "--index", str(built / "index"))
    assert f"git {OLD} (not in {NEW})" in shown.stdout


def test_a_version_and_all_versions(sitegraph: Sitegraph, built: Path) -> None:
    question = "show logs with the differences that each commit introduces"
    old = ask(sitegraph, built / "index", question, "--version", OLD)
    assert versions_in(old) == {OLD}
    everything = ask(sitegraph, built / "index", question, "--version", "all", "--top-k", "30")
    assert versions_in(everything) == {OLD, NEW}
    same = [one for one in everything if one["url"].endswith("git-whatchanged.html")]
    assert same
    for one in same:  # the page is the same in both
        assert (one["versions"]["version"], one["versions"]["also_in"]) == (NEW, [OLD])


def test_an_unknown_version_is_one_line_that_names_those_there_are(sitegraph: Sitegraph, built: Path) -> None:
    for arguments in (["query", "x", "--version", "9"], ["ask", "x", "--version", "9"]):
        called = sitegraph.call(*arguments, "--index", str(built / "index"))
        assert called.returncode == 2
        assert called.stderr == f"sitegraph: version '9': no manual has it; known: git {NEW}, {OLD}\n"


def test_ask_answers_from_the_version_that_is_asked_for(sitegraph: Sitegraph, built: Path) -> None:
    for mode in ("plain", "dual", "iterative"):
        options = ["--mode", mode, "--version", OLD, "--index", str(built / "index"), "--format", "json"]
        called = sitegraph.call("ask", "How do I stash untracked files?", *options)
        assert called.returncode == 0, called.stderr
        evidence = json.loads(called.stdout)["bundle"]["evidence"]
        assert evidence
        assert all(f"/docs/{OLD}/" in one["url"] for one in evidence), mode


def test_diff_versions_says_what_the_pages_say(sitegraph: Sitegraph, site: Path, built: Path) -> None:
    called = sitegraph.call("diff-versions", OLD, NEW, "--index", str(built / "index"), "--format", "json")
    assert called.returncode == 0, called.stderr
    found = json.loads(called.stdout)
    assert [one["address"].rsplit("/", 1)[1] for one in found["removed"]] == [ONLY_OLD]
    assert found["added"] == found["renamed"] == []
    assert found["unchanged"] == 1  # the page that is the same

    told = 0
    for pair in found["changed"]:
        name = pair["new"]["address"].rsplit("/", 1)[1]
        old, new = (words_of(site / "docs" / version / name) for version in (OLD, NEW))
        for section in pair["sections"]:
            for piece in section["pieces"]:
                said = words(piece["text"])
                if len(said) > 40:
                    continue  # a list that the parser writes in its own way
                told += piece["mark"] != "same"
                assert piece["mark"] == "added" or said in old
                assert piece["mark"] == "removed" or said in new
    assert told > 5


def words(text: str) -> str:
    return re.sub(r"[^\w.,;-]+", "", text)


def words_of(page: Path) -> str:
    return words(html.fromstring(page.read_bytes()).text_content())


def test_diff_versions_refuses_what_is_not_there(sitegraph: Sitegraph, built: Path) -> None:
    for arguments, told in (
        ([OLD, "9"], f"version '9': no manual has it; known: git {NEW}, {OLD}"),
        ([OLD, NEW, "--family", "pg"], f"--family pg: no manual has this name; known: git {NEW}, {OLD}"),
    ):
        called = sitegraph.call("diff-versions", *arguments, "--index", str(built / "index"))
        assert (called.returncode, called.stderr) == (2, f"sitegraph: {told}\n")
    names = sitegraph.call("diff-versions", OLD, NEW, "--names-only", "--index", str(built / "index"))
    assert ONLY_OLD in names.stdout
    assert "{+" not in names.stdout


def test_status_names_the_manual_and_its_versions(sitegraph: Sitegraph, built: Path) -> None:
    shown = sitegraph.call("status", "--index", str(built / "index"))
    assert f"manual git: {NEW} ({len(PAGES)} documents), {OLD} ({len(PAGES) + 1} documents)" in shown.stdout


def test_a_new_name_of_the_manual_is_published_though_no_row_changes(
    sitegraph: Sitegraph, site: Path, served: str, built: Path, tmp_path: Path
) -> None:
    index = copy_index(built / "index", tmp_path / "index")
    same = write_source(tmp_path, served, seeds=seeds(site), more=BY_URL)
    assert sitegraph.run(same, index)["generation"] is None
    before = sitegraph.export(index)

    renamed = write_source(
        tmp_path, served, seeds=seeds(site), more=BY_URL.replace("family: git", "family: scm")
    )
    report = sitegraph.run(renamed, index)

    assert report["generation"] == read_current(index) == 2
    assert report["chunks"]["embedded"] == report["documents"]["changed"] == 0
    assert sitegraph.export(index) == before
    assert sitegraph.damage(index) == ()
    (first, *_) = ask(sitegraph, index, "import a GNU Arch repository")
    assert first["versions"]["family"] == "scm"


@pytest.mark.long
def test_without_the_family_versions_are_no_manual_any_more(
    sitegraph: Sitegraph, site: Path, served: str, built: Path, tmp_path: Path
) -> None:
    index = copy_index(built / "index", tmp_path / "index")
    plain = write_source(tmp_path, served, seeds=seeds(site), more="scope: {max_depth: 0}\n")
    sitegraph.run(plain, index, accept=True)
    fresh = tmp_path / "fresh"
    sitegraph.run(plain, fresh)

    assert sitegraph.export(index) == sitegraph.export(fresh)
    assert "families" not in json.loads((fresh / "generations" / "1.json").read_text())
    assert all(one["versions"] is None for one in ask(sitegraph, index, "stash untracked files"))


@pytest.fixture(scope="module")
def flask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """Two versions of Flask's manual, at addresses that do not say which."""
    folder, names = tmp_path_factory.mktemp("flask"), []
    for version, name in (("2.2", "old"), ("3.1", "new")):
        unpacked = unpack("sites/flask.tar.xz", version, folder / "unpacked" / version)
        manual = next(unpacked.rglob("quickstart.html")).parent
        (folder / "served" / name).mkdir(parents=True)
        for page in ("signals.html", "views.html", "lifecycle.html", "async-await.html"):
            if (manual / page).exists():
                shutil.copy(manual / page, folder / "served" / name / page)
                names.append(f"{name}/{page}")
    with serve_folder(folder / "served") as address:
        yield address, names


@pytest.mark.neo4j
@pytest.mark.long
def test_sources_whose_pages_say_their_version_are_joined_over_neo4j(
    on_neo4j: Sitegraph, neo4j_index: Path, flask: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, names = flask
    for source in ("old", "new"):
        written = write_source(
            tmp_path,
            address,
            seeds=[name for name in names if name.startswith(source)],
            more=r"family: flask"
            + "\nversion: {title: 'Documentation \\((\\S+)\\)'}\nscope: {max_depth: 0}\n",
        )
        text = written.read_text().replace("name: real", f"name: flask-{source}")
        path = tmp_path / f"{source}.yaml"
        path.write_text(text)
        on_neo4j.run(path, neo4j_index, graph="neo4j")

    status = on_neo4j.call("status", "--index", str(neo4j_index), "--format", "json")
    counts = json.loads(status.stdout)["families"]["flask"]
    assert list(counts) == ["3.1.x", "2.2.x"]

    latest = ask(on_neo4j, neo4j_index, "how do I subscribe to a signal", "--top-k", "20")
    of_page = {one["url"].rsplit("/", 1)[1]: one["versions"] for one in latest}
    both = {name.split("/")[1] for name in names if name.startswith("old")} & {
        name.split("/")[1] for name in names if name.startswith("new")
    }
    assert of_page["signals.html"]["version"] == "3.1.x"
    assert {of["version"] for page, of in of_page.items() if page in both} == {"3.1.x"}
    assert any("2.2.x" in one["versions"]["also_in"] for one in latest)
    old = ask(on_neo4j, neo4j_index, "how do I subscribe to a signal", "--version", "flask=2.2.x")
    assert {one["versions"]["version"] for one in old} == {"2.2.x"}
    assert all("/old/" in one["url"] for one in old)
    assert on_neo4j.damage(neo4j_index) == ()
