"""Times as people write them."""

import pytest

from runtime.source_values import duration, seconds_of


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "90s"), (900, "15m"), (5400, "90m"), (2 * 86_400, "2d"), (1.5, "1.5s")]
)
def test_times_are_written_as_source_files_have_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    assert seconds_of(text) == seconds
