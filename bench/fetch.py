"""Our fetch layer beside Scrapy, on the same local site in one run.

    python -m bench.fetch

Prints one JSON object: pages a second, CPU milliseconds a page and peak memory of both, and how many times
Scrapy's pages per CPU second ours are; then our memory over a long crawl beside that over a short one. Ends
with 1 where an aim is missed.
"""

import tempfile
from pathlib import Path

from bench.comparison import ROUNDS, Figures, conclude, ours, require, scrapy, typical
from bench.local_site import serve_by_nginx, write_site

PAGES = 2_000
SHORT, LONG = 1_000, 20_000

MIN_RATIO = 4.0
MAX_RSS_MB = 200.0
MAX_GROWTH = 1.10
"""How much more memory a crawl of LONG pages may take than one of SHORT and still be called flat."""


def main() -> None:
    """Serve the site, measure both, compare."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        names = write_site(work / "site", pages=LONG)
        with serve_by_nginx(work / "site", work / "nginx") as address:
            urls = [f"http://{address}/{name}" for name in names]
            figures = {**compare(work, urls[:PAGES]), "memory": measure_memory(work, urls)}
    conclude(figures, misses(figures))


def compare(work: Path, urls: list[str]) -> Figures:
    """Both on the same pages, in turn."""
    listed = write_list(work, urls)
    rounds = [(ours("bench.sitegraph_fetch", listed), scrapy(listed)) for _ in range(ROUNDS)]
    sides = {"sitegraph": [one for one, _ in rounds], "scrapy": [other for _, other in rounds]}
    for measured in sides.values():
        require(measured, "pages", len(urls))
    told = {name: rates(typical(measured)) for name, measured in sides.items()}
    ratio = told["scrapy"]["cpu_ms_per_page"] / told["sitegraph"]["cpu_ms_per_page"]
    return {"pages": len(urls), **told, "pages_per_cpu_second_to_scrapy": round(ratio, 2)}


def measure_memory(work: Path, urls: list[str]) -> Figures:
    """Our peak memory over a short and a long crawl."""
    peaks = {}
    for pages in (SHORT, LONG):
        figures = ours("bench.sitegraph_fetch", write_list(work, urls[:pages]))
        require([figures], "pages", pages)
        peaks[f"peak_rss_mb_at_{pages}"] = round(figures["peak_rss_mb"], 1)
    return peaks


def misses(figures: Figures) -> list[str]:
    """Which aims were missed, in words."""
    ratio = figures["pages_per_cpu_second_to_scrapy"]
    short, long = (figures["memory"][f"peak_rss_mb_at_{pages}"] for pages in (SHORT, LONG))
    aims = {
        f"{ratio} times Scrapy's pages per CPU second; the aim is {MIN_RATIO}": ratio >= MIN_RATIO,
        f"{long} MiB; the aim is below {MAX_RSS_MB}": long < MAX_RSS_MB,
        f"{long} MiB at {LONG} pages after {short} at {SHORT} is not flat": long <= short * MAX_GROWTH,
    }
    return [aim for aim, reached in aims.items() if not reached]


def rates(figures: Figures) -> Figures:
    """What one page costs."""
    return {
        "pages_per_second": round(figures["pages"] / figures["wall_seconds"], 1),
        "cpu_ms_per_page": round(1000 * figures["cpu_seconds"] / figures["pages"], 3),
        "peak_rss_mb": round(figures["peak_rss_mb"], 1),
    }


def write_list(work: Path, urls: list[str]) -> Path:
    """Write the addresses, one a line."""
    listed = work / f"{len(urls)}.txt"
    listed.write_text("\n".join(urls))
    return listed


if __name__ == "__main__":
    main()
