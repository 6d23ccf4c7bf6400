"""Who lets new documents in, one at a time, over SQLite files and a real PostgreSQL."""

import threading

from indexes.stores.ledger.ledger import Ledger


def test_two_do_not_let_documents_of_a_source_in_at_once(ledger: Ledger) -> None:
    inside, entered = [0], list[int]()

    def let_in() -> None:
        for _ in range(20):
            with ledger.admission.locked("handbook"):
                inside[0] += 1
                entered.append(inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=let_in) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert entered == [1] * 60


def test_a_second_one_waits_for_the_first(ledger: Ledger) -> None:
    done = threading.Event()

    def let_in() -> None:
        with ledger.admission.locked("handbook"):
            done.set()

    with ledger.admission.locked("handbook"):
        waiting = threading.Thread(target=let_in)
        waiting.start()
        assert not done.wait(0.3)
        ledger.documents.save([])  # the block may write
    assert done.wait(120)
    waiting.join()
