"""What ends a run before it has begun."""

from pathlib import Path

import pytest

from flows.run.opening import open_run
from runtime.settings import read_settings
from schemas.errors import ConfigError


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
