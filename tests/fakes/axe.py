"""axe-core, which finds what keeps people from using a page; npm fetches it once, into the cache."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from schemas.ids import sha256_hex

VERSION = "4.14.1"
_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
_FOLDER = Path(__file__).parents[2] / ".cache" / "axe-core"


def axe_script() -> str:
    """Return the script, from the cache or from the registry that npm is set up for."""
    kept = _FOLDER / f"axe-{VERSION}.min.js"
    if not kept.exists():
        _fetch(kept)
    text = kept.read_text(encoding="utf-8")
    assert sha256_hex(text) == _SHA256, f"{kept} is not axe-core {VERSION}; delete it"
    return text


def violations(page: Any) -> list[str]:
    """Return what axe-core finds wrong with a page: the rule, and the element."""
    page.evaluate(axe_script())  # by the protocol of the debugger: the policy of the page lets no script in
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html']} {json.dumps(node.get('failureSummary'))}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def _fetch(kept: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is needed, to fetch axe-core")
    kept.parent.mkdir(parents=True, exist_ok=True)
    packed = kept.parent / f"axe-core-{VERSION}.tgz"
    command = [npm, "pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", str(kept.parent)]
    done = subprocess.run(command, cwd=kept.parent, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode or not packed.exists():
        pytest.skip(f"npm cannot fetch axe-core: {done.stderr.strip()[-200:]}")
    with tarfile.open(packed) as tar:
        member = tar.extractfile("package/axe.min.js")
        assert member is not None
        part = kept.with_suffix(".part")
        part.write_bytes(member.read())
    part.replace(kept)
    packed.unlink()
