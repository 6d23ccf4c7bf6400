"""The file of tuned weights: beside the index, whole, and refused where it is not what tuning writes."""

import json
from pathlib import Path

import pytest

from indexes.reader_parts import load_weights, save_tuning, tuning_file
from schemas.errors import ConfigError
from schemas.evidence import Scores

WEIGHTS = Scores(text=0.4, graph=0.3, anchor=0.15, authority=0.1, freshness=0.05)


def test_weights_are_read_as_they_were_stored_and_stand_beside_the_index(tmp_path: Path) -> None:
    index = tmp_path / "index"
    assert load_weights(index) is None
    file = save_tuning(index, WEIGHTS, {"generation": 3})
    assert load_weights(index) == WEIGHTS
    assert file == tuning_file(index) == tmp_path / "index.tuning.json"
    assert json.loads(file.read_text())["generation"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.tuning.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 1}',
        '{"version": 1, "weights": {"text": 1}}',
        '{"version": 2, "weights": {"text": 1, "graph": 0, "anchor": 0, "authority": 0, "freshness": 0}}',
        '{"version": 1, "weights": {"text": 1, "graph": 1, "anchor": 0, "authority": 0, "freshness": 0}}',
        '{"version": 1, "weights": {"text": 2, "graph": -1, "anchor": 0, "authority": 0, "freshness": 0}}',
        '{"version": 1, "weights": {"text": NaN, "graph": 0, "anchor": 0, "authority": 0, "freshness": 0}}',
    ],
)
def test_a_file_of_another_form_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    tuning_file(tmp_path / "index").write_text(text)
    with pytest.raises(ConfigError, match="delete it") as caught:
        load_weights(tmp_path / "index")
    assert caught.value.subject.endswith("index.tuning.json")
