"""What happens to one store of an index while the others stay whole."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation
from indexes.stores.ledger.tables import OPEN
from indexes.stores.raw import place_by_hash
from tests.fakes.damage import empty, flip, zero
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import query_session

Harm = Callable[[Path], object]
HarmServer = Callable[[Neo4jServer, Path], object]


def file_of(index: Path, table: str, folder: str = "data") -> Path:
    """A file in which the current generation has rows of a table, or what else is in a folder of it."""
    described = load_generation(IndexLayout(index), read_current(index))
    return index / next(
        path for path in sorted(described.files) if path.startswith(f"lance/{table}.lance/{folder}/")
    )


def parsed_of(index: Path) -> Path:
    """The parsed form of a document that readers see."""
    return _file(index, "fragments", f"SELECT min(fragment_sha) FROM doc_rev WHERE valid_to = {OPEN}")


def bytes_of(index: Path) -> Path:
    """The bytes of a document that readers see."""
    live = f"SELECT uri FROM doc_rev WHERE valid_to = {OPEN}"
    return _file(index, "raw", f"SELECT min(raw_sha) FROM document WHERE uri IN ({live})")


def _file(index: Path, folder: str, query: str) -> Path:
    with closing(sqlite3.connect(index / "ledger.sqlite")) as connection:
        (sha,) = connection.execute(query).fetchone()
    return index / folder / place_by_hash(sha)


def lose_ledger(index: Path) -> None:
    for path in index.glob("ledger.sqlite*"):
        path.unlink()


def break_ledger(index: Path) -> None:
    for path in index.glob("ledger.sqlite-*"):
        path.unlink()
    zero(index / "ledger.sqlite")


def sql(*statements: str) -> Harm:
    """Change rows of the ledger behind its back."""

    def change(index: Path) -> None:
        with closing(sqlite3.connect(index / "ledger.sqlite", isolation_level=None)) as connection:
            for statement in statements:
                assert connection.execute(statement).rowcount > 0, statement

    return change


def swap_vectors(index: Path) -> None:
    """Give each text the vector of another."""
    with closing(sqlite3.connect(index / "vectors.sqlite", isolation_level=None)) as connection:
        rows = list(connection.execute("SELECT rowid, vector FROM vector ORDER BY rowid"))
        for (rowid, _), (_, vector) in zip(rows, [*rows[1:], rows[0]], strict=True):
            connection.execute("UPDATE vector SET vector = ? WHERE rowid = ?", (vector, rowid))


def flip_deleted_rows(index: Path) -> None:
    """For this bit the driver asks for 4 TB, which ends the process."""
    flip(0.97)(file_of(index, "chunks", "_deletions"))


def flip_deleted_rows_and_swap_vectors(index: Path) -> None:
    flip_deleted_rows(index)
    swap_vectors(index)


EVERYWHERE: dict[str, tuple[str, Harm]] = {
    "ledger lost": ("ledger", lose_ledger),
    "ledger broken": ("ledger", break_ledger),
    "documents forgotten": (
        "documents",
        sql(f"DELETE FROM doc_rev WHERE valid_to = {OPEN} AND doc IN (SELECT min(doc) FROM doc_rev)"),
    ),
    "links and names forgotten": (
        "ledger rows",
        sql("DELETE FROM fragment_link WHERE rowid % 2 = 0", "DELETE FROM fragment_name WHERE seq = 0"),
    ),
    "fragment flipped": ("fragments", lambda index: flip(0.5)(parsed_of(index))),
    "vectors swapped": ("vectors", swap_vectors),
    "vectors emptied": ("vectors", lambda index: empty(index / "vectors.sqlite")),
    "links flipped": (
        "links",
        lambda index: [flip(0.5)(path) for path in (index / "links").glob("??/??/*")],
    ),
    "similar lost": ("similar", lambda index: shutil.rmtree(index / "similar")),
    "authority flipped": (
        "authority",
        lambda index: flip(0.5)(index / "authority" / f"{read_current(index)}.arrow"),
    ),
    "encoder flipped": ("encoder", lambda index: flip(0.5)(index / "encoder" / "encoder.onnx.data")),
    "chunks flipped": ("tables", lambda index: flip(0.5)(file_of(index, "chunks"))),
    "deleted rows flipped": ("tables", flip_deleted_rows),
    "deleted rows flipped, vectors swapped": ("vectors", flip_deleted_rows_and_swap_vectors),
    "pointer lost": ("pointers", lambda index: (index / "CURRENT").unlink()),
}
"""Damage to what lies in the folder wherever the graph is, with the action that a repair plans."""

IN_TABLES: dict[str, tuple[str, Harm]] = {
    "nodes lost": ("tables", lambda index: shutil.rmtree(index / "lance" / "nodes.lance")),
    "edges flipped": ("tables", lambda index: flip(0.5)(file_of(index, "edges"))),
}
"""Damage to a graph in LanceDB."""


def cypher(statement: str) -> HarmServer:
    """Change rows in Neo4j; the statement gives how many."""

    def change(server: Neo4jServer, index: Path) -> None:
        ix = json.loads((index / "index.json").read_text())["index_id"]
        with query_session(server) as session:
            assert session.run(statement, ix=ix, open=OPEN).single(strict=True)[0] > 0, statement

    return change


ON_SERVER: dict[str, HarmServer] = {
    "nodes lost": cypher(
        "MATCH (v:SitegraphRev {ix: $ix}) WHERE v.valid_to = $open WITH v ORDER BY v.id LIMIT 3 "
        "DETACH DELETE v RETURN count(*)"
    ),
    "node changed": cypher(
        "MATCH (v:SitegraphRev {ix: $ix}) WHERE v.valid_to = $open AND v.title IS NOT NULL "
        "WITH v ORDER BY v.id LIMIT 1 SET v.title = 'Somebody was here' RETURN count(*)"
    ),
    "edges lost": cypher(
        "MATCH ()-[v]->() WHERE v.ix = $ix AND v.valid_to = $open AND v.kind IN "
        "['links_to', 'similar_to'] WITH v ORDER BY v.id LIMIT 5 DELETE v RETURN count(*)"
    ),
    "edge of nobody": cypher(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'links_to'}]->(b) "
        "WHERE v.valid_to = $open WITH a, b, v LIMIT 1 "
        "CREATE (a)-[w:SITEGRAPH_EDGE]->(b) SET w = v {.*, id: 'invented', doc: 'nobody'} RETURN count(*)"
    ),
    "page of nobody": cypher(
        "MATCH (v:SitegraphRev {ix: $ix, kind: 'Page'}) WHERE v.valid_to = $open AND v.id = v.doc "
        "WITH v LIMIT 1 "
        "CREATE (:SitegraphRef {ix: $ix, id: 'invented'})-[:SITEGRAPH_HAS_REV]->(w:SitegraphRev) "
        "SET w = v {.*, id: 'invented', doc: 'invented'} RETURN count(*)"
    ),
    "page past reading": cypher(
        "MATCH (v:SitegraphRev {ix: $ix, kind: 'Page'}) WHERE v.valid_to = $open AND v.id = v.doc "
        "WITH v ORDER BY v.id LIMIT 1 REMOVE v.kind, v.source RETURN count(*)"
    ),
    "hashes changed": cypher(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'links_to'}]->() "
        "WHERE v.valid_to = $open WITH v ORDER BY v.id LIMIT 3 "
        "SET v.row_sha256 = 'ff' + substring(v.row_sha256, 2) RETURN count(*)"
    ),
    "edge twice": cypher(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'links_to'}]->(b) "
        "WHERE v.valid_to = $open WITH a, b, v LIMIT 1 "
        "CREATE (a)-[w:SITEGRAPH_EDGE]->(b) SET w = v {.*, valid_from: 0} RETURN count(*)"
    ),
    "edge turned": cypher(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'similar_to'}]->(b) WHERE v.valid_to = $open "
        "WITH a, b, v, properties(v) AS said ORDER BY v.id LIMIT 1 DELETE v WITH a, b, said "
        "CREATE (b)-[w:SITEGRAPH_EDGE]->(a) SET w = said RETURN count(*)"
    ),
}
"""Damage to a graph in Neo4j, which a repair mends row by row."""
