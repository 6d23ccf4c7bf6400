"""A ledger belongs to one index, over SQLite files and a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.ledger import Ledger
from schemas.errors import ConfigError, StoreUnavailable
from tests.fakes.ledger_rows import begin, freeze, make_live, publish, put


def test_a_new_ledger_is_nobodys_and_anybody_may_look(ledger: Ledger) -> None:
    assert ledger.owner.index_id() is None
    ledger.owner.check("a")
    assert ledger.owner.index_id() is None


def test_who_claims_it_keeps_it_and_others_are_refused(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.owner.claim("a")
    ledger.owner.check("a")

    for refused in (ledger.owner.claim, ledger.owner.check):
        with pytest.raises(ConfigError, match="SITEGRAPH_LEDGER_URL: names the ledger of another index"):
            refused("b")
    assert ledger.owner.index_id() == "a"


def test_of_many_indexes_that_claim_at_once_one_gets_it(ledger: Ledger) -> None:
    def race(number: int) -> bool:
        try:
            ledger.owner.claim(f"index {number}")
        except (ConfigError, StoreUnavailable):
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(race, range(6)))

    assert won.count(True) == 1
    assert ledger.owner.index_id() == f"index {won.index(True)}"


def test_what_an_index_says_replaces_what_an_old_ledger_knew(ledger: Ledger) -> None:
    """It knew of two generations and a third on its way; readers see the fifth and saw the seventh."""
    publish(ledger, put(make_live("a", "1")), base=0, payloads=["p"])
    publish(ledger, put(make_live("b", "1")), base=1)
    freeze(ledger, begin(ledger, base=2), [put(make_live("c", "1"))])
    fifth, seventh = row(5, GenerationState.PUBLISHED), row(7, GenerationState.ROLLED_BACK)
    live = make_live("a", "5", aliases=("https://site.test/z",))

    ledger.generations.restore([fifth, seventh], [live])

    assert ledger.generations.live(5) == ledger.generations.live(7) == {live.doc: live}
    assert ledger.generations.live(4) == {}
    assert (ledger.generations.get(5), ledger.generations.get(7)) == (fifth, seventh)
    assert ledger.generations.get(3) is None
    assert ledger.generations.payloads(1) == ()
    assert ledger.generations.unfinished() == ()
    assert publish(ledger, put(make_live("b", "8")), base=5) == 8
    assert len(ledger.generations.live(8)) == 2


def row(number: int, state: GenerationState) -> Generation:
    """A generation as its manifest tells of it."""
    return Generation(
        generation=number,
        base=number - 1,
        state=state,
        source="site",
        run_id="r",
        token=0,
        as_of="2026-01-01",
        plan_sha="p",
        details={},
    )
