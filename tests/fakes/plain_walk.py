"""Runs and commands in this process, without Prefect."""

import os
from collections.abc import Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from flows.local import run_here
from flows.run.opening import open_existing, open_run
from flows.run.stages import Stages
from runtime.clock import SystemClock
from runtime.settings import read_settings
from schemas.report import RunReport
from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.sitegraph_runs import TABLES, Rows


@dataclass(frozen=True)
class Program:
    """The program in this process; *settings* are environment variables."""

    settings: Mapping[str, str] = field(default_factory=dict)

    def run(self, source: Path, index: Path, **options: Any) -> RunReport:
        """Run a source to its report."""
        with (
            self._set_up(),
            open_run(str(source), index=str(index), quiet=True, **options) as resources,
        ):
            return run_here(resources, due=False, stages=Stages(SystemClock()))

    def call(self, *arguments: str) -> CompletedProcess[str]:
        """Call a command."""
        from sitegraph.cli.app import run_app

        out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with self._set_up(), redirect_stdout(out), redirect_stderr(err):
            code = run_app(list(arguments))
        said = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
        return CompletedProcess(arguments, code, *said)

    def export(self, index: Path) -> dict[str, Rows]:
        """Return the stable export of every table."""
        from sitegraph.cli.exports.records import rows

        with self._set_up():
            opened = open_existing(read_settings(index=str(index)))
            try:
                number = opened.current()
                return {
                    what: list(rows(opened, what, generation=number, source=None, stable=True, vectors=False))
                    for what in TABLES
                }
            finally:
                opened.close()

    @contextmanager
    def _set_up(self) -> Any:
        cached = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
        with mock.patch.dict(os.environ, {**cached, **self.settings}):
            yield
