"""What an index was made of: its sources, their documents and rows, and how the last run of each went."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from schemas.lineage import reason_of_run, state_of_run


def describe_sources(
    *,
    states: Mapping[str, Mapping[str, int]],
    rows: Mapping[str, Mapping[str, Any]],
    runs: Mapping[str, Mapping[str, Any]],
    under_way: Collection[str],
) -> dict[str, Any]:
    """Return each source by its name: documents by state, rows that readers see, and its last run.

    Args: runs: the last reports by source. under_way: names of leases that somebody holds.
    """
    return {
        name: {
            "documents": dict(states.get(name, {})),
            "rows": rows.get(name, {}),
            "last_run": last_run(runs.get(name), under_way=f"source:{name}" in under_way),
        }
        for name in source_names(states, rows, runs)
    }


def source_names(
    states: Collection[str], rows: Collection[str], runs: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return, in order, the sources of an index: with documents, with rows, or with a run that went wrong.

    Args: runs: the last reports by source.
    """
    return tuple(sorted({*states, *rows, *_unfinished(runs)} - {""}))


def _unfinished(runs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Sources whose last run says why there is nothing of them; one that was dropped is no news."""
    return {name for name, run in runs.items() if run["state"] != "finished"}


def last_run(run: Mapping[str, Any] | None, *, under_way: bool) -> dict[str, Any] | None:
    """What a person asks of the last run of a source; one that ended without closing was interrupted."""
    if run is None:
        return None
    report = run["report"] or {}
    return {
        "state": state_of_run(run["state"], under_way=under_way),
        "started_at": run["started_at"],
        "finished_at": run["finished_at"],
        "generation": report.get("generation"),
        "reason": reason_of_run(run["state"], report, under_way=under_way),
        "cost": report.get("cost"),
        "problems": len(problems := report.get("problems", [])),
        "problem_list": problems,
    }


def group_problems(problems: Iterable[Mapping[str, str]]) -> list[tuple[str, list[str]]]:
    """Return URLs by the reason of their problem, the commonest first."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        by_reason[problem["reason"]].append(problem["url"])
    return sorted(by_reason.items(), key=lambda kind: (-len(kind[1]), kind[0]))
