"""PDFs of many producers from packages of Debian: fetched when they are measured, never kept in the project.

    python -m tests.quality.pdf_collection FOLDER [--model] [PACKAGE...]

Fetches each package into FOLDER with apt-get, takes out its PDFs, parses them, and prints a line for each:
its producer, pages, tables, CPU seconds a page, and how many chunks are not found where they say. At the end
it prints the share found for each producer and in all, and how many tables it sees on pages where people
counted them. Without --model rulings and lined-up texts decide, which costs a tenth of the time.
"""

import argparse
import gzip
import os
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pymupdf

from ingest.parse.pdf import reading
from schemas.fragment import GraphFragment
from schemas.nodes import RegionType
from tests.quality.pdf_boxes import lost_chunks
from tests.quality.pdf_documents import parse_file, regions_of

PACKAGES = (
    "r-cran-xtable",
    "r-cran-lme4",
    "r-cran-sandwich",
    "r-cran-survival",
    "r-cran-vcd",
    "abinit-doc",
    "asymptote-doc",
    "docbook-xsl-doc-pdf",
    "ghostscript-doc",
    "groff",
    "maint-guide",
    "python-reportlab-doc",
    "xfig-doc",
    "cups-filters",
    "debian-reference-en",
    "fonts-sil-abyssinica",
    "fonts-sil-andika",
    "fonts-sil-charis",
    "fonts-sil-padauk",
    "gnuplot-doc",
    "latex-make",
    "r-cran-rcpp",
)
MOST_FILES, LEAST_BYTES, MOST_BYTES = 8, 15_000, 9_000_000

COUNTED = {
    "lmer.pdf": {5: 1, 7: 1, 8: 2, 10: 0, 19: 1, 34: 0},
    "population.pdf": {1: 0, 6: 0},
    "strucplot.pdf": {2: 1, 7: 1},
    "xtableGallery.pdf": {4: 0, 10: 4, 22: 2},
    "asymptote.pdf": {116: 0},
}
"""Tables by file and page, counted by eye; output of programs set as a listing is none."""


def main() -> None:
    """Fetch, parse and print."""
    arguments = argparse.ArgumentParser(description="Measure PDFs of many producers.")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("packages", nargs="*", default=PACKAGES)
    arguments.add_argument("--model", action="store_true")
    given = arguments.parse_intermixed_args()
    if not given.model:
        reading.MAX_LAYOUT_PAGES = 0
    lost: Counter[str] = Counter()
    total: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for package in given.packages:
        for file in fetch(package, given.folder / package):
            measure(file, lost, total, counted)
    for producer in sorted(name for name, chunks in total.items() if chunks):
        print(f"{producer}: {1 - lost[producer] / total[producer]:.4f} of {total[producer]} found")
    print(f"all: {1 - lost.total() / total.total():.4f} of {total.total()} found")
    print(f"tables counted by eye {counted['gold']}, found {counted['found']}, on both {counted['both']}")


def fetch(package: str, folder: Path) -> list[Path]:
    """Return the PDFs of a package, fetched once."""
    if not folder.is_dir():
        with TemporaryDirectory() as place:
            os.chmod(place, 0o777)  # apt fetches as a user of its own
            subprocess.run(["apt-get", "download", "-qq", package], cwd=place, check=True, timeout=300)
            (archive,) = Path(place).glob("*.deb")
            found = list(_pdfs(archive))
        folder.mkdir(parents=True)
        for name, data in found:
            (folder / name).write_bytes(data)
    return sorted(folder.glob("*.pdf"))


def _pdfs(archive: Path) -> Iterator[tuple[str, bytes]]:
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    taken = 0
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as members,
    ):
        for member in members:
            name = Path(member.name).name
            is_pdf = member.isfile() and name.endswith((".pdf", ".pdf.gz"))  # packages have links, too
            content = members.extractfile(member) if is_pdf else None
            if content is None or member.size > MOST_BYTES or taken == MOST_FILES:
                continue
            data = content.read()
            data = gzip.decompress(data) if name.endswith(".gz") else data
            if len(data) >= LEAST_BYTES:
                taken += 1
                yield name.removesuffix(".gz"), data


def measure(file: Path, lost: Counter[str], total: Counter[str], counted: Counter[str]) -> None:
    """Parse one file and add what came of it."""
    data = file.read_bytes()
    with pymupdf.open(stream=data, filetype="pdf") as document:
        pages = document.page_count
        producer = (document.metadata or {}).get("producer") or "unnamed"
    began = os.times()
    fragment = parse_file(data, file.name)
    now = os.times()
    seconds = now.user + now.system - began.user - began.system
    producer = producer.replace("GPL ", "").split()[0].split("-")[0]
    missed = len(lost_chunks(data, fragment))
    lost[producer] += missed
    total[producer] += len(fragment.chunks)
    tables = _tables(fragment)
    for page_no, gold in COUNTED.get(file.name, {}).items():
        counted["gold"] += gold
        counted["found"] += tables[page_no]
        counted["both"] += min(gold, tables[page_no])
    print(
        f"{file.parent.name}/{file.name}: {producer}, {pages} pages, {tables.total()} tables, "
        f"{seconds / max(pages, 1):.3f} CPU-s a page, {missed} of {len(fragment.chunks)} chunks not found",
        flush=True,
    )


def _tables(fragment: GraphFragment) -> Counter[int]:
    return Counter(region.page_no for region in regions_of(fragment, RegionType.TABLE))


if __name__ == "__main__":
    main()
