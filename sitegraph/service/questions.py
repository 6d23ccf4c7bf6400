"""The body of a question becomes a query."""

from retrieval.question import query as queries
from schemas.errors import ConfigError, FilterError
from schemas.evidence import Query
from sitegraph.service.contract import RetrieveRequest
from sitegraph.service.problems import unprocessable


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
        )
    except (ConfigError, FilterError) as error:
        raise unprocessable(error) from error
