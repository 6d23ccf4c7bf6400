"""Passages of real documents that sentences were written about; the texts stay where they are."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from schemas.evidence import Evidence
from tests.fakes.plain_evidence import plain_evidence
from tests.fakes.real_sites import DATA, unpack

SITES = {
    "postgresql": ("17.11", "postgresql-doc-17/html"),
    "git": ("2.47.3", "git-doc"),
    "flask": ("3.1.1", "python-flask-doc/html"),
    "requests": ("2.32.3", "python-requests-doc/html"),
}
"""The version that passages are taken from, and the folder of its pages."""

Reference = dict[str, str]


def find_passage(label: str, reference: Reference, folder: Path) -> Evidence:
    """Return passage that *reference* means: a text of a corpus or a paragraph of a page, by its beginning.

    Pages are unpacked into *folder*. Skips where there is no data folder.
    """
    if not DATA.is_dir():
        pytest.skip(f"no real documents: {DATA} is not there")
    title, text = _of_corpus(reference) if "qa" in reference else _of_page(reference, folder)
    return plain_evidence(label, text, heading_path=(title,))


def _of_corpus(reference: Reference) -> tuple[str, str]:
    title, begins = reference["title"], reference.get("begins", "")
    texts = [text for name, text in _corpus(reference["qa"]) if name == title and text.startswith(begins)]
    return title, texts[0]


@cache
def _corpus(name: str) -> tuple[tuple[str, str], ...]:
    corpus: Any = json.loads((DATA / "qa" / name / "corpus.json").read_text("utf-8"))
    if isinstance(corpus, dict):
        return tuple((title, "".join(parts)) for title, parts in corpus.items())
    return tuple((one["title"], one.get("text") or one.get("paragraph_text")) for one in corpus)


def _of_page(reference: Reference, folder: Path) -> tuple[str, str]:
    version, pages = SITES[reference["site"]]
    root = folder / reference["site"]
    if not root.is_dir():
        unpack(f"sites/{reference['site']}.tar.xz", version, root)
    page = html.parse(str(next(root.glob(f"*/usr/share/doc/{pages}")) / reference["page"]))
    texts = (" ".join(one.text_content().split()) for one in page.iter("p", "dd", "li"))
    found = next(text for text in texts if text.startswith(reference["begins"]))
    return " ".join(page.find(".//title").text_content().split()), found
