"""What an index leaves out, counted."""

from indexes.own_ledger import CAPPED, count_left_out


def test_what_is_left_out_is_counted_by_source_and_reason() -> None:
    states = {"a": {"fetched": 9, "out_of_scope": 3, "disallowed": 1, "failed": 4}, "b": {"fetched": 1}}
    capped = [
        {"url": "u", "reason": "max_pages 25 reached", "left_out": 40},
        {"url": "u", "reason": "deeper than max_depth 2", "left_out": 10_000},
        {"url": "u", "reason": "failed: HTTP 500"},
    ]
    runs = {"b": {"report": {"problems": capped}}, "c": {"report": None}}
    assert count_left_out(states, runs) == {
        "a": {"out of scope": 3, "forbidden by robots.txt": 1},
        "b": {CAPPED: 10040},
    }
