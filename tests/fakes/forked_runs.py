"""Runs in processes of their own that begin with everything slow imported: many can be killed soon."""

import multiprocessing
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from indexes.places import index_place
from tests.fakes.sitegraph_runs import Sitegraph

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["flows.recrawl", "tests.fakes.forked_runs"])


@contextmanager
def forked_run(program: Sitegraph, source: Path, index: Path) -> Iterator[ForkServerProcess]:
    """Start a run of the source; it is gone after the block."""
    process = _CONTEXT.Process(target=_run, args=(dict(program.environment), source, str(index)))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(environment: Mapping[str, str], source: Path, index: str) -> None:
    os.environ.update(environment)  # drivers of object storage read theirs; the server of forks has its own
    Sitegraph(environment=environment).run(source, index_place(index))
