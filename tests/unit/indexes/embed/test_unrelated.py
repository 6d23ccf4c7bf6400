"""What is taken off the cosines of an encoder that puts unrelated texts near each other."""

import json
from pathlib import Path

import numpy as np
import pytest

from indexes.embed.manifest import load_encoder_manifest
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.unrelated import least_cosine, measure_unrelated
from indexes.ports import Vector
from retrieval.search.relevance import Scale, begin_of_scale
from tests.fakes.encoder import HashEncoder
from tests.fakes.exported_encoder import place_exported_encoder


class Narrow(HashEncoder):
    """Gives all texts a large part in common."""

    def _vector(self, text: str) -> Vector:
        vector = np.concatenate([super()._vector(text)[1:], [1.5]]).astype(np.float32)
        return vector / np.linalg.norm(vector)


def test_of_the_default_model_nothing_is_taken_off(tmp_path: Path) -> None:
    folder = place_exported_encoder(tmp_path / "encoder")

    assert measure_unrelated(OnnxEncoder(folder)) == load_encoder_manifest(folder).unrelated == 0.0


def test_of_an_encoder_whose_cosines_begin_high_it_is_measured() -> None:
    assert measure_unrelated(HashEncoder(256)) == 0.0
    assert measure_unrelated(Narrow(256)) == pytest.approx(2.25 / 3.25, abs=0.06)


def test_an_encoder_exported_by_an_earlier_version_is_still_whole(tmp_path: Path) -> None:
    folder = place_exported_encoder(tmp_path / "encoder")
    file = folder / "encoder.json"
    record = json.loads(file.read_text())
    del record["unrelated"]
    file.unlink()
    file.write_text(json.dumps(record))

    assert load_encoder_manifest(folder).unrelated == 0.0


def test_a_threshold_is_as_far_from_the_unrelated_as_from_the_same() -> None:
    assert least_cosine(0.7, 0.0) == 0.7
    assert least_cosine(0.5, 0.6) == pytest.approx(0.8)


def test_both_kinds_of_encoder_weigh_alike_beside_words() -> None:
    wide, narrow = Scale(bm25=10, cosine=0.6), Scale(bm25=10, cosine=0.8, unrelated=0.5)

    assert wide.base(5, 0.3) == pytest.approx(narrow.base(5, 0.65))
    assert narrow.base(5, 0.4) == 0.25
    assert Scale(bm25=10, cosine=0.4, unrelated=0.5).base(10, 0.4) == 0.5


@pytest.mark.parametrize(
    ("unrelated", "nearest", "begins"),
    [
        (0.0, 0.2, 0.0),
        (0.82, 0.90, 0.82),
        (0.82, 0.80, 0.74),
    ],
    ids=["nothing is taken off", "something near", "nothing near, as in another language"],
)
def test_a_third_of_the_way_to_the_same_lies_between_what_is_nearest_and_the_unrelated(
    unrelated: float, nearest: float, begins: float
) -> None:
    assert begin_of_scale(unrelated, nearest) == pytest.approx(begins)
