"""Which faces set code, by the names that producers give them."""

import pytest

from ingest.parse.pdf.lines import is_mono


@pytest.mark.parametrize(
    "font",
    [
        "NimbusMonL-Regu",  # dblatex, Ghostscript
        "NimbusMonoPS-Bold",
        "CourierNewPSMT",
        "ABCDEF+SourceCodePro-It",
        "FiraCode-Regular",
        "LetterGothicStd",
        "CMTT10",
    ],
)
def test_a_typewriter_face_is_known_by_its_name(font: str) -> None:
    assert is_mono({"flags": 0, "font": font})


@pytest.mark.parametrize(
    "font", ["NimbusRomNo9L-Regu", "NimbusSanL-Bold", "SourceSansPro", "FiraSans", "CMR10"]
)
def test_a_face_for_text_is_none(font: str) -> None:
    assert not is_mono({"flags": 0, "font": font})
