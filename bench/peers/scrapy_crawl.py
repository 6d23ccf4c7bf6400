"""Scrapy on a list of addresses; run by the interpreter that has it, prints one JSON object.

    python scrapy_crawl.py LIST [--cache FOLDER]

Set as politely as the fetch layer it is held against: robots.txt obeyed, no cookies, the same number of
connections, no delay. A page is received and counted, nothing of it is parsed. With a cache folder its HTTP
cache keeps the answers and revalidates them (RFC2616Policy).
"""

import argparse
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

CONNECTIONS = 16


class ListSpider(scrapy.Spider):
    """Asks for every address of a list once."""

    name = "list"
    addresses: tuple[str, ...] = ()
    received = 0

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Return the requests."""
        for address in self.addresses:
            yield scrapy.Request(address, dont_filter=True)

    def parse(self, response: Any, **_kwargs: Any) -> None:
        """Count a page that came with its body."""
        type(self).received += bool(response.body)


def settings(cache: Path | None) -> dict[str, Any]:
    """Scrapy's settings."""
    plain = {
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": CONNECTIONS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONNECTIONS,
        "DOWNLOAD_DELAY": 0,
        "USER_AGENT": "bench/1.0 (+mailto:owner@example.org)",
        "LOG_LEVEL": "ERROR",
    }
    kept = {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
        "HTTPCACHE_DIR": str(cache),
    }
    return {**plain, **kept} if cache else plain


def main() -> None:
    """Crawl and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    ListSpider.addresses = tuple(options.list.read_text().split())
    process = CrawlerProcess(settings(options.cache))
    crawler = process.create_crawler(ListSpider)
    clock = Stopwatch()
    crawler.signals.connect(clock.start, signals.spider_opened)
    crawler.signals.connect(clock.stop, signals.spider_closed)
    process.crawl(crawler)
    process.start()
    stats = crawler.stats.get_stats()
    print(
        json.dumps(
            {
                "pages": ListSpider.received,
                "not_modified": stats.get("httpcache/revalidate", 0),
                "cpu_seconds": clock.cpu,
                "wall_seconds": clock.wall,
                "peak_rss_mb": peak_rss_mb(),
            }
        )
    )


class Stopwatch:
    """CPU and wall seconds between the spider's opening and its closing; imports do not count."""

    cpu = 0.0
    wall = 0.0

    def start(self) -> None:
        """Begin."""
        self.cpu, self.wall = -time.process_time(), -time.monotonic()

    def stop(self) -> None:
        """End."""
        self.cpu += time.process_time()
        self.wall += time.monotonic()


def peak_rss_mb() -> float:
    """The kernel's high-water mark of this process, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:"))) / 1024


if __name__ == "__main__":
    main()
