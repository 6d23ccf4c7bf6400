"""Which generations readers may ask for."""

import pytest

from indexes.stores.neo4j_.generations import (
    LAYOUT,
    GenerationRecord,
    begun,
    check_layout,
    finished,
    forgotten,
    only,
)
from schemas.errors import SchemaMismatch

THREE = GenerationRecord(finished=frozenset({1, 2, 3}), tip=3)


def test_a_begun_generation_is_hidden_until_it_is_finished() -> None:
    staging = begun(THREE, 4)
    assert staging == GenerationRecord(finished=frozenset({1, 2, 3}), staged=frozenset({4}), tip=3)
    done = finished(staging, 4)
    assert done == GenerationRecord(finished=frozenset({1, 2, 3, 4}), tip=4)


def test_beginning_a_finished_generation_again_hides_it() -> None:
    assert begun(THREE, 3).finished == {1, 2}


def test_forgetting_a_staged_generation_keeps_the_tip() -> None:
    assert forgotten(begun(THREE, 4), 4) == THREE


def test_forgetting_the_tip_leaves_it_unknown_so_that_the_next_stage_compares_with_the_base() -> None:
    left = forgotten(THREE, 3)
    assert left == GenerationRecord(finished=frozenset({1, 2}), tip=-1)


def test_pruning_hides_what_is_not_kept_and_invents_nothing() -> None:
    assert only(THREE, [2, 3, 9]).finished == {2, 3}


def test_a_graph_of_an_earlier_layout_is_to_be_built_anew() -> None:
    check_layout(GenerationRecord(), "ix")
    with pytest.raises(SchemaMismatch, match=r"in layout 2, not 3; .*sitegraph run SOURCE\.yaml --index NEW"):
        check_layout(GenerationRecord(layout=LAYOUT - 1), "ix")
