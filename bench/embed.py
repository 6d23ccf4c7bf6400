"""A whole first run beside its encoder alone on the same texts, and that beside every other route.

    python -m bench.embed [FOLDER --seed index.html]

FOLDER is a folder of pages, by default the PostgreSQL manual of the shared data folder. The run is the flow
itself, under Prefect, from the first request to the last row written; Prefect and the model have been started
before. Then the same encoder gets a third of the same texts, by length, in one call; then every route of the
model takes a sample of them in turn. Prints one JSON object and ends with 1 where an aim is missed.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.comparison import Figures, conclude, ours
from bench.pipeline import write_source
from sitegraph.cli.demo_script import serve_folder

LEAST_CHUNKS = 10_000
MIN_SHARE = 0.80
"""Chunks a second of the whole run, as a share of those of the encoder alone."""
MIN_OF_FASTEST = 0.90
"""Texts a second of our encoder, as a share of the fastest route of the model on this chip."""

PART = 3
"""One of so many texts, in order of length, is encoded again to time the encoder alone."""
SAMPLE = 300
TO_THE_LAST_WRITE = ("crawl", "recover", "diff", "embed", "link", "write")
WARM_UP = tuple(f"Warm text number {number} of a few words." for number in range(64))


def main() -> None:
    """Run, measure, compare."""
    parser = argparse.ArgumentParser(description="The whole run beside its encoder alone.")
    parser.add_argument("folder", type=Path, nargs="?", help="pages (default: the PostgreSQL manual)")
    parser.add_argument("--seed", action="append", default=[], help="path of a seed (default: index.html)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        folder = options.folder or postgresql_manual(work / "site")
        with serve_folder(folder) as address:
            source = write_source(work, address, options.seed or ["index.html"])
            figures = measure_run(source, work)
        figures["routes"] = ours("bench.encoder_routes", work / "texts.json")
    figures |= shares(figures)
    conclude(figures, misses(figures))


def postgresql_manual(folder: Path) -> Path:
    """Unpack the manual."""
    from tests.fakes.real_sites import unpack

    version = "15.20-0+deb12u1"
    unpack("sites/postgresql.tar.xz", version, folder)
    return folder / version / "usr/share/doc/postgresql-doc-15/html"


def measure_run(source: Path, work: Path) -> Figures:
    """The run, then its encoder alone; a sample of the texts is left in *work* for the routes."""
    from flows.run.opening import open_run
    from flows.run.stage import Stages
    from flows.start import run_here
    from runtime.clock import SystemClock
    from runtime.settings import read_settings

    with open_run(str(source), read_settings(str(work / "index")), quiet=True) as resources:
        resources.encoder.expect(["x" * 1_000_000])  # as the first pages of any large source would
        resources.encoder.encode_documents(WARM_UP)
        spent = -cpu_seconds()
        report = run_here(resources, due=False, stages=Stages(SystemClock()))
        spent += cpu_seconds()
        texts = texts_of(resources)
        (work / "texts.json").write_text(json.dumps(texts[:: max(1, len(texts) // SAMPLE)]))
        alone = time_encoder(resources, texts[::PART], times=len(texts) / len(texts[::PART]))
    seconds = sum(report.stages.get(stage, 0.0) for stage in TO_THE_LAST_WRITE)
    chunks = report.chunks.added
    return {
        "chunks": chunks,
        "texts": len(texts),
        "run": {"seconds": round(seconds, 1), "cpu_seconds": round(spent, 1), **rate(chunks, seconds)},
        "encoder": {**alone, **rate(chunks, alone["seconds"])},
        "stages": {name: round(took, 1) for name, took in report.stages.items()},
        "stage_shares": {s: round(report.stages.get(s, 0.0) / seconds, 3) for s in TO_THE_LAST_WRITE},
        "peak_rss_mb": {"flow": report.peak_rss_mb.flow, "encoder": report.peak_rss_mb.largest_child},
    }


def texts_of(resources: Any) -> list[str]:
    """Every distinct text of the chunks that were published."""
    from indexes.embed.pending import vector_texts

    reader = resources.index.chunks.at(resources.index.current())
    return sorted({text for chunk in reader.scan() for text in vector_texts(chunk)}, key=len)


def time_encoder(resources: Any, texts: list[str], *, times: float) -> Figures:
    """Encode texts in one call, and say what so many *times* them would take; nothing is kept."""
    spent, start = -cpu_seconds(), time.monotonic()
    resources.encoder.encode_documents(texts)
    seconds, spent = time.monotonic() - start, spent + cpu_seconds()
    return {"seconds": round(times * seconds, 1), "cpu_seconds": round(times * spent, 1)}


def cpu_seconds() -> float:
    """CPU time so far of this process and of all that came from it, those under way included."""
    tick, own = os.sysconf("SC_CLK_TCK"), os.times()
    total = own.user + own.system + own.children_user + own.children_system
    parents = {os.getpid()}
    for entry in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) in parents:
            parents.add(entry)
            total += sum(int(fields[number]) for number in (11, 12, 13, 14)) / tick
    return total


def rate(chunks: int, seconds: float) -> Figures:
    """Chunks a second."""
    return {"chunks_per_second": round(chunks / seconds, 1)}


def shares(figures: Figures) -> Figures:
    """The two ratios, by the clock and by CPU time, and how busy the machine was."""
    run, alone, routes = figures["run"], figures["encoder"], figures["routes"]
    speed = run["chunks_per_second"] / alone["chunks_per_second"]
    fastest = {unit: max(route[unit] for route in routes.values()) for unit in routes["ours"]}
    return {
        "run_to_encoder": round(speed, 3),
        "run_to_encoder_cpu": round(alone["cpu_seconds"] / run["cpu_seconds"], 3),
        "encoder_to_fastest_route": round(routes["ours"]["per_second"] / fastest["per_second"], 3),
        "encoder_to_fastest_route_cpu": round(
            routes["ours"]["per_cpu_second"] / fastest["per_cpu_second"], 3
        ),
        "load_average": round(os.getloadavg()[1], 1),
    }


def misses(figures: Figures) -> list[str]:
    """Which aims were missed, in words."""
    chunks = figures["chunks"]
    aims = {
        f"{chunks} chunks; at least {LEAST_CHUNKS} are asked for": chunks >= LEAST_CHUNKS,
        f"the run has {figures['run_to_encoder']} of the encoder's speed; the aim is {MIN_SHARE}": (
            figures["run_to_encoder"] >= MIN_SHARE
        ),
        f"the encoder has {figures['encoder_to_fastest_route']} of the fastest route's speed; the aim is "
        f"{MIN_OF_FASTEST}": figures["encoder_to_fastest_route"] >= MIN_OF_FASTEST,
    }
    return [aim for aim, reached in aims.items() if not reached]


if __name__ == "__main__":
    main()
