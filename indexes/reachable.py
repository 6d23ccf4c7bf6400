"""Whether the servers that the settings name answer, asked once and for reading alone.

Each function returns when its server answers, and raises StoreUnavailable or ConfigError, which say why it
does not and what to do.
"""


def ask_neo4j(uri: str, user: str, password: str) -> None:
    """Log in to Neo4j and run a statement."""
    from indexes.stores.neo4j_.session import Connection

    connection = Connection(uri, user, password, retry_seconds=0.0)
    try:
        connection.read(lambda transaction: transaction.run("RETURN 1"))
    finally:
        connection.close()


def ask_ledger(url: str) -> None:
    """Connect to the ledger's database; makes no table."""
    from indexes.stores.ledger.engine import ask

    ask(url)


def ask_objects(url: str) -> None:
    """List what is under a name that nothing has, which a missing bucket or login refuses."""
    from indexes.stores.objects import open_object_store

    next(open_object_store(f"{url.rstrip('/')}/nothing-is-here").hashes(), None)
