"""100,000 varied chunks through link, write and index: memory, time and versions, run by run.

    python -m bench.scale [FOLDER] [--runs 10] [--neo4j]

Each run is a process of its own that adds 10,000 chunks as a new source of one index. After the first and
after the last one comes the daily case: ten of the first run's 1,000 pages change, the same ten in the same
way, in a copy of the index. Texts are
sentences of the HTML pages in FOLDER (by default the PostgreSQL manual of the shared data folder), put
together again by a seeded generator; pages link to each other, and name pages of earlier runs in their front
matter. Vectors are made by hash, with the structure of topic, page and passage, since only stores are
measured. Then searches with the vector index are held against exact ones, and with --neo4j the same graph
goes into a Neo4j. Prints one JSON object and ends with 1 where an aim is missed.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from bench.comparison import Figures, conclude, ours
from bench.embed import postgresql_manual
from bench.scaled_pages import write_sentences

MAX_RSS_MB = 1536.0
MAX_GROWTH = 1.25
"""How much more memory the last run may take than the second and still be called flat."""
MAX_SLOWDOWN = 1.3
CHANGED_PAGES = 10
MAX_DAILY_SLOWDOWN = 1.15
"""How much more CPU time ten changed pages may take beside all chunks than beside those of the first run."""
MAX_VERSIONS = 2
MIN_RECALL = 0.95
MIN_ROWS_PER_SECOND = 5_000


def main() -> None:
    """Run after run, then search, then Neo4j."""
    parser = argparse.ArgumentParser(description="Chunks by the hundred thousand through the stores.")
    parser.add_argument("folder", type=Path, nargs="?", help="pages to take sentences from")
    parser.add_argument("--runs", type=int, default=10, help="runs of 10,000 chunks (default: 10)")
    parser.add_argument("--neo4j", action="store_true", help="load the graph into a Neo4j of the tests too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        write_sentences(options.folder or postgresql_manual(work / "manual"), work)
        figures: Figures = {"runs": [], "daily": []}
        for number in range(options.runs):
            figures["runs"].append(ours("bench.scale_run", work, number))
            print(json.dumps(figures["runs"][-1]), flush=True)
            if number in {0, options.runs - 1}:
                figures["daily"].append(daily(work))
                print(json.dumps({"daily": figures["daily"][-1]}), flush=True)
        figures["search"] = ours("bench.scale_search", work)
        if options.neo4j:
            figures["neo4j"] = ours("bench.scale_neo4j", work)
    figures |= summary(figures)
    conclude(figures, misses(figures))


def daily(work: Path) -> Figures:
    """What ten changed pages of 1,000 known ones cost, in a copy of the index; pages and index stay."""
    pages, copy = work / "part-0", work / "changed"
    shutil.copytree(work / "index", copy)
    shutil.copytree(pages, work / "kept")
    try:
        return ours("bench.scale_run", work, 0, "--index", copy.name, "--changed", CHANGED_PAGES)
    finally:
        shutil.rmtree(copy)
        shutil.rmtree(pages)
        (work / "kept").rename(pages)


def summary(figures: Figures) -> Figures:
    """The second run beside the dearest later one, in CPU seconds a chunk, and memory from then on."""
    runs, days = figures["runs"], figures["daily"]
    per_chunk = [run["cpu_seconds"] / run["chunks"] for run in runs]
    # The first load is an insert into nothing; merging begins with the second run.
    return {
        "chunks": sum(run["chunks"] for run in runs),
        "slowdown": round(max(per_chunk[2:], default=0.0) / per_chunk[min(1, len(runs) - 1)], 2),
        "daily_slowdown": round(days[-1]["cpu_seconds"] / days[0]["cpu_seconds"], 2),
        "daily_growth_by_cause": growth_by_cause(days[0], days[-1]),
        "growth_by_cause": growth_by_cause(runs[min(1, len(runs) - 1)], runs[-1]),
        "memory_growth": round(runs[-1]["peak_rss_mb"] / runs[min(1, len(runs) - 1)]["peak_rss_mb"], 2),
        "peak_rss_mb": max(run["peak_rss_mb"] for run in runs),
        "most_versions": max((max(run["versions"].values()) for run in runs[1:]), default=0),
    }


def growth_by_cause(small: Figures, large: Figures) -> dict[str, float]:
    """CPU seconds that each cause took more, the most first."""
    causes = {*small["causes"], *large["causes"]}
    grown = {cause: large["causes"].get(cause, 0.0) - small["causes"].get(cause, 0.0) for cause in causes}
    return {cause: round(more, 2) for cause, more in sorted(grown.items(), key=lambda item: -item[1])}


def misses(figures: Figures) -> list[str]:
    """Which aims were missed, in words."""
    search, neo4j = figures["search"], figures.get("neo4j")
    aims = {
        f"{figures['peak_rss_mb']} MiB; the aim is {MAX_RSS_MB}": figures["peak_rss_mb"] < MAX_RSS_MB,
        f"{figures['memory_growth']} times the memory of the second run; the aim is {MAX_GROWTH}": (
            figures["memory_growth"] <= MAX_GROWTH
        ),
        f"{figures['slowdown']} times the CPU time of the second run; the aim is {MAX_SLOWDOWN}": (
            figures["slowdown"] <= MAX_SLOWDOWN
        ),
        f"{figures['daily_slowdown']} times the CPU time for ten changes; the aim is {MAX_DAILY_SLOWDOWN}": (
            figures["daily_slowdown"] <= MAX_DAILY_SLOWDOWN
        ),
        f"{figures['most_versions']} versions of a table in a run; the aim is {MAX_VERSIONS}": (
            figures["most_versions"] <= MAX_VERSIONS
        ),
        f"recall@10 {search['recall_at_10']}; the aim is {MIN_RECALL}": search["recall_at_10"] >= MIN_RECALL,
    }
    if neo4j:
        speed = neo4j["rows_per_second"]
        aims[f"{speed} rows a second into Neo4j; the aim is {MIN_ROWS_PER_SECOND}"] = (
            speed >= MIN_ROWS_PER_SECOND
        )
    return [aim for aim, reached in aims.items() if not reached]


if __name__ == "__main__":
    main()
