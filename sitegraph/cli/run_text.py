"""A run's report for a person: counts that add up, in words that need no manual."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.completeness import Completeness, completeness_lines
from schemas.records import from_record

CAUSES_TOLD = 5
"""So many causes a person is told; `--format json` has every one."""

_TOLD = {"documents": "documents linked", "chunks": "chunks written for their text, date or place"}
"""What is done to rows; of a document that changed every passage has a new date, and those behind the change
another place.
"""


def told_cost(cost: Mapping[str, Any] | None) -> str | None:
    """Say what a run cost; None where its report says nothing of it, as those of older versions."""
    if not cost or not cost["causes"]:
        return None
    causes = sorted(cost["causes"].items(), key=lambda one: -one[1]["cpu"])
    dearest = ", ".join(f"{name} {spent['cpu']:.1f}" for name, spent in causes[:CAUSES_TOLD])
    return f"cost {cost['total']['cpu']:.1f} CPU seconds ({dearest}); {', '.join(_rows(cost['rows']))}"


def _rows(rows: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for table, words in _TOLD.items():
        one = rows.get(table, {})
        yield f"{one.get('touched', 0):,} of {one.get('there', 0):,} {words}"


def told_completeness(record: Mapping[str, Any] | None) -> Iterator[str]:
    """Say how complete a source is, if a report tells."""
    for what, line in completeness_lines(from_record(Completeness, dict(record or {}))):
        yield f"{what}: {line}"


_LOOKED_AT = {
    "added": "new",
    "changed": "changed",
    "unchanged": "unchanged",
    "moved": "moved to another address",
    "redirected": "redirected",
    "duplicate": "copies of another page",
    "missing": "not found (404)",
    "gone": "removed",
    "dead_link": "links that lead nowhere",
    "out_of_scope": "out of scope",
    "quarantined": "held back as no content or as another text",
    "failed": "failed",
    "disallowed": "forbidden by robots.txt",
}
"""Each outcome in plain words; together they are all documents that were looked at."""


def render_report(report: dict[str, Any]) -> Iterator[str]:
    """Return the lines of a run's report (docs/reference/run-report.md), problems aside."""
    chunks, http, missing = report["chunks"], report["http"], report["missing"]
    published = f"generation {report['generation']} published" if report["published"] else "nothing changed"
    yield f"{report['source']}: {published}"
    yield f"  documents  {_documents(report['documents'])}"
    if missing["documents"]:
        yield f"  missing    {_missing(missing)}"
    in_all = chunks["added"] + chunks["unchanged"]
    text = f"{in_all} = {chunks['added']} new + {chunks['unchanged']} unchanged"
    yield f"  chunks     {text}; {chunks['removed']} removed"
    yield f"  embedded   {chunks['embedded']} texts (passages, headings, captions and link texts)"
    if http["requests"]:
        yield f"  http       {http['requests']} requests, {http['bytes']:,} bytes"
    if (secrets := report["secrets"])["values"]:
        yield f"  secrets    {secrets['values']} redacted in {secrets['documents']} documents"
    if any((pages := report["pdf_pages"]).values()):
        text = f"{pages['read']} read, {pages['recognised']} of them by OCR; {pages['reused']} reused"
        yield f"  pdf pages  {text}"
    if (checks := report.get("checks", {})).get("asked"):
        yield f"  checks     {checks['passed']} of {checks['asked']} passed; {checks['lost']} lost evidence"
    for line in told_completeness(report.get("completeness")):
        what, _, told = line.partition(": ")
        yield f"  {what:<9}  {told}"
    if (freshness := report["freshness"])["stale"]:
        late = f"{freshness['age'] / 3600:.1f} h after the last; promised: {freshness['slo'] / 3600:.1f} h"
        yield f"  freshness  was missed: this run ended {late}"
    if cost := told_cost(report.get("cost")):
        yield f"  cost       {cost.removeprefix('cost ')}"
    yield "  seconds    " + ", ".join(f"{name} {s:.1f}" for name, s in report["stages"].items())


def _documents(documents: dict[str, int]) -> str:
    parts = [f"{documents[name]} {words}" for name, words in _LOOKED_AT.items() if documents.get(name)]
    text = f"{documents['scheduled']} looked at" + (f" = {' + '.join(parts)}" if parts else "")
    unsent = documents.get("not_modified", 0)
    return text + (f"; of these {unsent} not sent again (304)" if unsent else "")


def _missing(missing: dict[str, Any]) -> str:
    return (
        f"{missing['documents']} stay as they were, and go if still not found after {missing['until']}; "
        "to remove them now: sitegraph run SOURCE.yaml --accept"
    )
