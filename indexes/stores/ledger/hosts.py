"""What was learnt of hosts, whichever source looked at them."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from indexes.stores.ledger.tables import host, insert_new, site_dates, upsert


class Hosts:
    """The `host` and `site_dates` tables."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def distrust(self, reasons: Mapping[str, str], *, now: str) -> None:
        """Record hosts whose 304 is no longer believed, and why; the first reason given stays."""
        rows = [{"host": name, "distrusted_at": now, "reason": reason} for name, reason in reasons.items()]
        with self._engine.begin() as connection:
            insert_new(connection, host, rows)

    def distrusted(self) -> Mapping[str, str]:
        """Reason by host, for every host whose 304 is not believed, ordered by host."""
        query = sa.select(host.c.host, host.c.reason).order_by(host.c.host)
        with self._reading.connect() as connection:
            return {row.host: row.reason for row in connection.execute(query)}

    def disbelieve_dates(self, sites: Collection[str], *, now: str) -> None:
        """Record that the dates which these sites gave before *now* say nothing of what they send."""
        with self._engine.begin() as connection:
            upsert(connection, site_dates, [{"site": site, "since": now} for site in sites])

    def disbelieved_dates(self) -> Mapping[str, str]:
        """Until when the dates that a site gave are not believed, by site (`https://docs.example/`)."""
        query = sa.select(site_dates.c.site, site_dates.c.since).order_by(site_dates.c.site)
        with self._reading.connect() as connection:
            return {row.site: row.since for row in connection.execute(query)}
