"""What ends a run before it has begun."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from flows.run.opening import open_run
from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.settings import Settings, load_settings
from sitegraph.cli.app import run_app


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SITEGRAPH_DEVICE", "meta"),
        ("SITEGRAPH_SPACY", "no_such_pipeline"),
        ("SITEGRAPH_LLM_URL", "http://host:port"),
    ],
)
def test_a_setting_that_cannot_work_makes_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    source = tmp_path / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [.]\n")
    monkeypatch.setenv(name, value)

    with (
        pytest.raises(ConfigError, match=value),
        open_run(str(source), read_settings(str(tmp_path / "index"))),
    ):
        pass

    assert not (tmp_path / "index").exists()


def test_a_run_in_process_reads_its_settings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Settings] = []

    def reading(environ: Mapping[str, str], text: str | None) -> Settings:
        read.append(load_settings(environ, text))
        return read[-1]

    (tmp_path / "notes.yaml").write_text("name: notes\nkind: files\nroots: [nowhere]\n")
    monkeypatch.setattr("runtime.settings.load_settings", reading)
    monkeypatch.chdir(tmp_path)

    assert run_app(["run", "notes.yaml", "--index", "index", "--quiet"]) == 4, "once it has looked"
    assert [settings.index for settings in read] == [".sitegraph"]
