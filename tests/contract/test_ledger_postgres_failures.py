"""What the ledger says when PostgreSQL is away, closed to us, or breaks off: one line, and no secret."""

import os
import threading

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError, StoreUnavailable
from tests.fakes.ledger_rows import SECRET, make_known, refuses
from tests.fakes.postgres_server import PostgresServer


@pytest.mark.postgres
def test_a_wrong_password_is_unavailable_and_not_told(postgres_url: str) -> None:
    if "PG_TEST_URL" in os.environ:
        pytest.skip("somebody's own server may trust everybody")
    url = sa.make_url(postgres_url).set(password=SECRET)

    assert "password" in refuses(url.render_as_string(hide_password=False), StoreUnavailable)


@pytest.mark.postgres
def test_an_option_the_server_does_not_know_is_a_wrong_setting(postgres_url: str) -> None:
    assert "nonsense" in refuses(f"{postgres_url}?nonsense=1&password={SECRET}", ConfigError)


@pytest.mark.postgres
def test_a_database_that_is_not_there_is_unavailable(postgres_url: str) -> None:
    refuses(f"{postgres_url}_nowhere", StoreUnavailable)


@pytest.mark.postgres
def test_a_user_who_may_not_make_tables_is_a_wrong_setting(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    owner = sa.create_engine(
        postgres_url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool
    )
    with owner.begin() as connection:
        role = f"{sa.make_url(postgres_url).database}_role"
        connection.execute(sa.text(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'"))
    try:
        url = sa.make_url(postgres_url).set(username=role, password=SECRET)
        assert "permission denied" in refuses(url.render_as_string(hide_password=False), ConfigError)
    finally:
        with owner.begin() as connection:
            connection.execute(sa.text(f"DROP ROLE {role}"))


@pytest.mark.postgres
@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgres"])
def test_a_url_needs_to_name_no_driver(postgres_url: str, scheme: str) -> None:
    ledger = open_ledger(postgres_url.replace("postgresql:", f"{scheme}:"))
    ledger.documents.save([make_known("a")])

    assert ledger.documents.count("site") == 1
    ledger.close()


@pytest.mark.postgres
def test_a_server_that_restarted_is_connected_to_again(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    ledger = open_ledger(postgres_url)
    ledger.documents.save([make_known("a")])
    postgres_server.disconnect_all(postgres_url)

    assert ledger.documents.of_source("site") == (make_known("a"),)
    ledger.close()


@pytest.mark.postgres
def test_a_connection_cut_in_a_transaction_is_unavailable_and_leaves_nothing(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    ledger = open_ledger(postgres_url)
    held = ledger.leases.acquire("index", holder="a", now="1", expires_at="2")
    assert held is not None
    with pytest.raises(StoreUnavailable, match="ledger postgresql"), ledger.leases.locked(held):
        postgres_server.disconnect_all(postgres_url)

    ledger.leases.check(held)
    ledger.close()


@pytest.mark.postgres
def test_a_database_that_goes_away_is_unavailable(postgres_server: PostgresServer, postgres_url: str) -> None:
    ledger = open_ledger(postgres_url)
    postgres_server.drop_database(postgres_url)

    with pytest.raises(StoreUnavailable, match="does not exist"):
        ledger.documents.save([make_known("a")])
    with pytest.raises(StoreUnavailable, match="does not exist"):
        ledger.generations.unfinished()


@pytest.mark.postgres
def test_two_that_lock_each_other_out_are_told_to_try_again(postgres_url: str) -> None:
    ledger = open_ledger(postgres_url)
    ledger.documents.save([make_known("a"), make_known("b")])
    together, said = threading.Barrier(2), []

    def lock(first: str, second: str) -> None:
        update = sa.text("UPDATE document SET title = 'x' WHERE uri LIKE :uri")
        try:
            with ledger.engine.begin() as connection:
                connection.execute(update, {"uri": f"%/{first}"})
                together.wait(120)
                connection.execute(update, {"uri": f"%/{second}"})
        except StoreUnavailable as error:
            said.append(str(error))

    threads = [threading.Thread(target=lock, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert len(said) == 1
    assert "deadlock" in said[0]
    assert "try again" in said[0]
    ledger.close()


@pytest.mark.postgres
def test_two_that_change_the_same_row_at_once_are_told_to_try_again(postgres_url: str) -> None:
    ledger = open_ledger(postgres_url)
    ledger.documents.save([make_known("a")])
    strict = ledger.engine.execution_options(isolation_level="SERIALIZABLE")
    change = sa.text("UPDATE document SET title = 'x'")
    with strict.connect() as late:
        late.execute(sa.text("SELECT * FROM document")).all()
        with ledger.engine.begin() as quick:
            quick.execute(change)
        with pytest.raises(StoreUnavailable, match="try again"):
            late.execute(change)
    ledger.close()
