"""What a batch changes."""

from indexes.stores.neo4j_.batches import plan_batch


def row(key: str, sha: str) -> dict[str, str]:
    return {"id": key, "row_sha256": sha}


def test_rows_that_stand_there_already_are_left_alone() -> None:
    plan = plan_batch([row("a", "1"), row("b", "2")], {"a": "1", "b": "2", "c": "3"})
    assert (plan.added, plan.ended) == ((), ())


def test_a_changed_row_replaces_its_live_one() -> None:
    plan = plan_batch([row("a", "new")], {"a": "old"})
    assert (plan.added, plan.ended) == ((row("a", "new"),), ("a",))


def test_a_new_row_ends_nothing() -> None:
    plan = plan_batch([row("a", "1")], {})
    assert (plan.added, plan.ended) == ((row("a", "1"),), ())
