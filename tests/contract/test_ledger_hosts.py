"""What was learnt of hosts, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger


def test_a_host_stays_distrusted_for_the_first_reason_given(ledger: Ledger) -> None:
    assert ledger.hosts.distrusted() == {}

    ledger.hosts.distrust({"b.test:443": "a 304 lied", "a.test:80": "o'neill's too"}, now="2026-01-01")
    ledger.hosts.distrust({"b.test:443": "again"}, now="2026-02-01")
    ledger.hosts.distrust({}, now="2026-03-01")

    assert list(ledger.hosts.distrusted().items()) == [
        ("a.test:80", "o'neill's too"),
        ("b.test:443", "a 304 lied"),
    ]


def test_dates_of_a_site_are_not_believed_up_to_the_last_time_they_went_back(ledger: Ledger) -> None:
    assert ledger.hosts.disbelieved_dates() == {}

    ledger.hosts.disbelieve_dates(["http://b.test/", "http://a.test/"], now="2026-01-01")
    ledger.hosts.disbelieve_dates(["http://b.test/"], now="2026-02-01")
    ledger.hosts.disbelieve_dates([], now="2026-03-01")

    assert list(ledger.hosts.disbelieved_dates().items()) == [
        ("http://a.test/", "2026-01-01"),
        ("http://b.test/", "2026-02-01"),
    ]
