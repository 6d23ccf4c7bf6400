"""What the demonstration needs, told before it does anything."""

import sys
from pathlib import Path

import pytest

from sitegraph.cli.demo_script import run_demo
from sitegraph.cli.failures import explain_error


def test_a_demo_without_what_builds_the_manual_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mkdocs", None)

    with pytest.raises(ModuleNotFoundError) as missing:
        run_demo(tmp_path / "tour")

    failure = explain_error(missing.value, command="demo")
    assert failure
    assert 'needs mkdocs, which is not installed; run: pip install "sitegraph[demo]"' in failure.message
    assert not (tmp_path / "tour").exists()
