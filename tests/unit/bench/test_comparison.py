"""What a benchmark says of its figures."""

import pytest

from bench.comparison import Limit, conclude, judge

SECONDS = Limit("seconds", "seconds", 1.0, reached=2.0)
ROWS = Limit("rows", "rows a second", 100, is_least=True)


@pytest.mark.parametrize(
    ("seconds", "rows", "missed", "short"),
    [
        (1.0, 100, [], []),
        (1.5, 100, [], ["1.5 seconds; the aim is 1.0, pinned at 2.0"]),
        (2.1, 99, ["2.1 seconds; the aim is 1.0, pinned at 2.0", "99 rows a second; the aim is 100"], []),
    ],
)
def test_what_is_pinned_is_told_and_what_is_worse_is_missed(
    seconds: float, rows: int, missed: list[str], short: list[str]
) -> None:
    assert judge({"seconds": seconds, "rows": rows}, (SECONDS, ROWS)) == (missed, short)


def test_only_a_miss_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    conclude({}, [], ["1.5 seconds"])
    assert capsys.readouterr().err == "short of its aim, as is known: 1.5 seconds\n"
    with pytest.raises(SystemExit) as ended:
        conclude({}, ["2.1 seconds"])
    assert ended.value.code == 1
