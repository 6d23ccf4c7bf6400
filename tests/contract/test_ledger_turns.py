"""Whose turn it is to ask a host, over SQLite files and a real PostgreSQL."""

import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.leases import HeldTurn, HostTurns, User, decide_turn, open_turns
from indexes.stores.ledger.tables import host_turn, host_user

HOST = "docs.test"
NOBODY = HeldTurn()


@pytest.fixture
def turns(ledger_url: str) -> Iterator[HostTurns]:
    opened = open_turns(ledger_url, seconds=5.0)
    yield opened
    opened.close()


def test_a_free_host_is_whose_who_asks_first_and_the_next_is_told_how_long_to_wait(turns: HostTurns) -> None:
    first = turns.take(HOST, holder="a", delay=1.0)
    second = turns.take(HOST, holder="b", delay=3.0)

    assert (first.wait, first.seconds, first.others) == (0.0, 5.0, 0)
    assert 0 < second.wait <= 5.0
    assert (second.delay, second.others) == (1.0, 1)
    assert turns.take("other.test", holder="b", delay=3.0).wait == 0


def test_a_turn_given_back_goes_to_the_other_after_the_longer_delay_of_both(turns: HostTurns) -> None:
    turns.take(HOST, holder="a", delay=0.1)
    turns.take(HOST, holder="b", delay=0.6)
    turns.release(HOST, holder="a", since=0.0, pause=0.1)
    released = time.monotonic()

    again = turns.take(HOST, holder="a", delay=0.1)
    assert again.wait > 0, "who waits comes before who has just had a turn"
    assert again.delay == 0.6
    while (turn := turns.take(HOST, holder="b", delay=0.6)).wait > 0:
        time.sleep(turn.wait)
    assert time.monotonic() - released >= 0.6


def test_what_the_host_asked_one_run_to_wait_holds_for_the_other(turns: HostTurns) -> None:
    turns.take(HOST, holder="a", delay=0.1)
    turns.release(HOST, holder="a", since=0.0, pause=600.0)
    assert 590 < turns.take(HOST, holder="b", delay=0.1).wait <= 600.1


def test_a_run_that_leaves_takes_its_delay_and_its_turn_with_it(turns: HostTurns) -> None:
    turns.take(HOST, holder="slow", delay=300.0)
    turns.leave("slow")
    time.sleep(0.05)
    left = turns.take(HOST, holder="b", delay=0.01)
    assert (left.wait, left.delay, left.others) == (0.0, 0.0, 0)


def test_the_turn_of_a_dead_run_expires(turns: HostTurns) -> None:
    turns.take(HOST, holder="dead", delay=1.0)
    engine = turns._engine
    with engine.begin() as connection:  # a minute and more goes by
        earlier = {"until": host_turn.c.until - 100, "asked_at": host_turn.c.asked_at - 100}
        connection.execute(sa.update(host_turn).values(**earlier))
        connection.execute(sa.update(host_user).values(expires_at=host_user.c.expires_at - 100))
    assert turns.take(HOST, holder="b", delay=1.0).wait == 0


def test_a_turn_is_kept_while_its_last_request_goes_on_and_is_not_given_back_by_others(
    turns: HostTurns,
) -> None:
    turns.take(HOST, holder="a", delay=0.1)
    turns.prolong(HOST, holder="b")
    turns.release(HOST, holder="b", since=0.0, pause=0.0)
    turns.prolong(HOST, holder="a")
    assert turns.take(HOST, holder="b", delay=0.1).wait > 0


ME, SLOW = User(holder="me", delay=1.0), User(holder="slow", delay=7.0)
EARLY = User(holder="early", delay=1.0, waiting_since=90.0)


@pytest.mark.parametrize(
    ("held", "me", "others", "wait"),
    [
        (NOBODY, ME, [], 0.0),
        (HeldTurn(asked_at=99.5, until=99.5), ME, [], 0.5),
        (HeldTurn(asked_at=99.5, until=99.5), ME, [SLOW], 6.5),
        (HeldTurn(asked_at=99.0, until=160.0), ME, [], 60.0),
        # Another has the turn: asked again when its time is over, then often.
        (HeldTurn(holder="slow", until=150.0, asked_at=104.0), ME, [SLOW], 4.0),
        (HeldTurn(holder="slow", until=150.0, asked_at=99.0), ME, [SLOW], 0.5),
        # It died: its turn is over, and its delay is kept from the last moment it can have asked.
        (HeldTurn(holder="dead", until=99.0, asked_at=50.0), ME, [], 0.0),
        (HeldTurn(holder="dead", until=99.0, asked_at=99.5), ME, [], 0.5),
        # Mine already.
        (HeldTurn(holder="me", until=150.0, asked_at=110.0), ME, [EARLY], 0.0),
        # Who waits longer is first.
        (NOBODY, ME, [EARLY], 0.5),
        (NOBODY, User(holder="me", delay=1.0, waiting_since=80.0), [EARLY], 0.0),
        # The clock of the database was put back by a day.
        (HeldTurn(until=86_500.0, asked_at=86_500.0), ME, [], 0.0),
    ],
)  # fmt: skip
def test_when_it_is_my_turn(held: HeldTurn, me: User, others: list[User], wait: float) -> None:
    assert decide_turn(held, me, others, now=100.0).wait == pytest.approx(wait)
