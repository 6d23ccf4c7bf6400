"""What came of each phase for each contestant, and the tables of it. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

ORCHESTRATION = frozenset({"prefect"})
OURS_ALONE = frozenset({"parse", "link", "names", "similar", "authority"})
"""Causes in a run's account of what the others are not asked for: parsing, and what only a graph has.

Writing the rows of the graph, and the search indexes, which others do not make, are not among them.
"""
MAX_EMBEDS = 11
"""Aim for a paragraph into each of ten documents: one of them may be cut anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One phase of one contestant: what is wrong with its table, or nothing, and what it took.

    `causes` is the run's own account, which only ours gives, CPU seconds by cause.
    """

    contestant: str
    phase: str
    wrong: str
    cpu: float
    embeds: int
    rows: int
    versions: int
    size: int
    causes: Mapping[str, float] = field(default_factory=dict)

    def without(self, causes: Collection[str]) -> float:
        """CPU seconds less those of some causes."""
        return self.cpu - sum(spent for cause, spent in self.causes.items() if cause in causes)


def render(results: Sequence[Result]) -> str:
    """Render two tables: CPU seconds and texts encoded; rows, new versions of the table, bytes."""
    names = tuple(dict.fromkeys(result.contestant for result in results))
    phases = tuple(dict.fromkeys(result.phase for result in results))
    by = {(result.phase, result.contestant): result for result in results}
    ours = next((result.contestant for result in results if result.causes), None)
    parts = ("without Prefect", "and parser and graph") if ours else ()
    head = _line("CPU s, texts encoded", *names, *parts)
    spent = [
        _line(
            phase,
            *(_spent(by.get((phase, name))) for name in names),
            *_parts(by.get((phase, ours)) if ours else None, len(parts)),
        )
        for phase in phases
    ]
    kept_head = _line("rows, new versions, MB", *names)
    kept = [_line(phase, *(_kept(by.get((phase, name))) for name in names)) for phase in phases]
    rule, kept_rule = _rule(1 + len(names) + len(parts)), _rule(1 + len(names))
    return "\n".join([head, rule, *spent, "", kept_head, kept_rule, *kept])


def misses(results: Sequence[Result], *, ours: str, beside: str) -> list[str]:
    """Say which aims were missed.

    *ours* is to be right throughout, to encode few texts, and where nothing changed to take no more CPU time
    than *beside*.
    """
    mine = [result for result in results if result.contestant == ours]
    said = [f"{one.phase}: {one.wrong}" for one in mine if one.wrong]
    said += [
        f"{one.phase}: {one.embeds} texts encoded; the aim is {MAX_EMBEDS}"
        for one in mine
        if one.phase.startswith("a paragraph") and one.embeds > MAX_EMBEDS
    ]
    idle = {result.contestant: result.cpu for result in results if result.phase == "no change"}
    if beside in idle and ours in idle and idle[ours] > idle[beside]:
        said.append(f"no change: {idle[ours]:.2f} CPU s; {beside} takes {idle[beside]:.2f}")
    return said


def _spent(result: Result | None) -> str:
    if result is None:
        return "-"
    return f"wrong: {result.wrong}" if result.wrong else f"{result.cpu:.2f}, {result.embeds:,}"


def _parts(result: Result | None, count: int) -> tuple[str, ...]:
    if result is None or result.wrong or not result.causes:
        return ("-",) * count
    return tuple(f"{result.without(causes):.2f}" for causes in (ORCHESTRATION, ORCHESTRATION | OURS_ALONE))


def _kept(result: Result | None) -> str:
    return f"{result.rows:,}, {result.versions}, {result.size / 1e6:.1f}" if result else "-"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return f"|{'---|' * columns}"
