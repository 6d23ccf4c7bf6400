"""docs/build.py: the manual as a site."""

import re
import shutil
from pathlib import Path

import pytest

from docs.build import build_site
from docs.pdf import DOCS
from sitegraph.cli.demo_script import serve_folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("manual") / "site")


def test_every_page_has_navigation_a_sidebar_and_a_footer(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]

    assert len(pages) > 20
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert '<nav data-toggle="wy-nav-shift" class="wy-nav-side' in html
        assert 'role="navigation"' in html
        assert 'role="main"' in html
        assert "<footer>" in html


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    tag = r"""<(?:script|img|link|iframe)[^>]+(?:src|href)=["'](?:https?:)?//"""
    loads = tag + r"""|@import|url\(["']?(?:https?:)?//"""
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        assert re.findall(loads, path.read_text(encoding="utf-8")) == [], path


def test_the_site_links_to_the_pdf_that_lies_in_it(site: Path) -> None:
    assert 'href="manual.pdf"' in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "manual.pdf").read_bytes().startswith(b"%PDF-")


def test_building_again_removes_what_is_no_page_rewrites_nothing_and_prints_nothing_on_stdout(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file()}
    (site / "forgotten.html").write_text("<p>left over</p>")

    build_site(site)

    assert {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file()} == before
    assert capfd.readouterr().out == ""


@pytest.mark.long
def test_an_edit_rewrites_its_page_the_pdf_and_the_dated_front_page_only(site: Path, tmp_path: Path) -> None:
    docs, out = tmp_path / "docs", tmp_path / "site"
    shutil.copytree(DOCS, docs)
    shutil.copytree(site, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    with (docs / "stores.md").open("a", encoding="utf-8") as page:
        page.write("\nA sentence that was not there before.\n")

    build_site(out, docs=docs)

    changed = {str(path.relative_to(out)) for path, at in before.items() if path.stat().st_mtime_ns != at}
    # index.html carries the date of the newest source in a comment, sitemap.xml.gz in its header.
    assert (
        {"stores.html", "manual.pdf"}
        <= changed
        <= {"stores.html", "manual.pdf", "index.html", "sitemap.xml.gz"}
    )
    assert "A sentence that was not there before." in (out / "stores.html").read_text(encoding="utf-8")


def test_a_dead_link_between_pages_stops_the_build(tmp_path: Path) -> None:
    from mkdocs.exceptions import Abort

    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    with (docs / "stores.md").open("a", encoding="utf-8") as page:
        page.write("\nSee [the file that is not there](nowhere.pdf).\n")

    with pytest.raises(Abort):
        build_site(tmp_path / "site", docs=docs)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("searched") / "site", search=True)


def test_the_search_box_finds_a_section_by_keyboard_alone(searched: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra js is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with serve_folder(searched) as host, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, address = browser.new_page(), f"http://{host}"
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/how-to/embed-in-a-service.html")
        page.wait_for_selector("#search input", timeout=120_000)
        page.keyboard.press("/")
        page.keyboard.type("lease fencing token")
        found = page.wait_for_selector(".pagefind-ui__result-link", timeout=120_000)
        assert found is not None
        link = found.get_attribute("href") or ""
        page.goto(f"{address}{link}")
        assert "lease" in page.inner_text("[role=main]").lower()
        browser.close()
    assert all(url.startswith((address, "data:", "blob:")) for url in asked), "nothing comes from elsewhere"


def test_a_site_without_search_has_no_box(site: Path) -> None:
    assert 'id="search"' not in (site / "index.html").read_text(encoding="utf-8")
