"""`sitegraph inspect`: one document, parsed and shown, for real in a child process."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from sitegraph.cli.app import run_app
from tests.fakes.pdfs import Text, heading, new_pdf, pdf_bytes, prose
from tests.fakes.site_server import Reply, Site, serve

PAGE = b"""<!DOCTYPE html><html lang="en"><head><title>Lamps</title>
<link rel="canonical" href="/lamps.html"><meta name="robots" content="nofollow"></head><body>
<nav class="menu"><a href="/a.html">All lamps</a></nav>
<main><h1 id="lamps">Lamps</h1><p>A lamp gives light, as <a href="wick.html#length">a wick</a> does.</p>
<h2 id="oil">Oil <a class="headerlink" href="#oil">\xc2\xb6</a></h2><p>The oil is poured in first.</p>
<p hidden>Nobody sees this.</p></main>
<footer>Made by the makers of lamps.</footer></body></html>"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(
        Site(
            {
                "/guide/lamps.html": Reply(PAGE),
                "/old.html": Reply(b"", 301, {"Location": "/guide/lamps.html"}),
            }
        )
    ) as served:
        yield served


def inspect(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run the command and give its JSON."""
    assert run_app(["inspect", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_page_is_fetched_and_shown_with_what_it_says_of_itself(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    report = inspect(capsys, site.url("/old.html"), "--allow-private", site.address)
    assert report["address"] == site.url("/guide/lamps.html")
    assert report["notes"] == [f"{site.url('/old.html')} redirects to {site.url('/guide/lamps.html')}"]
    assert (report["title"], report["lang"], report["hints"]["nofollow"]) == ("Lamps", "en", True)
    assert report["hints"]["canonical"] == site.url("/lamps.html")
    assert [(s["heading"], s["fragment"], s["chunks"]) for s in report["sections"]] == [
        ("Lamps", "lamps", [0]),
        ("Oil", "oil", [1]),
    ]
    assert [(link["position"], link["target"]) for link in report["links"]] == [
        ("nav", site.url("/a.html")),
        ("body", site.url("/guide/wick.html")),
    ]
    dropped = {block["text"]: block["reason"] for block in report["blocks"] if block["verdict"] != "read"}
    assert set(dropped) == {"All lamps", "¶", "Nobody sees this.", "Made by the makers of lamps."}
    assert dropped["All lamps"] == "nav landmark, outside of the content"
    assert dropped["Nobody sees this."] == "hidden from readers"
    assert [(chunk["in_parent"], chunk["at_place"]) for chunk in report["chunks"]] == [(True, True)] * 2


def test_what_robots_txt_forbids_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /guide/", content_type="text/plain")
    url = site.url("/guide/lamps.html")
    assert run_app(["inspect", url, "--allow-private", site.address]) == 4
    assert f"{url}: unavailable: robots.txt disallows it" in capsys.readouterr().err
    assert site.paths() == []


def test_a_private_address_must_be_named(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["inspect", site.url("/guide/lamps.html")]) == 4
    assert "unavailable" in capsys.readouterr().err
    assert site.log == []


def test_a_page_that_is_not_there_is_exit_code_4(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["inspect", site.url("/none.html"), "--allow-private", site.address]) == 4
    assert "HTTP 404" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("missing.pdf", 2, "missing.pdf: no such file"),
        (".", 2, "is not a file"),
        ("ftp://docs.example/a", 2, "give an http(s) URL or a file"),
        ("http://[nowhere/", 2, "give an http(s) URL or a file"),
        (".env", 2, "its name marks a secret"),
        ("locked.pdf", 1, "needs_password"),
        ("picture.png", 1, "of no format that is read here: pdf"),
    ],
)
def test_a_bad_document_is_one_line_and_its_exit_code(
    target: str, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    locked = new_pdf([[Text(prose("lamp"))]])
    locked.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    assert run_app(["inspect", target]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_a_page_that_cannot_be_written_is_told_before_the_parse(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["inspect", "missing.pdf", "--html", "no/such/folder/out.html"]) == 2
    assert "name a file in a folder that exists" in capsys.readouterr().err


def test_the_document_itself_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text("<p>Lamps")
    assert run_app(["inspect", "page.html", "--html", "./page.html"]) == 2
    assert "is the document itself" in capsys.readouterr().err
    assert (tmp_path / "page.html").read_text() == "<p>Lamps"


def test_a_pdf_becomes_one_page_with_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [[heading("Lamps"), Text(prose("lamp"))], [heading("Oil"), Text(prose("oil"))]]
    (tmp_path / "manual.pdf").write_bytes(pdf_bytes(pages, toc=[(1, "Lamps", 1), (1, "Oil", 2)]))
    assert run_app(["inspect", "manual.pdf", "--html", "out.html"]) == 0
    assert capsys.readouterr().out == "out.html\n"
    page = (tmp_path / "out.html").read_text()
    assert page.count("data:image/png;base64,iVBOR") == 2
    assert sorted(os.listdir()) == ["manual.pdf", "out.html"]


def test_a_markdown_file_is_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    front = "---\nid: GOV-0017\ndepends_on: GOV-0001\n---\n"
    (tmp_path / "leave.md").write_text(f"{front}# Leave\n\nAsk first.\n\n## How\n\nBy \x1b[2Jletter.\n")
    assert run_app(["inspect", "leave.md"]) == 0
    out = capsys.readouterr().out
    assert "kind      markdown, GOV-0017" in out
    assert "hint      depends_on GOV-0001" in out
    assert "    h2 How  #how  (2 words, chunk 1)" in out
    assert "\x1b" not in out


def test_an_index_is_looked_at_and_not_written_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nAsk first.\n")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert run_app(["inspect", "leave.md", "--index", str(folder)]) == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_page_is_cleaned_as_a_source_file_says_and_each_part_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files of the how-to page, and what it says that the command prints."""
    how_to = (Path(__file__).parents[5] / "docs" / "how-to" / "clean-a-site.md").read_text("utf-8")
    for name, language in (("pumps.html", "html"), ("handbook.yaml", "yaml"), ("cleaning.py", "python")):
        (block,) = re.findall(rf"^```{language}\n(.*?)^```", how_to, re.MULTILINE | re.DOTALL)
        (tmp_path / name).write_text(block)
    page, source = str(tmp_path / "pumps.html"), str(tmp_path / "handbook.yaml")

    assert run_app(["inspect", page, "--source", source]) == 0

    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  cleaned ")]
    assert "\n".join(told) in how_to
    report = inspect(capsys, page, "--source", source)
    assert [step["name"] for step in report["cleaning"]] == [
        "clean cleaning:drop_reading_times",
        "content.select '.page'",
        "content.remove '.vote'",
        "content.remove '.copy'",
        "content.title 'h1'",
    ]
    assert not any("writers" in chunk["text"] for chunk in report["chunks"])
    assert any("writers" in chunk["text"] for chunk in inspect(capsys, page)["chunks"])
