"""Sections, anchors and chunks of real sites, held against their pages and what the sites state."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from lxml import html as lxml_html

from tests.quality.floors import hold
from tests.quality.html_gold import GoldHeading, ids_of
from tests.quality.html_scores import key
from tests.quality.html_sites import SOURCES, Site, headed
from tests.quality.html_sphinx import StatedTitle, stated_titles

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1200)]

_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|section)\s+[\da-z]+[.:]?\s+|(?:[a-z]\.)?\d+(?:\.\d+)*\.?\s+|[a-z]\.(?:\d+\.?)?\s+)",
    re.IGNORECASE,
)
_HEADINGS = ("git", "debian-policy", "developers-reference", "debian-faq", "bash", "reportlab")
_SPHINX = ("flask-3.1", "flask-2.2", "requests-2.32", "requests-2.28")


@pytest.fixture(scope="module", params=sorted(SOURCES))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(SOURCES[request.param], tmp_path_factory.mktemp("site"))


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    value = request.node.callspec.params["site"]
    assert isinstance(value, str)
    return value


def keys_of(title: str) -> set[str]:
    """The ways a title reads: as it stands, and without its number."""
    return {key(title), key(_NUMBER.sub("", title))}


def share(found: int, of: int) -> float:
    assert of, "nothing to measure on"
    return found / of


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_h1_to_h4_are_the_sections_of_their_page_in_order(site: Site, figures: list[str]) -> None:
    agreed = total = 0
    for page, fragment, gold in site.gold():
        stated = [heading for heading in gold.headings if heading.level <= 4]
        ours = [key(section.heading) for section in headed(fragment) if section.level <= 4]
        total += len(stated)
        in_order = len(ours) == len(stated) and all(
            mine in keys_of(heading.text) for mine, heading in zip(ours, stated, strict=True)
        )
        agreed += len(stated) if in_order else 0
        if not in_order:
            figures.append(f"  {page}: {len(ours)} sections for {len(stated)} headings")
    hold(figures, "html", "postgresql.headings_in_order", share(agreed, total), note=f"of {total}")


@pytest.mark.parametrize("site", _HEADINGS, indirect=True)
def test_headings_are_sections_with_their_anchor(site: Site, name: str, figures: list[str]) -> None:
    found = total = 0
    for _, fragment, gold in site.gold():
        have = Counter((key(section.heading), section.fragment) for section in headed(fragment))
        for heading in gold.headings:
            total += 1
            match = next((pair for pair in ways(heading) if have[pair] > 0), None)
            have.subtract([match] if match else [])
            found += match is not None
    hold(figures, "html", f"{name}.headings_with_anchor", share(found, total), note=f"of {total}")


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_sections_of_a_reference_page_are_below_the_name_of_the_page(site: Site, figures: list[str]) -> None:
    below = total = 0
    for page, fragment in site.fragments.items():
        names = lxml_html.document_fromstring(site.pages[page]).find_class("refentrytitle")
        over = [name for name in names if name.getparent().tag == "h2"]
        if len(over) == 1:
            paths = [section.heading_path for section in headed(fragment)]
            total += len(paths)
            below += sum(key(path[0]) == key(over[0].text_content()) for path in paths)
    hold(figures, "html", "postgresql.below_page_name", share(below, total), note=f"of {total}")


def ways(heading: GoldHeading) -> Iterator[tuple[str, str | None]]:
    """Titles and anchors under which a heading may be found; None only where the page has no id for it."""
    for title in sorted(keys_of(heading.text)):
        for anchor in heading.anchors or (None,):
            yield title, anchor


@pytest.mark.parametrize("site", _SPHINX, indirect=True)
def test_titles_a_sphinx_site_states_are_sections_with_that_anchor(
    site: Site, name: str, figures: list[str]
) -> None:
    have = {
        (page.removesuffix(".html"), section.fragment, way)
        for page, fragment in site.fragments.items()
        for section in headed(fragment)
        for way in keys_of(section.heading)
    }
    titles = [title for title in stated_titles(site.folder) if is_section(site, title)]
    if any(title.is_label for title in titles):
        have |= set(labelled(site))
    missing = [
        title
        for title in titles
        if have.isdisjoint((title.page, title.anchor, way) for way in keys_of(title.title))
    ]
    figures.extend(f"  missing: {title}" for title in missing)
    hold(
        figures,
        "html",
        f"{name}.titles",
        share(len(titles) - len(missing), len(titles)),
        note=f"of {len(titles)}",
    )


def labelled(site: Site) -> Iterator[tuple[str, str | None, str]]:
    """Page, further id and heading of every passage."""
    for page, fragment in site.fragments.items():
        for chunk in fragment.chunks:
            for anchor in chunk.fragments if chunk.section else ():
                for way in keys_of(chunk.section or ""):
                    yield page.removesuffix(".html"), anchor, way


def is_section(site: Site, title: StatedTitle) -> bool:
    """Whether the page is shipped and the id is a section's: notes have titles and anchors too."""
    data = site.pages.get(f"{title.page}.html")
    if data is None:
        return False
    element = lxml_html.document_fromstring(data).get_element_by_id(title.anchor, None)
    assert element is not None, title
    around = element if element.tag in {"section", "div"} else element.getparent()
    return next(around.iterchildren("h1", "h2", "h3", "h4", "h5", "h6"), None) is not None


def test_every_fragment_of_a_chunk_is_an_id_of_its_page(site: Site, name: str, figures: list[str]) -> None:
    cited = lost = 0
    for page, fragment in site.fragments.items():
        ids = ids_of(site.pages[page])
        fragments = [chunk.fragment for chunk in fragment.chunks if chunk.fragment is not None]
        cited += len(fragments)
        lost += sum(anchor not in ids for anchor in fragments)
        trips = [chunk.round_trip for chunk in fragment.chunks if chunk.fragment is not None]
        assert trips == [anchor in ids for anchor in fragments], page
    hold(figures, "html", f"{name}.fragments_exist", share(cited - lost, cited), note=f"of {cited}")


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_targets_of_the_printed_index_lead_to_a_chunk(site: Site, figures: list[str]) -> None:
    index = site.fragments["bookindex.html"]
    targets = {
        (link.target.rpartition("/")[2], link.fragment)
        for link in index.links
        if link.fragment and not link.target.endswith("/bookindex.html")
    }
    known = {
        (page, name)
        for page, fragment in site.fragments.items()
        for chunk in fragment.chunks
        for name in (chunk.fragment, *chunk.fragments)
    }
    note = f"of {len(targets)} targets"
    hold(figures, "html", "postgresql.index_targets", share(len(targets & known), len(targets)), note=note)
