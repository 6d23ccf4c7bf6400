"""The rules by name: what each finds, how bad it is, and what to do about it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from retrieval.lint.duplicates import duplicate_passages
from retrieval.lint.links import (
    dead_fragments,
    dead_links,
    missing_titles,
    orphans,
    redirected_links,
    unlinked,
)
from retrieval.lint.site import LintedSite, LintFinding, Severity
from retrieval.lint.terms import undefined_terms
from schemas.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """A rule: `summary` says what it finds, `help_` what to do. `asked`: it runs only where it is named."""

    id: str
    severity: Severity
    summary: str
    help_: str
    find: Callable[[LintedSite], Iterator[LintFinding]]
    asked: bool = False


_ALL = (
    LintRule(
        id="dead-fragment",
        severity=Severity.ERROR,
        summary="A link names an id that its target page does not have.",
        help_="Correct the fragment, or give the heading on the target page that id again.",
        find=dead_fragments,
    ),
    LintRule(
        id="dead-link",
        severity=Severity.ERROR,
        summary="A link leads to a page of the site that is not there.",
        help_="Correct the address, restore the page, or remove the link.",
        find=dead_links,
    ),
    LintRule(
        id="duplicate-passage",
        severity=Severity.NOTE,
        summary="A section stands in another document, too, in nearly the same words.",
        help_="Keep it in one place and link there, or include both from one file. Copies drift apart.",
        find=duplicate_passages,
    ),
    LintRule(
        id="missing-title",
        severity=Severity.WARNING,
        summary="A page has neither a title nor a heading.",
        help_="Give the page a heading: search results and link lists show it.",
        find=missing_titles,
    ),
    LintRule(
        id="orphan",
        severity=Severity.WARNING,
        summary="No other page links to this page.",
        help_="Link to it from where readers look for it, or remove it.",
        find=orphans,
    ),
    LintRule(
        id="redirected-link",
        severity=Severity.NOTE,
        summary="A link in the text leads to an address that leads on to another.",
        help_="Link to the address at the end.",
        find=redirected_links,
    ),
    LintRule(
        id="undefined-term",
        severity=Severity.NOTE,
        summary="Several documents use an acronym that none explains, on a site that explains others.",
        help_="Write it out where it is used first, or add it to the glossary.",
        find=undefined_terms,
    ),
    LintRule(
        id="unlinked",
        severity=Severity.NOTE,
        summary="Only menus link to this page, the text of no page does.",
        help_="Mention it where its subject comes up.",
        find=unlinked,
        asked=True,
    ),
)

RULES: Mapping[str, LintRule] = MappingProxyType({rule.id: rule for rule in _ALL})
"""All rules, in the order of their ids."""


def choose_rules(wanted: str, *, subject: str) -> tuple[str, ...]:
    """Return the ids of the rules that a list names, in order; of an empty list all that run unasked.

    Raises: ConfigError: there is no such rule, or some are named and others taken away.
    """
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    without = [name.removeprefix("-") for name in names if name.startswith("-")]
    if unknown := sorted({name.removeprefix("-") for name in names} - RULES.keys()):
        raise ConfigError(f"has no {', '.join(unknown)}; known: {', '.join(RULES)}", subject=subject)
    if without and len(without) < len(names):
        raise ConfigError("names rules with and without a minus; use one of them", subject=subject)
    if names and not without:
        return tuple(id_ for id_ in RULES if id_ in names)
    return tuple(id_ for id_, rule in RULES.items() if not rule.asked and id_ not in without)
