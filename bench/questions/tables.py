"""Figures as tables: by kind, and differences with their intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from bench.questions.asking import Figures
from retrieval.learning.tuning import Interval, paired_bootstrap

MEASURES = ("hit@1", "hit@3", "hit@10", "R@3", "R@10", "all@10", "MRR", "opens", "says")
COMPARED = ("R@3", "R@10", "MRR")

Asked = Mapping[str, Figures]
"""Figures by question id."""
Kind = Callable[[str], str]


def kind_of(question: str) -> str:
    """Return the kind that a question's id names."""
    return question.rsplit("-", 2)[1]


def set_of(question: str) -> str:
    """Return the set that a question's id names."""
    return question.rsplit("-", 2)[0]


def print_ways(ways: Mapping[str, Asked]) -> None:
    """Print a row per way, over all questions."""
    print_header("", MEASURES)
    for name, asked in ways.items():
        print_row(name, asked.values(), MEASURES)


def print_groups(asked: Asked, group: Kind) -> None:
    """Print a row per kind or set of one way."""
    names = dict.fromkeys(group(question) for question in asked)
    print_header("", MEASURES)
    for name in names:
        chosen = [figures for question, figures in asked.items() if group(question) == name]
        print_row(f"{name} ({len(chosen)})", chosen, MEASURES)


def print_header(title: str, columns: Sequence[str]) -> None:
    """Print names of columns."""
    print(f"{title:34}" + "".join(f"{name:>8}" for name in columns))


def print_row(name: str, figures: Iterable[Figures], columns: Sequence[str]) -> None:
    """Print means in percent over the questions that have the measure."""
    rows = list(figures)
    cells = []
    for column in columns:
        values = [one[column] for one in rows if column in one]
        cells.append(f"{100 * mean(values):8.1f}" if values else f"{'-':>8}")
    print(f"{name:34}" + "".join(cells), flush=True)


def difference(asked: Asked, other: Asked, measure: str) -> Interval:
    """Return what *asked* gains over *other*, question by question, with its 95 % interval."""
    shared = [one for one in asked if one in other and measure in asked[one] and measure in other[one]]
    return paired_bootstrap([asked[one][measure] for one in shared], [other[one][measure] for one in shared])


def print_difference(
    asked: Asked, other: Asked, title: str, *, by_kind: bool = False, measures: Sequence[str] = COMPARED
) -> None:
    """Print the gains, overall and, where asked for, by kind."""
    gains = "; ".join(f"{one} {difference(asked, other, one)}" for one in measures)
    print(f"{title}: {gains}", flush=True)
    for kind in dict.fromkeys(map(kind_of, asked)) if by_kind else ():
        some = {question: figures for question, figures in asked.items() if kind_of(question) == kind}
        gains = "; ".join(f"{one} {difference(some, other, one)}" for one in measures)
        print(f"    {kind:14} {gains}", flush=True)
