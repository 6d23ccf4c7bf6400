"""Manifests kept a second time, in either database."""

from indexes.stores.ledger.ledger import Ledger


def test_the_last_manifest_kept_of_a_generation_is_given_back(ledger: Ledger) -> None:
    for text in ("first\n", "second\n"):
        ledger.manifests.save(3, text)

    assert ledger.manifests.get(3) == "second\n"
    assert ledger.manifests.get(4) is None


def test_those_of_pruned_generations_go(ledger: Ledger) -> None:
    for number in (1, 2, 3):
        ledger.manifests.save(number, str(number))

    ledger.manifests.forget_before(3)

    assert [ledger.manifests.get(number) for number in (1, 2, 3)] == [None, None, "3"]


def test_what_was_published_last_is_known(ledger: Ledger) -> None:
    assert ledger.generations.newest_published() is None
