"""Who needs a browser gets one, or is told what is missing."""

from pathlib import Path

import pytest

from runtime.programs import open_browser
from schemas.errors import ConfigError
from schemas.settings import Settings
from tests.fakes.known import web_source


def _refusal(settings: Settings) -> str:
    with pytest.raises(ConfigError) as caught:
        open_browser(web_source(javascript=True), settings)
    return str(caught.value)


def test_a_source_that_does_not_ask_for_scripts_needs_no_browser() -> None:
    assert open_browser(web_source(), Settings(chromium="/nowhere/chromium")) is None


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.programs.find_spec", lambda _: None)
    assert (
        _refusal(Settings()) == "javascript: true: needs playwright, which is not installed; run: "
        'pip install "sitegraph[js]"'
    )


def test_a_missing_browser_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("runtime.programs.find_spec", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Chromium was not found; install it" in _refusal(Settings())
    assert "names /nowhere/chromium, which was not found" in _refusal(Settings(chromium="/nowhere/chromium"))


def test_a_browser_on_the_path_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("runtime.programs.find_spec", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "chromium-browser"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert open_browser(web_source(javascript=True), Settings()) is not None
    assert open_browser(web_source(javascript=True), Settings(chromium=str(program))) is not None
