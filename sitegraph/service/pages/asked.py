"""What somebody asks on a page: the fields of the form, as a query, and as an address again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request

from retrieval.question.query import TOP_K_MAX, build_query, filters_from_record
from schemas.evidence import Query

FILTERS = ("source", "doc_type", "kind", "since", "until")
RESULTS, TOKENS = 10, 20_000
"""Of a list; so many tokens that none is left out for its length, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The fields of the form; empty ones were not filled in.

    `since` and `until` are days, `n` asks for more.
    """

    q: str = ""
    source: str = ""
    doc_type: str = ""
    kind: str = ""
    since: str = ""
    until: str = ""
    n: str = ""

    @property
    def top_k(self) -> int:
        """How many results."""
        return TOP_K_MAX if self.n else RESULTS

    @property
    def filtered(self) -> bool:
        """Whether any filter is set."""
        return any(getattr(self, name) for name in FILTERS)

    def address(self, path: str) -> str:
        """Return where the same is asked at *path*."""
        given = {name: getattr(self, name) for name in ("q", *FILTERS, "n") if getattr(self, name)}
        return f"{path}?{urlencode(given)}" if given else path

    def more(self) -> "Asked":
        """Return the same with as many results as there may be."""
        return replace(self, n=str(TOP_K_MAX))

    def about(self, words: str) -> "Asked":
        """Return another question under the same filters."""
        return replace(self, q=words)

    def unfiltered(self) -> "Asked":
        """Return the question alone."""
        return Asked(q=self.q)


def read_asked(fields: Mapping[str, str]) -> Asked:
    """Read the fields of the form; others are left out."""
    return Asked(**{name: fields.get(name, "").strip() for name in Asked.__dataclass_fields__})


def tidy_address(request: Request) -> str | None:
    """Return the address of a request without the fields of its form that are empty, None if none is."""
    if all(request.query_params.values()):
        return None
    return read_asked(request.query_params).address(request.url.path)


def query_of(asked: Asked, *, top_k: int, token_budget: int, rerank: bool | None = None) -> Query:
    """Return the query; *rerank* as a `Query` has it.

    Raises: ConfigError, FilterError: it is too long, or a filter is impossible; the message says which.
    """
    record: dict[str, str | list[str]] = {
        name: getattr(asked, name) for name in ("source", "doc_type", "kind") if getattr(asked, name)
    }
    bounds = [f"{sign}{day}" for sign, day in ((">=", asked.since), ("<=", asked.until)) if day]
    if bounds:
        record["last_modified"] = bounds
    return build_query(
        asked.q,
        filters=filters_from_record(record),
        top_k=top_k,
        token_budget=token_budget,
        rerank=rerank,
    )
