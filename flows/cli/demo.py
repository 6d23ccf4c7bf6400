"""`sitegraph demo`."""


def demo() -> None:
    """Crawl the manual."""
