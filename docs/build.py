"""Build the manual: an HTML site, and the same pages as one PDF with an outline.

    python docs/build.py --out build/manual --search

With `--search` the site has a search box. It reads files beside the pages (pagefind), so any static server
will do. `docs` is a folder of the checkout and is not in the wheel. Nothing is fetched, and equal sources
give equal bytes, so that a recrawl of the manual sees only real edits.
"""

import argparse
import filecmp
import io
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

from docs.navigation import read_settings
from docs.pdf import DOCS, build_pdf

PDF_NAME = "manual.pdf"
THEME = DOCS / "theme"
MAIN = "[role=main]"


def main() -> None:
    """Build the site into the folder that `--out` names and print where it is."""
    parser = argparse.ArgumentParser(description="Build the manual as an HTML site with a PDF in it.")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the site; made equal to the build"
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the Markdown pages")
    parser.add_argument("--search", action="store_true", help="add a search box; needs the package pagefind")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(message)s")
    print(build_site(options.out, docs=options.docs, search=options.search))


def build_site(output: Path, *, docs: Path = DOCS, search: bool = False) -> Path:
    """Make *output* the HTML site of the pages in *docs*, with the PDF beside its index.

    Files whose bytes are already right are left alone, so a server that answers conditional requests
    by modification time says 304 for them; anything else in *output* is removed.
    """
    with TemporaryDirectory() as scratch:
        pages, site = Path(scratch) / "docs", Path(scratch) / "site"
        # MkDocs checks links against the files beside the pages, and the PDF must be one of them.
        shutil.copytree(docs, pages)
        build_pdf(pages / PDF_NAME, docs=docs)
        _run_mkdocs(site, docs=pages, search=search)
        if search:
            _index(site)
        _mirror(site, output)
    return output


def _index(site: Path) -> None:
    """Write what the search box reads: of each page its text, without the navigation."""
    command = [sys.executable, "-m", "pagefind", "--quiet", "--site", str(site), "--root-selector", MAIN]
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            "docs/build.py: --search needs pagefind; run: pip install 'pagefind[bin]'"
        ) from error


def _run_mkdocs(output: Path, *, docs: Path, search: bool) -> None:
    named = {**read_settings(docs), "extra": {"search": search}}
    named["theme"] = {**named["theme"], "custom_dir": str(THEME)}
    # A stream without a name: MkDocs refuses a configuration file inside the folder of the pages.
    settings = io.BytesIO(yaml.safe_dump(named, sort_keys=False).encode())
    with _build_date(_newest_change(docs)):
        config: Any = load_config(settings, docs_dir=str(docs), site_dir=str(output))
        build(config)


def _newest_change(docs: Path) -> int:
    return max(int(path.stat().st_mtime) for path in docs.rglob("*.md"))


@contextmanager
def _build_date(epoch: int) -> Iterator[None]:
    """Date the build by its sources; a page would otherwise differ each day it is built."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = before or str(epoch)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]


def _mirror(source: Path, target: Path) -> None:
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()
    for name in sorted(wanted):
        kept = target / name
        if not (kept.is_file() and filecmp.cmp(source / name, kept, shallow=False)):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, kept)


if __name__ == "__main__":
    main()
