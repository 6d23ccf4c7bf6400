"""Leases of the ledger: one holder at a time, and a token that tells a late one it has lost."""

import multiprocessing
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from indexes.stores.ledger.leases import HeldLease, Lease
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.errors import StaleLease
from tests.fakes.ledger_rows import ODD_NAME

EARLY, NOON, LATE = (f"2026-01-01T{hour}:00:00.000+00:00" for hour in ("10", "12", "14"))


def acquire(ledger: Ledger, holder: str, *, now: str = EARLY, until: str = NOON) -> Lease | None:
    return ledger.leases.acquire("index", holder=holder, now=now, expires_at=until)


def hold(ledger: Ledger, holder: str, *, now: str = EARLY, until: str = NOON) -> Lease:
    held = acquire(ledger, holder, now=now, until=until)
    assert held is not None
    return held


def test_a_held_lease_is_given_to_nobody_not_even_its_holder(ledger: Ledger) -> None:
    hold(ledger, "a")

    assert acquire(ledger, "b") is None
    assert acquire(ledger, "a") is None
    assert ledger.leases.holder("index", now=EARLY) == "a"


def test_a_lease_is_free_again_at_the_moment_it_expires(ledger: Ledger) -> None:
    hold(ledger, "a", until=NOON)

    assert ledger.leases.holder("index", now=NOON) is None
    assert hold(ledger, "b", now=NOON, until=LATE).token == 2


def test_an_expired_lease_is_taken_over_and_its_token_is_stale(ledger: Ledger) -> None:
    old = hold(ledger, "a")
    new = hold(ledger, "b", now=NOON, until=LATE)

    assert new.token > old.token
    for refused in (
        lambda: ledger.leases.renew(old, expires_at=LATE),
        lambda: ledger.leases.check(old),
        lambda: ledger.leases.locked(old).__enter__(),
    ):
        with pytest.raises(StaleLease, match="index"):
            refused()
    ledger.leases.check(new)


def test_a_stale_holder_cannot_release_the_lease_of_the_new_one(ledger: Ledger) -> None:
    old = hold(ledger, "a")
    hold(ledger, "b", now=NOON, until=LATE)

    ledger.leases.release(old)

    assert ledger.leases.holder("index", now=NOON) == "b"


def test_a_renewed_lease_lasts_longer(ledger: Ledger) -> None:
    held = hold(ledger, "a")

    ledger.leases.renew(held, expires_at=LATE)

    assert acquire(ledger, "b", now=NOON, until=LATE) is None


def test_a_lease_that_ran_out_but_was_not_taken_may_be_renewed(ledger: Ledger) -> None:
    held = hold(ledger, "a", until=NOON)

    ledger.leases.renew(held, expires_at=LATE)

    assert ledger.leases.holder("index", now=NOON) == "a"


def test_a_released_lease_is_free_and_its_token_never_comes_back(ledger: Ledger) -> None:
    held = hold(ledger, "a")
    ledger.leases.release(held)

    assert ledger.leases.holder("index", now=EARLY) is None
    assert hold(ledger, "b").token == 2
    with pytest.raises(StaleLease):
        ledger.leases.check(held)


def test_the_lease_of_a_dead_holder_is_broken_and_of_nobody_else(ledger: Ledger) -> None:
    hold(ledger, "a")

    ledger.leases.break_("index", holder="b")
    assert ledger.leases.holder("index", now=EARLY) == "a"
    ledger.leases.break_("index", holder="a")
    assert ledger.leases.holder("index", now=EARLY) is None


def test_a_lease_that_never_was_is_stale(ledger: Ledger) -> None:
    with pytest.raises(StaleLease):
        ledger.leases.check(Lease(name="index", holder="a", token=1))


def test_leases_of_odd_names_are_held_apart(ledger: Ledger) -> None:
    name = ODD_NAME
    hold(ledger, "a")
    held = ledger.leases.acquire(name, holder=name, now=EARLY, expires_at=NOON)

    assert held is not None
    assert ledger.leases.holder(name, now=EARLY) == name
    assert ledger.leases.held(now=EARLY) == {"index", name}
    assert ledger.leases.held(now=NOON) == frozenset()


def test_of_many_threads_exactly_one_gets_a_lease_that_never_was(ledger: Ledger) -> None:
    together = threading.Barrier(8)

    def race(number: int) -> Lease | None:
        together.wait(120)
        return acquire(ledger, f"thread {number}")

    with ThreadPoolExecutor(8) as pool:
        won = [lease for lease in pool.map(race, range(8)) if lease is not None]

    assert len(won) == 1
    assert ledger.leases.holder("index", now=EARLY) == won[0].holder


def test_of_many_threads_exactly_one_takes_over_an_expired_lease(ledger: Ledger) -> None:
    tokens = [hold(ledger, "dead").token]
    for hour in range(5):
        now, until = f"2026-01-02T{hour:02}:00", f"2026-01-02T{hour + 1:02}:00"
        together = threading.Barrier(6)

        def race(
            number: int, together: threading.Barrier = together, now: str = now, until: str = until
        ) -> Lease | None:
            together.wait(120)
            return acquire(ledger, f"thread {number}", now=now, until=until)

        with ThreadPoolExecutor(6) as pool:
            won = [lease for lease in pool.map(race, range(6)) if lease is not None]
        assert len(won) == 1
        tokens.append(won[0].token)

    assert tokens == sorted(set(tokens))


def test_of_several_processes_exactly_one_gets_the_lease(ledger_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    together, answers = spawn.Barrier(3), spawn.Queue()
    processes = [spawn.Process(target=race_for_it, args=(ledger_url, n, together, answers)) for n in range(3)]
    for process in processes:
        process.start()
    won = [answers.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(120)

    # Each of them also made the tables, of a database that was empty.
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert sorted(won, key=str)[:1] == [1]
    assert won.count(None) == 2


def race_for_it(
    url: str, number: int, together: threading.Barrier, answers: "multiprocessing.Queue[int | None]"
) -> None:
    together.wait(120)
    ledger = open_ledger(url)
    held = acquire(ledger, f"process {number}")
    answers.put(None if held is None else held.token)
    ledger.close()


def test_nobody_takes_over_a_lease_while_it_is_locked(ledger: Ledger) -> None:
    held = hold(ledger, "a")
    with ThreadPoolExecutor(1) as pool:
        with ledger.leases.locked(held):
            other: Future[Lease | None] = pool.submit(acquire, ledger, "b", now=NOON, until=LATE)
            with pytest.raises(TimeoutError):
                other.result(timeout=0.5)
            ledger.leases.check(held)
        taken = other.result(timeout=30)

    assert taken is not None
    assert taken.token == 2


def test_what_goes_wrong_under_the_lock_lets_go_of_it(ledger: Ledger) -> None:
    held = hold(ledger, "a")
    with pytest.raises(OSError, match="disk full"), ledger.leases.locked(held):
        raise OSError("disk full")

    assert hold(ledger, "b", now=NOON, until=LATE).token == 2


def test_who_holds_which_lease_is_told_with_the_moment_they_took_it(ledger: Ledger) -> None:
    hold(ledger, "a")
    hold(ledger, "b", now=NOON, until=LATE)
    ledger.leases.acquire("source:site", holder="c", now=EARLY, expires_at=NOON)

    (held,) = ledger.leases.describe(now=NOON)

    assert held == HeldLease(name="index", holder="b", since=NOON, expires_at=LATE)


def test_a_lease_of_a_version_before_is_told_without_its_moment(ledger: Ledger) -> None:
    hold(ledger, "a")
    with ledger.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM lease_start")

    assert ledger.leases.describe(now=EARLY)[0].since is None
