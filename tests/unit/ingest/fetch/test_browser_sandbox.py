"""Chromium where its sandbox is refused what it needs, as in a container: the reason says what to do."""

import asyncio
import os
import platform
import shutil
from pathlib import Path

import pytest

from ingest.fetch.browser import Browser
from ingest.fetch.faults import FetchFault, FetchFaultKind
from tests.fakes import without_namespaces
from tests.fakes.fetching import AGENT

pytest.importorskip("playwright", reason="the extra js is not installed")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter has the numbers of x86-64")
def test_a_sandbox_that_may_not_start_is_told_with_its_remedy(tmp_path: Path) -> None:
    chromium, python = shutil.which("chromium"), Path("/usr/bin/python3")
    if chromium is None or not python.exists():
        pytest.skip("Chromium and Debian's own Python are needed")
    filtering = tmp_path / "filter.py"
    shutil.copy(without_namespaces.__file__, filtering)
    for folder in (tmp_path, *(path for path in tmp_path.parents if path.is_relative_to("/tmp/"))):
        folder.chmod(folder.stat().st_mode | 0o055)
    become = "setpriv --reuid 65534 --regid 65534 --clear-groups" if os.geteuid() == 0 else "env"
    program = tmp_path / "chromium"
    program.write_text(f'#!/bin/sh\nexport HOME=/tmp\nexec {become} {python} {filtering} {chromium} "$@"\n')
    program.chmod(0o755)

    async def render() -> None:
        browser = Browser(executable=str(program), sandbox=True, user_agent=AGENT)
        try:
            await browser.render(
                "https://docs.example.org/",
                b"<html></html>",
                content_type="text/html",
                supply=None,  # type: ignore[arg-type]
                seconds=60,
                max_bytes=1000,
            )
        finally:
            await browser.aclose()

    with pytest.raises(FetchFault) as fault:
        asyncio.run(render())

    assert fault.value.kind is FetchFaultKind.RENDERING
    assert "deploy/compose.javascript.yaml" in fault.value.reason
