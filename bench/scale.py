"""100,000 varied chunks through link, write and index: memory, time and versions, run by run.

    python -m bench.scale [FOLDER] [--runs 10] [--neo4j]

Each run is a process of its own that adds 10,000 chunks as a new source of one index. After the first and
after the last one comes the daily case: ten of the first run's 1,000 pages change, the same ten in the same
way, in a copy of the index. Texts are
sentences of the HTML pages in FOLDER (by default the PostgreSQL manual of the shared data folder), put
together again by a seeded generator; pages link to each other, and name pages of earlier runs in their front
matter. Vectors are made by hash, with the structure of topic, page and passage, since only stores are
measured. Then searches with the vector index are held against exact ones, and with --neo4j the same graph
goes into a Neo4j. Prints one JSON object, and ends with 1 where an aim is missed, or what is pinned
in its place.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from bench.comparison import Figures, Limit, conclude, judge, ours
from bench.embed import postgresql_manual
from bench.scaled_pages import write_sentences

CHANGED_PAGES = 10
LIMITS = (
    Limit("peak_rss_mb", "MiB", 1536.0),
    Limit("memory_growth", "times the memory of the second run", 1.25, reached=1.4),
    Limit("slowdown", "times the CPU time of the second run", 1.3),
    Limit("daily_slowdown", "times the CPU time for ten changes", 1.15, reached=1.9),
    Limit("most_versions", "versions of a table by merging in a run", 2),
    Limit("recall_at_10", "of the best ten", 0.95, is_least=True),
)
"""What ten runs may take. Two aims are not reached; bench/RESULTS.md says why. Memory is pinned a tenth above
what ten runs gave, ten pages at the dearest of several tries."""
NEO4J_LIMITS = (
    Limit("rows_per_second", "rows a second into Neo4j", 5_000, reached=4_200, is_least=True),
    Limit("ten_pages_ratio", "times as long for ten changed pages in Neo4j", 1.2),
)
"""What loading all ten runs may take: 4,671 rows a second were measured, and a tenth less is pinned."""


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
    limits = (*LIMITS, *(NEO4J_LIMITS if options.neo4j else ()))
    conclude(figures, *judge({**figures, **figures["search"], **figures.get("neo4j", {})}, limits))


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


if __name__ == "__main__":
    main()
