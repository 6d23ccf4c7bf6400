"""What was wrong with the documents of a run, and with a run that ends without a report."""

from collections.abc import Iterable, Iterator, Sequence

from flows.run.contexts import RunContext
from indexes.stores.ledger.seen import SeenDocument
from indexes.stores.ledger.stops import KEPT
from ingest.parse.page_kind import NO_PASSAGES
from ingest.plan.traps import redirect_rings
from schemas.errors import ConfigError, GuardRefused, SitegraphError
from schemas.records import to_record
from schemas.redaction import one_line
from schemas.report import Problem


def problems_so_far(run: RunContext) -> tuple[Problem, ...]:
    """The problems of a run that is under way."""
    return problems_of(run, run.index.ledger.seen.of_run(run.source.name, run.run_id))


def problems_of(run: RunContext, seen: Sequence[SeenDocument]) -> tuple[Problem, ...]:
    """Documents that could not be used, and each reason that stopped others, by URL and reason."""
    ledger = run.index.ledger
    troubled = ("failed", "missing", "disallowed", "quarantined")
    failed = {
        Problem(url=d.uri, reason=f"{d.state.value}: {d.reason}" if d.reason else d.state.value)
        for d in seen
        if d.state.value in troubled
    }
    others = (*_stopped(run, seen), *_unmatched(run), *_indexes_as_one(ledger.runs.problems(run.run_id)))
    told = {
        Problem(url=one_line(problem.url), reason=one_line(problem.reason)) for problem in {*failed, *others}
    }
    return tuple(sorted(told, key=lambda problem: (problem.url, problem.reason)))


def _indexes_as_one(problems: Iterable[Problem]) -> Iterator[Problem]:
    """One line for all indexes of a kind: a site has one for each tag and letter."""
    indexes: dict[str, set[str]] = {}
    for problem in problems:
        if problem.reason.endswith(NO_PASSAGES):
            indexes.setdefault(problem.reason, set()).add(problem.url)
        else:
            yield problem
    for reason, urls in indexes.items():
        more = f"; pages: {len(urls)}, such as this one" if len(urls) > 1 else ""
        yield Problem(url=min(urls), reason=f"{reason}{more}")


def _stopped(run: RunContext, seen: Sequence[SeenDocument]) -> Iterator[Problem]:
    """One line for all documents that one reason stopped, so that a trap does not drown the rest."""
    for count in run.index.ledger.stops.counts(run.run_id):
        yield _not_followed(count.reason, count.documents, count.example)
    rings = redirect_rings({d.uri: d.location for d in seen if d.location is not None})
    if rings:
        yield _not_followed("redirects lead back to where they began", len(rings), rings[0])


def _unmatched(run: RunContext) -> Iterator[Problem]:
    """Selectors of the source's `content` that match none of its pages, read in this run or before."""
    cleaning = run.source.cleaning
    if cleaning is None or not (named := tuple(cleaning.labels())):
        return
    name = run.source.name
    matched = run.index.ledger.matches.of_source(name, pipeline_version=run.pipeline_version)
    if matched is not None:
        yield from (Problem(url=name, reason=f"{one} matched no page") for one in named if one not in matched)


def _not_followed(reason: str, documents: int, example: str) -> Problem:
    number = f"at least {KEPT}" if documents >= KEPT else str(documents)
    return Problem(url=example, reason=f"{reason}; documents not followed: {number}, such as this one")


def record_end(run: RunContext, error: Exception) -> None:
    """Keep in the ledger why a run ends without a report, and what was wrong with its documents.

    One that a guard refused, or whose settings are wrong, is closed: the next must look again, not go on
    where this one ended. Any other stays open for the next to go on with.
    """
    runs, run_id = run.index.ledger.runs, run.run_id
    problems = [to_record(problem) for problem in problems_so_far(run)]
    name = run.source.name
    reason = error.under(name) if isinstance(error, SitegraphError) else one_line(str(error))
    record = {"reason": reason or type(error).__name__, "problems": problems}
    if isinstance(error, GuardRefused | ConfigError):
        runs.finish(run_id, state="refused", now=run.index.now(), report=record)
    else:
        runs.note(run_id, record)
