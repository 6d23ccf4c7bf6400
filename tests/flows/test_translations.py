"""Pages of a site in two languages, joined by `hreflang`: one answer of both, whatever comes or goes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.sitegraph_runs import Sitegraph

TEXTS = {
    "en": ("Bell", "The bell of the harbour rings twice when fog comes in from the sea."),
    "de": ("Glocke", "Die Glocke am Hafen, the bell of the harbour, läutet bei Nebel (fog) zweimal."),
}
QUESTIONS = {
    "en": "when does the bell of the harbour ring in fog",
    "de": "wann läutet die bell am harbour bei fog",
}


def write_page(folder: Path, language: str, *, joined: bool = True) -> None:
    """Write the page of a language, which names both."""
    title, text = TEXTS[language]
    links = (
        "".join(f"<link rel=alternate hreflang={one} href=/{one}.html>" for one in TEXTS) if joined else ""
    )
    (folder / f"{language}.html").write_text(
        f"<!doctype html><html lang={language}><meta charset=utf-8><title>{title}</title>{links}"
        f"<main><h1>{title}</h1><p>{text}</p></main>",
        encoding="utf-8",
    )


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """The folder of a site, and the source file of it."""
    folder = tmp_path / "site"
    folder.mkdir()
    for language in TEXTS:
        write_page(folder, language)
    with serve_folder(folder) as address:
        source = tmp_path / "site.yaml"
        source.write_text(
            f"name: harbour\nkind: web\nseeds: ['http://{address}/en.html']\nallow_private: ['{address}']\n"
            "rate: {per_host_delay: 0}\n"
        )
        yield folder, source


def languages(program: Sitegraph, index: Path, question: str, *options: str) -> list[str]:
    """The pages that a query shows, by their language."""
    called = program.call("query", question, "--index", str(index), "--format", "json", *options)
    assert called.returncode == 0, called.stderr
    evidence: list[dict[str, Any]] = json.loads(called.stdout)["evidence"]
    return [one["url"].rsplit("/", 1)[1].removesuffix(".html") for one in evidence]


def joined(program: Sitegraph, index: Path) -> int:
    """How many edges between translations there are."""
    return sum(edge["kind"] == "translates" for edge in program.export(index)["edges"])


def test_a_family_is_answered_from_once_in_the_language_of_the_question(
    sitegraph: Sitegraph, served: tuple[Path, Path], tmp_path: Path
) -> None:
    (folder, source), index = served, tmp_path / "index"
    sitegraph.run(source, index)
    assert joined(sitegraph, index) == 2
    for language, question in QUESTIONS.items():
        assert languages(sitegraph, index, question) == [language]
        assert languages(sitegraph, index, question, "--by", "page") == [language]
        both = languages(sitegraph, index, question, "--filter", "lang=en", "--filter", "lang=de")
        assert sorted(both) == ["de", "en"]

    write_page(folder, "de", joined=False)
    sitegraph.run(source, index)
    assert joined(sitegraph, index) == 1
    assert sorted(languages(sitegraph, index, QUESTIONS["de"])) == ["de", "en"], "who is not named back"

    stated = source.read_text()
    for scope, edges, found in (("scope: {exclude: ['**/de.html']}\n", 0, ["en"]), ("", 2, ["de"])):
        write_page(folder, "de")
        source.write_text(stated + scope)
        sitegraph.run(source, index, accept=True)
        assert joined(sitegraph, index) == edges
        assert languages(sitegraph, index, QUESTIONS["de"]) == found
