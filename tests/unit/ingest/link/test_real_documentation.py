"""Documentation of programs, as others publish it: its symbols are no entities, and its subjects are."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingest.link.catalogue import Stated, build_catalogue
from ingest.link.mentions import read_document
from ingest.link.naming import stated_names
from ingest.parse.document import ParseRequest, parse_document
from schemas.fragment import GraphFragment
from schemas.nodes import Entity, EntityType
from tests.fakes.real_sites import unpack

pytestmark = pytest.mark.data

# What a reader takes for code, told without the rules of the product: one word with a dot or an underscore
# inside or around it, or brackets behind it.
LOOKS_LIKE_CODE = re.compile(r"[^\s-]*(?:\w[._]\w|__)[^\s-]*|\S+\(\S*\)")
SITES = {"flask": "3.1", "requests": "2.32", "postgresql": "17"}
PAGES = 40


@cache
def fragments(site: str) -> tuple[GraphFragment, ...]:
    """The first pages of a site, parsed."""
    with TemporaryDirectory() as folder:
        root = unpack(f"sites/{site}.tar.xz", SITES[site], Path(folder))
        pages = sorted(root.rglob("*.html"))[:PAGES]
        assert len(pages) >= PAGES / 2
        return tuple(
            parse_document(
                page.read_bytes(),
                ParseRequest(uri=f"https://{site}.test/{page.relative_to(root)}", source=site),
                count_tokens=lambda text: len(text.split()),
            )
            for page in pages
        )


def entities(site: str) -> dict[str, Entity]:
    """All entities that the pages make, by id."""
    catalogue = build_catalogue(
        Stated(fragment.doc, name) for fragment in fragments(site) for name in stated_names(fragment)
    )
    found = dict(catalogue.entities)
    for fragment in fragments(site):
        found |= read_document(fragment, catalogue, targets={}).found
    return found


@pytest.mark.parametrize("site", SITES)
def test_symbols_of_a_program_are_no_entities_but_where_a_document_is_called_so(site: str) -> None:
    symbols = [
        entity.name
        for entity in entities(site).values()
        if LOOKS_LIKE_CODE.fullmatch(entity.name) and entity.entity_type is not EntityType.DOCUMENT
    ]
    assert symbols == []


def test_what_the_documentation_is_about_stays() -> None:
    flask = {entity.name for entity in entities("flask").values()}
    assert flask >= {"Application Factories", "Template Inheritance", "Content-Security-Policy-Report-Only"}
    assert "pg_dump" in {
        entity.name for entity in entities("postgresql").values() if entity.entity_type is EntityType.DOCUMENT
    }
