"""The body of a question becomes a query, and the time that it is asked of a generation."""

from pathlib import Path

from indexes.wiring import Readers
from retrieval.as_of import find_generation
from retrieval.question import query as queries
from schemas.errors import ConfigError, FilterError
from schemas.evidence import Query
from sitegraph.service.contract import RetrieveRequest
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem, unprocessable


def build_question(body: RetrieveRequest) -> Query:
    """Return the query that a body asks.

    Raises: HttpProblem: a filter or a value is wrong.
    """
    try:
        return queries.build_query(
            body.query,
            filters=queries.filters_from_record(body.filters),
            top_k=body.top_k,
            token_budget=body.token_budget,
            use_graph=body.use_graph,
            rerank=body.rerank,
            persona=body.persona,
            tool=body.tool_use(),
            version=body.version,
        )
    except (ConfigError, FilterError) as error:
        raise unprocessable(error) from error


def at(parts: Parts, as_of: str | int | None) -> str | None:
    """Return the number of the kept generation that *as_of* means; None for the current one.

    Raises: HttpProblem: nothing of then is kept; what reading the index raises.
    """
    if as_of is None:
        return None
    root = parts.retriever.read(_root)  # from here on it is the time that leads nowhere
    try:
        return str(find_generation(root, str(as_of)))
    except ConfigError as error:
        raise HttpProblem(404, error.message, "NotFound") from error


def _root(readers: Readers) -> Path:
    return readers.index
