"""Words of manual pages and of AsciiDoc, held against those that mandoc and Asciidoctor show."""

import gzip
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree, html

from ingest.parse.formats.asciidoc import asciidoc_to_html
from ingest.parse.formats.man import man_to_html
from tests.quality.floors import hold

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

PAGES = Path("/usr/share/man")
GIT = Path("/usr/share/doc/git-doc")
_MOST = 25
"""Pages of a section that mandoc reads: it takes a process each."""

_WITHIN = ("b", "i", "em", "strong", "code", "span", "a", "small", "var", "kbd", "q", "cite", "sup", "sub")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def tree_of(markup: str) -> html.HtmlElement:
    """Markup without what only programs read, and without marks inside of words."""
    root = html.document_fromstring(f"<html><body>{markup or '<p>.</p>'}</body></html>")
    for other in root.xpath("//head|//script|//style|//table[@class='head']|//*[@id='toc']"):
        other.drop_tree()
    etree.strip_tags(root, *_WITHIN)
    return root


def words_of(root: html.HtmlElement) -> Counter[str]:
    return Counter(word.lower() for word in re.findall(r"\w+", "\n".join(root.itertext()).replace("’", "'")))


def headings_of(root: html.HtmlElement) -> Counter[str]:
    return Counter(" ".join(re.findall(r"\w+", one.text_content())) for one in root.iter(*_HEADINGS))


def test_of_the_words_that_mandoc_shows_nearly_all_are_kept(figures: list[str]) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("no mandoc: apt-get install mandoc")
    found: Counter[str] = Counter()
    pages = 0
    for section in sorted(PAGES.glob("man[1-8]")):
        files = sorted(path for path in section.glob("*.gz") if not path.is_symlink())
        for path in files[:: max(1, len(files) // _MOST)]:
            page = gzip.decompress(path.read_bytes())
            command = ["mandoc", "-T", "html", "-O", "fragment"]
            shown = subprocess.run(command, input=page, capture_output=True, check=False).stdout.decode()
            if page.startswith(b".so") or not shown.strip():
                continue
            wanted, ours = (
                words_of(tree_of(shown)),
                words_of(tree_of(man_to_html(page.decode(errors="replace")))),
            )
            share = (wanted & ours).total() / wanted.total()
            found.update(kept=(wanted & ours).total(), wanted=wanted.total())
            pages += 1
            figures.extend([f"  {path.name}: {share:.3f}"] if share < 0.98 else [])
    if pages < 100:
        pytest.skip(f"only {pages} manual pages on this machine")
    hold(figures, "texts", "man.words", found["kept"] / found["wanted"], note=f"of {pages} pages")


def test_of_the_words_and_headings_that_asciidoctor_shows_nearly_all_are_kept(figures: list[str]) -> None:
    if shutil.which("asciidoctor") is None or not GIT.is_dir():
        pytest.skip("no asciidoctor, or nothing for it: apt-get install asciidoctor git-doc")
    found: Counter[str] = Counter()
    files = sorted(GIT.glob("git-*.txt"))
    for path in files:
        text = re.sub(r"^include::.*$", "", path.read_text(), flags=re.MULTILINE)
        command = ["asciidoctor", "-a", "nofooter", "-o", "-", "-"]
        shown = subprocess.run(command, input=text.encode(), capture_output=True, check=False).stdout.decode()
        wanted, ours = tree_of(shown), tree_of(asciidoc_to_html(text)[0])
        found.update(kept=(words_of(wanted) & words_of(ours)).total(), wanted=words_of(wanted).total())
        headed = headings_of(wanted)
        found.update(headings=(headed & headings_of(ours)).total(), headed=headed.total())
    note = f"of {len(files)} pages of git"
    hold(figures, "texts", "asciidoc.words", found["kept"] / found["wanted"], note=note)
    hold(figures, "texts", "asciidoc.headings", found["headings"] / found["headed"], note=note)
