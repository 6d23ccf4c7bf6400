"""Pages of which a sitemap, or a header, says that they are one in several languages: as if the pages did."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.fakes.site_server import Reply, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Rows, Sitegraph
from tests.flows.test_translations import QUESTIONS, TEXTS, joined, languages

pytestmark = pytest.mark.server

ALL = {language: tuple(TEXTS) for language in TEXTS}
"""Each page names both."""


def html(language: str) -> bytes:
    title, text = TEXTS[language]
    return (
        f"<!doctype html><html lang={language}><meta charset=utf-8><title>{title}</title>"
        f"<main><h1>{title}</h1><p>{text}</p></main>"
    ).encode()


def sitemap(site: Site, families: Mapping[str, tuple[str, ...]]) -> Reply:
    """A sitemap of these pages, each with the forms that it names."""
    urls = "".join(
        f"<url><loc>{site.url(f'/{language}.html')}</loc>"
        + "".join(
            f'<xhtml:link rel="alternate" hreflang="{form}" href="{site.url(f"/{form}.html")}"/>'
            for form in forms
        )
        + "</url>"
        for language, forms in families.items()
    )
    body = (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        f'xmlns:xhtml="http://www.w3.org/1999/xhtml">{urls}</urlset>'
    )
    return Reply(body.encode(), content_type="application/xml")


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {f"/{language}.html": with_validators(html(language), etag=f'"{language}"') for language in TEXTS}
    with serve(Site(pages)) as served:
        served.pages["/sitemap.xml"] = sitemap(served, ALL)
        yield served


def write_source(folder: Path, site: Site) -> Path:
    path = folder / "harbour.yaml"
    path.write_text(
        f"name: harbour\nkind: web\nseeds: ['{site.url('/en.html')}']\nallow_private: ['{site.address}']\n"
        "rate: {per_host_delay: 0}\nrecrawl: {gone_after: {misses: 1, hours: 0}}\n"
    )
    return path


def shown(program: Sitegraph, index: Path) -> dict[str, Rows]:
    return program.export(index)


def test_a_family_that_a_sitemap_lists_is_answered_from_once(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, site), tmp_path / "index"
    sitegraph.run(source, index)

    assert joined(sitegraph, index) == 2
    for language, question in QUESTIONS.items():
        assert languages(sitegraph, index, question) == [language]
    why = sitegraph.call("why", site.url("/en.html"), "--index", str(index))
    assert site.url("/de.html") in why.stdout
    proof = sitegraph.call("verify", "--index", str(index), "--rebuild", "--quiet")
    assert proof.returncode == 0, proof.stdout + proof.stderr


def test_whatever_a_sitemap_says_next_the_index_is_as_one_built_anew(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, site), tmp_path / "index"
    said: tuple[tuple[Mapping[str, tuple[str, ...]], int], ...] = (
        (ALL, 2),
        (ALL, 2),
        ({"en": ("en", "de"), "de": ("de",)}, 1),  # who is not named back
        ({"en": (), "de": ()}, 0),
        (ALL, 2),
        ({"en": ("en", "de")}, 1),
        ({}, 0),
        ({"en": ("en", "fr", "x-default"), "de": ("de", "en")}, 1),  # what is not there
    )
    for number, (families, edges) in enumerate(said):
        site.pages["/sitemap.xml"] = sitemap(site, families)
        site.log.clear()
        sitegraph.run(source, index)
        assert joined(sitegraph, index) == edges, families
        if number:
            assert site.paths().count("/de.html") == 1, "what is parsed again is not fetched for that"
        sitegraph.run(source, tmp_path / f"anew-{number}")
        # The German page is only known by what sitemaps listed before.
        if "de" in families:
            assert shown(sitegraph, index) == shown(sitegraph, tmp_path / f"anew-{number}"), families


def test_a_page_that_goes_takes_its_edges_along_and_a_sitemap_that_is_unwell_none(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, site), tmp_path / "index"
    sitegraph.run(source, index)
    generation = sitegraph.run(source, index)["generation"]

    for unwell in (Reply(b"", 503), Reply(b"<urlset><url><loc>/fr</loc></url><", content_type="text/xml")):
        site.pages["/sitemap.xml"] = unwell
        assert sitegraph.run(source, index)["generation"] == generation
    assert joined(sitegraph, index) == 2

    site.pages["/sitemap.xml"] = sitemap(site, ALL)
    site.pages["/de.html"] = Reply(b"gone", 410)
    sitegraph.run(source, index, accept=True)
    assert joined(sitegraph, index) == 0


def test_a_family_that_headers_name_is_joined_and_taken_apart_with_them(
    sitegraph: Sitegraph, site: Site, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, site), tmp_path / "index"
    site.pages["/sitemap.xml"] = sitemap(site, {"en": (), "de": ()})
    named = ", ".join(f'</{one}.html>; rel="alternate"; hreflang="{one}"' for one in TEXTS)
    for headers, edges in (({"Link": named}, 2), ({}, 0)):
        for language in TEXTS:
            site.pages[f"/{language}.html"] = Reply(html(language), headers=headers)
        sitegraph.run(source, index)
        assert joined(sitegraph, index) == edges
