"""A recrawl in which nothing changed, beside Scrapy's, on the same local site in one run.

    python -m bench.recrawl

nginx answers 304 to every page. Ours is the plan and the fetch layer with all they write to the ledger, in
one process and without Prefect; Scrapy's is its HTTP cache under the RFC2616 policy. Prints one JSON object
and ends with 1 where an aim is missed.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.comparison import ROUNDS, Figures, conclude, ours, require, scrapy, typical
from bench.local_site import serve_by_nginx, write_site, write_sitemap

PAGES = 2_000

MIN_PER_CPU_SECOND = 400.0
MAX_RATIO = 1 / 3
"""What a document may cost of what it costs Scrapy."""


def main() -> None:
    """Serve the site, fill both caches, ask again with both."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        names = write_site(work / "site", pages=PAGES)
        with serve_by_nginx(work / "site", work / "nginx") as address:
            urls = [f"http://{address}/{name}" for name in names]
            write_sitemap(work / "site", urls)
            figures = compare(work, address, urls)
    conclude(figures, misses(figures))


def compare(work: Path, address: str, urls: list[str]) -> Figures:
    """Both over all pages, first to fill their stores, then in turn."""
    listed = work / "urls.txt"
    listed.write_text("\n".join(urls))
    sides: dict[str, Callable[[], Figures]] = {
        "sitegraph": lambda: ours("bench.sitegraph_recrawl", address, work / "index"),
        "scrapy": lambda: scrapy(listed, "--cache", work / "cache"),
    }
    require([ask() for ask in sides.values()], "pages", len(urls))
    rounds = [{name: ask() for name, ask in sides.items()} for _ in range(ROUNDS)]
    for name in sides:
        require([figures[name] for figures in rounds], "not_modified", len(urls))
    told = {name: rates(typical([figures[name] for figures in rounds])) for name in sides}
    ratio = told["sitegraph"]["cpu_seconds_per_1000"] / told["scrapy"]["cpu_seconds_per_1000"]
    return {"pages": len(urls), **told, "cpu_to_scrapy": round(ratio, 3)}


def rates(figures: Figures) -> Figures:
    """What a document costs that did not change."""
    return {
        "documents_per_cpu_second": round(figures["pages"] / figures["cpu_seconds"], 1),
        "cpu_seconds_per_1000": round(1000 * figures["cpu_seconds"] / figures["pages"], 3),
        "documents_per_second": round(figures["pages"] / figures["wall_seconds"], 1),
        "peak_rss_mb": round(figures["peak_rss_mb"], 1),
    }


def misses(figures: Figures) -> list[str]:
    """Which aims were missed, in words."""
    speed, ratio = figures["sitegraph"]["documents_per_cpu_second"], figures["cpu_to_scrapy"]
    aims = {
        f"{speed} documents per CPU second; the aim is {MIN_PER_CPU_SECOND}": speed >= MIN_PER_CPU_SECOND,
        f"{ratio} of Scrapy's CPU time; the aim is a third": ratio <= MAX_RATIO,
    }
    return [aim for aim, reached in aims.items() if not reached]


if __name__ == "__main__":
    main()
