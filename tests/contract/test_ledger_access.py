"""What every ledger knows of the groups that front matter states."""

from indexes.stores.ledger.ledger import Ledger


def test_groups_are_those_of_the_fragment_that_states_them(ledger: Ledger) -> None:
    assert not ledger.access.is_stated()

    for _ in range(2):  # a version that is parsed again states the same
        ledger.access.save({"f1": ("hr", "staff"), "f2": ()})

    assert ledger.access.is_stated()
    assert ledger.access.of_fragments(["f1", "f2", "f3"]) == {"f1": {"hr", "staff"}}


def test_groups_of_fragments_that_nothing_needs_are_dropped(ledger: Ledger) -> None:
    ledger.access.save({"f1": ("hr",)})

    assert ledger.retention.drop_facts() == 1
    assert ledger.access.of_fragments(["f1"]) == {}
