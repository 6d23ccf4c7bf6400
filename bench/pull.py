"""What a copy of an index costs: `pull` after a change of a site, and a reader of an index in object storage.

    python -m bench.pull FOLDER [--rounds 3] [--copies 6]
    python -m bench.pull --index INDEX [--copies 6]

FOLDER has the HTML pages of a real site. Each round changes one page in a hundred, those of middling size
first, publishes, and pulls: a page that holds a fifth of the text would be no change of one per cent. The
index is then made --copies times as large and put into a bucket of moto's server, and the same question is
asked of the folder and of the bucket, each time by a process of its own. With --index an index that is there
is made larger and asked, and nothing is pulled. Prints one JSON object; ends with 1 where an aim is missed.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.comparison import Figures, conclude
from bench.enlarge import enlarge
from indexes.copies.places import open_place
from indexes.copies.pull import PullOptions, pull
from indexes.layout import IndexLayout, VectorSpace, load_manifest
from indexes.places import bucket_of, folder_bytes, index_place
from indexes.publish.current import read_current, write_current
from indexes.publish.files import files_of_generation, stamp_encoder, stamp_files
from indexes.publish.generation import dump_generation, load_generation
from tests.fakes.object_storage import make_bucket, running_s3, s3_environment

COMMAND = (sys.executable, "-m", "sitegraph.cli.app")
QUESTION = "How is an application configured?"
MAX_MOVED = 0.05
MAX_WARM = 1.2
ASKED = 5


def main() -> None:
    """Publish and pull, round after round; then ask the bucket."""
    parser = argparse.ArgumentParser(description="Copies of an index: bytes and seconds.")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--index", type=Path, help="measure readers of this index alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--copies", type=int, default=6)
    options = parser.parse_args()
    if (options.folder is None) == (options.index is None):
        parser.error("give a folder of HTML pages, or --index INDEX")
    with TemporaryDirectory() as scratch:
        work, figures = Path(scratch), Figures()
        if options.index is None:
            figures["pulls"] = churn(options.folder, work, rounds=options.rounds)
        enlarge(options.index or work / "index", work / "large", copies=options.copies)
        stamp(work / "large")
        figures["reader"] = read_from_bucket(work)
    conclude(figures, misses(figures))


def churn(folder: Path, work: Path, *, rounds: int) -> list[Figures]:
    """Publish the site and pull it, then change it and pull again; figures of each pull."""
    shutil.copytree(folder, work / "site")
    source = work / "site.yaml"
    source.write_text("name: site\nkind: files\nroots: [site]\n")
    pages = _by_size(work / "site")
    each = max(1, len(pages) // 100)
    pulls = [publish_and_pull(source, work)]
    for number in range(1, rounds + 1):
        changed = pages[(number - 1) * each : number * each]
        for page in changed:
            _edit(page, number)
        pulls.append({"pages": len(pages), "changed": len(changed), **publish_and_pull(source, work)})
        print(pulls[-1], file=sys.stderr, flush=True)
    return pulls


def _by_size(site: Path) -> list[Path]:
    """Pages, those of middling size first."""
    pages = sorted(site.rglob("*.html"), key=lambda page: (page.stat().st_size, str(page)))
    middle = len(pages) // 2
    return sorted(pages, key=lambda page: abs(pages.index(page) - middle))


def _edit(page: Path, number: int) -> None:
    text = page.read_text(errors="replace")
    page.write_text(text.replace("</p>", f" Edition {number} says so.</p>", 1))


def publish_and_pull(source: Path, work: Path) -> Figures:
    """Run, pull, and say what moved, of the whole and of the whole without the query encoder."""
    subprocess.run([*COMMAND, "run", str(source), "--index", str(work / "index"), "--quiet"], check=True)
    report = pull(
        open_place(str(work / "index")), work / "copy", options=PullOptions(), trust=None, now=time.time()
    )
    manifest = load_generation(IndexLayout(work / "copy"), report.generation)
    encoder = sum(int(stamp.partition(":")[0]) for stamp in manifest.encoder.values())
    return {
        "generation": report.generation,
        "files": report.files,
        "fetched_files": report.fetched_files,
        "mb": round(report.bytes / 1e6, 2),
        "fetched_mb": round(report.fetched_bytes / 1e6, 3),
        "moved": round(report.fetched_bytes / report.bytes, 4),
        "moved_without_encoder": round(report.fetched_bytes / (report.bytes - encoder), 4),
    }


def stamp(index: Path) -> None:
    """Let the manifest of an enlarged index name its files, as that of a publish does."""
    layout, number = IndexLayout(index), read_current(index)
    manifest = load_manifest(layout)
    space = VectorSpace(model=manifest.model)
    paths = files_of_generation(layout, manifest, number, space)
    described = load_generation(layout, number)
    files = stamp_files(index, paths, known={})
    stamped = replace(described, files=files, encoder=stamp_encoder(index, space.encoder), index=manifest)
    dump_generation(layout, stamped)
    write_current(index, number)


def read_from_bucket(work: Path) -> Figures:
    """Ask the folder and the bucket in turn: the first question downloads, later ones ask for `CURRENT`."""
    with running_s3() as address:
        os.environ.update(s3_environment(address))
        url = f"{make_bucket()}/large"
        large = index_place(url, patience=600)
        paths = [path for path in sorted((work / "large").rglob("*")) if path.is_file()]
        for path in paths:
            there = bucket_of(large / path.relative_to(work / "large").as_posix())
            assert there is not None
            there.upload(path)
        ask(str(work / "large"), work)  # files in the page cache, modules compiled
        cold = ask(url, work)
        rounds = [(ask(str(work / "large"), work), ask(url, work)) for _ in range(ASKED)]
    folder, warm = (Cost(*map(median, zip(*costs, strict=True))) for costs in zip(*rounds, strict=True))
    downloaded = folder_bytes(work / "cache")
    return {
        "chunks": _chunks(work / "large"),
        "downloaded_mb": round(downloaded / 1e6, 1),
        "cold_seconds": round(cold.seconds, 2),
        "cold_cpu_seconds": round(cold.cpu, 2),
        "folder_seconds": round(folder.seconds, 2),
        "folder_cpu_seconds": round(folder.cpu, 2),
        "warm_seconds": round(warm.seconds, 2),
        "warm_cpu_seconds": round(warm.cpu, 2),
        "warm_to_folder": round(warm.seconds / folder.seconds, 2),
        "warm_to_folder_cpu": round(warm.cpu / folder.cpu, 2),
    }


def _chunks(index: Path) -> int:
    import lancedb

    return int(lancedb.connect(str(index / "lance")).open_table("chunks").count_rows())


class Cost(NamedTuple):
    """Seconds of one question by the clock, and of the processor."""

    seconds: float
    cpu: float


def ask(index: str, work: Path) -> Cost:
    """What one `query` takes in a process of its own."""
    environment = {**os.environ, "SITEGRAPH_CACHE": str(work / "cache")}
    started, used = time.perf_counter(), _cpu_of_children()
    subprocess.run(
        [*COMMAND, "query", QUESTION, "--index", index],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return Cost(time.perf_counter() - started, _cpu_of_children() - used)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def misses(figures: Figures) -> list[str]:
    """Which aims were missed, in words."""
    moved = max((one["moved"] for one in figures.get("pulls", ())[1:]), default=0.0)
    warm = figures["reader"]["warm_to_folder"]
    aims = {
        f"a pull moved {moved} of the index; the aim is {MAX_MOVED}": moved <= MAX_MOVED,
        f"a warm reader takes {warm} of a folder's time; the aim is {MAX_WARM}": warm <= MAX_WARM,
    }
    return [aim for aim, reached in aims.items() if not reached]


if __name__ == "__main__":
    main()
