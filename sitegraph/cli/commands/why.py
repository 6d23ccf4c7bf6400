"""`sitegraph why`: everything known of one document."""

import re
from contextlib import closing
from typing import Annotated, Any

import typer

from retrieval.bundle.render import show_line
from schemas.documents import ASLEEP
from sitegraph.cli.options import FormatOption, IndexOption, print_result, source_option
from sitegraph.cli.reading import read_shown_settings

_DAY = 86400.0


def why(
    name: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="A URL or the end of one, a path of a files source, a document id or a node id.",
        ),
    ],
    index: IndexOption = None,
    source: Annotated[str | None, source_option("Only documents of this source.")] = None,
    output: FormatOption = "text",
) -> None:
    """Explain how a document was found, what each fetch returned, what became of it, and when it is due.

    Sends no request: scope and robots.txt are as the last run saw them.

    Examples:

      sitegraph why https://docs.example.org/handbook/leave.html --index ./index

      sitegraph why guide/backup.md --source notes

      sitegraph why GOV-0017 --format json
    """
    from flows.run.opening import open_described
    from sitegraph.actions.explain import explain

    with closing(open_described(read_shown_settings(index))) as opened:
        record = explain(opened, name, source=source)
    print_result(output, record, ["\n\n".join(_text(document) for document in record["documents"])])


def _text(document: dict[str, Any]) -> str:
    return "\n".join(show_line(line) for part in _lines(document) for line in part.split("\n"))


def _lines(document: dict[str, Any]) -> list[str]:
    facts = {
        "title": document["title"],
        "source": document["source"],
        "state": _state(document),
        "found": "\n              ".join(_trail(document["found"])),
        "aliases": ", ".join(document["aliases"]),
        "translated": ", ".join(map(_translation, document["translations"])),
        "scope": "included" if document["scope"]["included"] else document["scope"]["reason"],
        "robots.txt": document["robots"],
        "index": _indexed(document["index"]),
        "due": _due(document["looks"], asleep=document["state"] in ASLEEP),
    }
    lines = [f"  {name:<11} {text}" for name, text in facts.items() if text]
    history = [f"    {_entry(entry)}" for entry in document["history"]]
    return [document["uri"], *lines, "  history", *(history or ["    none"])]


def _state(document: dict[str, Any]) -> str:
    status = f"HTTP {document['http_status']}" if document["http_status"] else ""
    reason = document["reason"] if document["reason"] != status else ""
    leads = f"leads to {document['leads_to']}" if document["leads_to"] else ""
    details = ", ".join(part for part in (status, reason, leads) if part)
    return f"{document['state']} ({details})" if details else str(document["state"])


def _trail(steps: list[dict[str, Any]]) -> list[str]:
    """One line a step; from the second on it names the document it is about."""
    ways = {"seed": "as a seed", "folder": "in a folder", "sitemap": "in a sitemap", "unknown": "somewhere"}
    ways |= {"feed": "in a feed", "llms.txt": "in llms.txt", "inventory": "in an inventory"}
    texts = [ways.get(step["how"]) or f"by a {step['how']} from {step['by']}" for step in steps]
    dated = [f"{way} at {step['at']}" if step["at"] else way for way, step in zip(texts, steps, strict=True)]
    return [dated[0], *(f"{step['uri']}: {way}" for way, step in zip(dated[1:], steps[1:], strict=True))]


def _translation(one: dict[str, Any]) -> str:
    told = ", ".join(part for part in (one["lang"], one["state"] or "not known") if part)
    return f"{one['uri']} ({told})"


def _indexed(indexed: dict[str, Any] | None) -> str:
    if indexed is None:
        return "in no generation"
    spans = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in indexed["generations"])
    number = "generation" if spans.isdigit() else "generations"
    now = f"{indexed['chunks']} chunks now" if indexed["current"] else "not in the current one"
    if indexed["stale"]:
        now += ", stale: the last good version of what is no longer so"
    content = f"content {indexed['content_hash'][:12]}" if indexed["content_hash"] else "no content"
    dated = ""
    if indexed["last_modified"]:
        dated = f", modified {indexed['last_modified']} ({indexed['last_modified_origin']})"
    return (
        f"{indexed['doc']}, {number} {spans or 'none'}, {now}, {content} of "
        f"{_seconds(indexed['fetched_at'])}{dated}"
    )


def _due(looks: dict[str, Any], *, asleep: bool) -> str:
    if looks["last"] is None:
        return "at the next run: not looked at yet"
    if asleep:
        return f"when a page, sitemap or seed names it again; last looked at {_seconds(looks['last'])}"
    every = f", then every {looks['interval_seconds'] / _DAY:.1f} days" if looks["interval_seconds"] else ""
    return f"{looks['next_due'] or 'at the next run'}{every}; last looked at {_seconds(looks['last'])}"


def _entry(entry: dict[str, Any]) -> str:
    parts = [entry["event"]]
    if entry["http_status"]:
        parts.append(f"HTTP {entry['http_status']}")
    if entry["conditional"] is not None:
        parts.append(f"{entry['bytes']:,} bytes")
        parts.append("validators sent" if entry["conditional"] else "no validators sent")
    if entry["from_state"] and entry["from_state"] != entry["to_state"]:
        parts.append(f"{entry['from_state']} > {entry['to_state']}")
    if entry["reason"] and not entry["reason"].startswith("HTTP"):
        parts.append(entry["reason"])
    if entry["location"]:
        parts.append(f"to {entry['location']}")
    if entry["event"] == "parsed" and entry["content_hash"]:
        parts.append(f"content {entry['content_hash'][:12]}")
    if entry["times"] > 1:
        parts.append(f"{entry['times']} times until {_seconds(entry['until'])}")
    return f"{_seconds(entry['at']) or 'unknown time':<25}  {', '.join(parts)}"


def _seconds(at: str | None) -> str:
    """A time without the fractions that only tell rows apart."""
    return re.sub(r"\.\d+", "", at or "")
