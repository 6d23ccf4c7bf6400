"""Another release of our code, whose chunks are smaller: what a chunker that changed is to its users."""

import re
import shutil
from pathlib import Path

PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval", "bench")
SMALLER = 150
"""Tokens a chunk has at most, in place of 250."""


def make_release(repository: Path, folder: Path) -> Path:
    """Copy the packages and change the limit and the version of the parser, as a release would."""
    for package in PACKAGES:
        shutil.copytree(repository / package, folder / package)
    _replace(folder / "ingest/parse/chunking.py", r"^MAX_TOKENS = \d+$", f"MAX_TOKENS = {SMALLER}")
    _replace(
        folder / "ingest/parse/document.py", r'^PARSER_VERSION: str = ".*"$', 'PARSER_VERSION: str = "race"'
    )
    return folder


def _replace(path: Path, pattern: str, line: str) -> None:
    text, times = re.subn(pattern, line, path.read_text(), flags=re.M)
    if times != 1:
        raise SystemExit(f"{path}: {pattern!r} is there {times} times; the benchmark has to be adapted")
    path.write_text(text)
