"""A site without pages, and parsers for all: they take seconds to start."""

from collections.abc import Iterator

import pytest

from runtime.parser_pool import ParserPool
from tests.fakes.plain_run import open_parsers
from tests.fakes.site_server import Site, serve


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site()) as site:
        yield site


@pytest.fixture(scope="session")
def parsers() -> Iterator[ParserPool]:
    with open_parsers() as parsers:
        yield parsers
