"""The hold on publishing after a rollback."""

from pathlib import Path

import pytest

from flows.run.leases import check_hold, lift_hold, set_hold
from indexes.layout import IndexLayout
from indexes.publish.current import held_since
from schemas.errors import GuardRefused


def test_publishing_is_free_until_it_is_held_and_again_when_it_is_lifted(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    check_hold(layout)
    set_hold(layout, now="2026-03-01T12:00:00+00:00")
    assert held_since(layout) == "2026-03-01T12:00:00+00:00"
    with pytest.raises(GuardRefused, match=r"rollback at 2026-03-01T12:00:00.*sitegraph rollback --lift"):
        check_hold(layout)
    assert lift_hold(layout)
    check_hold(layout)


def test_lifting_what_is_not_held_says_so(tmp_path: Path) -> None:
    assert not lift_hold(IndexLayout(tmp_path))


def test_an_empty_file_holds_as_well(tmp_path: Path) -> None:
    (tmp_path / "HOLD").touch()
    with pytest.raises(GuardRefused, match="at an unknown time"):
        check_hold(IndexLayout(tmp_path))


def test_a_second_hold_takes_the_place_of_the_first(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    for now in ("2026-03-01", "2026-03-02"):
        set_hold(layout, now=now)
    assert held_since(layout) == "2026-03-02"
