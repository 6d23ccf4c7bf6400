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
    "postgresql": ("sites", "17.11", "usr/share/doc/postgresql-doc-17/html"),
    "git": ("sites", "2.47.3", "usr/share/doc/git-doc"),
    "flask": ("sites", "3.1.1", "usr/share/doc/python-flask-doc/html"),
    "requests": ("sites", "2.32.3", "usr/share/doc/python-requests-doc/html"),
    "debian-faq": ("twins", "12.2", "usr/share/doc/debian/FAQ"),
    "reportlab": ("twins", "4.3.1", "usr/share/doc/python-reportlab-doc/html"),
    "debian-policy": ("twins", "4.7.2.0", "usr/share/doc/debian-policy/policy.html"),
    "developers-reference": ("twins", "13.20", "usr/share/developers-reference"),
    "bash": ("twins", "5.2.15-2", "usr/share/doc/bash"),
}
"""The archive and version that passages are taken from, and the folder of its pages."""

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
    archives, version, pages = SITES[reference["site"]]
    root = folder / reference["site"]
    if not root.is_dir():
        unpack(f"{archives}/{reference['site']}.tar.xz", version, root)
    page = html.parse(str(next(root.glob(f"*/{pages}")) / reference["page"]))
    texts = (" ".join(one.text_content().split()) for one in page.iter("p", "dd", "li"))
    found = next(text for text in texts if text.startswith(reference["begins"]))
    return " ".join(page.find(".//title").text_content().split()), found
