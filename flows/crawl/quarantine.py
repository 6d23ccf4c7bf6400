"""After the crawl, before anything is compared: what is no content is put aside, what is the same is one."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from flows.crawl.parse import read_once_more
from flows.run.contexts import CrawlContext, load_fragment, said_in
from flows.run.index import Index
from ingest.diff.alternate_forms import Shingles, find_alternate_forms, is_markdown, shingles_of
from ingest.diff.documents import is_held, without_tools
from ingest.diff.drift import DRIFTED, count_hold, has_drifted, has_settled, is_read_anew
from ingest.diff.guard import drift_message, quarantine_refusal
from ingest.diff.lifecycle import summarise_states, take_missing
from ingest.diff.moves import deduplicate, locate_gone
from ingest.diff.quarantine import (
    TINY_WORDS,
    Rewrite,
    Version,
    bad_content,
    find_same_text,
    has_collapsed,
    is_named_by,
    read_version,
    redirects_to_homepage,
    replaces_content,
    same_text_limit,
    sketch,
)
from ingest.diff.validators import host_of
from ingest.parse.formats.registry import is_text
from ingest.plan.scope import is_exempt, seed_urls
from ingest.sources.registry import kind_named
from ingest.urls import canonical_url
from schemas.advice import ADVICE, Trouble
from schemas.documents import READABLE, DocumentState, KnownDocument, LiveDocument, SoftError
from schemas.errors import DamageFound, GuardRefused
from schemas.families import version_of
from schemas.fragment import GraphFragment
from schemas.ids import sha256_hex
from schemas.nodes import DocumentKind
from schemas.report import Problem
from schemas.source import Source

_log = logging.getLogger(__name__)


def quarantine_and_deduplicate(run: CrawlContext, *, accept: bool) -> Sequence[KnownDocument]:
    """Quarantine what is no good though it came with 200, then deduplicate what several addresses share.

    Gives all rows of the source as they are then. *accept* takes pages that only became short as they are,
    and those that answered 404 as gone.

    Raises: GuardRefused: more than half of the documents that readers see are put aside, and *accept* is
    false.
    """
    ledger, name = run.index.ledger, run.source.name
    known: Sequence[KnownDocument] = ledger.documents.of_source(name)
    if kind_named(run.source.kind).by_path:  # nobody serves a login page in the place of a file
        return _located(run, known)
    taken = {d.uri: d for d in take_missing(known, run_id=run.run_id)} if accept else {}
    known = [taken.get(d.uri, d) for d in known]
    everything = without_tools(ledger.generations.live(run.index.current())).values()
    live = {document.uri: document for document in everything if document.source == name}
    errors = ledger.soft_errors.of_source(name)
    rows = {document.uri: document for document in known}
    judge = _Judge(run=run, live=live, shown=_shown(everything), accept=accept, soft_errors=errors, rows=rows)
    many = same_text_limit(run.source.quarantine.same_text, live=len(live))
    bad = _but_settled(_put_aside(known, judge, limit=many), known, live.keys(), many=many)
    if bad:
        _log.warning("put aside as no content: %s", summarise_states(bad.values()))
    known = [bad.get(d.uri, d) for d in known]
    deduplicated = duplicate_rows(run.index, run.source, known, live)
    ledger.documents.save((*taken.values(), *bad.values(), *deduplicated))
    put_aside = {d.uri for d in known if d.state is DocumentState.QUARANTINED}
    if told := drift_message(known, many=many, live=len(live)):
        ledger.runs.add_problems(run.run_id, [Problem(url=name, reason=told)])
    refusal = quarantine_refusal(len(put_aside & live.keys()), live=len(live))
    if refusal and not accept:
        raise GuardRefused(f"{refusal}; nothing was changed; {ADVICE[Trouble.LOSS]}", subject=name)
    return _replaced(known, deduplicated)


def _located(run: CrawlContext, known: Sequence[KnownDocument]) -> Sequence[KnownDocument]:
    """A copy of a file is a document of its own; one that is gone may go on under another path."""
    if not any(document.state is DocumentState.GONE for document in known):
        return known
    name, ledger = run.source.name, run.index.ledger
    live = ledger.generations.live(run.index.current(), source=name).values()
    version, says = partial(_version, run.source), partial(said_in, run.index)
    located = locate_gone(known, {one.uri for one in live}, version_of=version, says=says)
    ledger.documents.save(located)
    return _replaced(known, located)


def _replaced(known: Sequence[KnownDocument], changed: Sequence[KnownDocument]) -> Sequence[KnownDocument]:
    return tuple({document.uri: document for document in (*known, *changed)}.values())


def _version(source: Source, uri: str) -> str | None:
    """Of which version of a manual an address is, where addresses say so."""
    return version_of(source.family, uri) if source.family is not None and source.family.url else None


def _by_version(
    known: Iterable[KnownDocument], version: Callable[[str], str | None]
) -> Iterable[Sequence[KnownDocument]]:
    """Take the versions of a manual apart: readers ask for one, and none is another form of it."""
    found: dict[str | None, list[KnownDocument]] = {}
    for document in known:
        found.setdefault(version(document.uri), []).append(document)
    return found.values()


def duplicate_rows(
    index: Index, source: Source, known: Sequence[KnownDocument], live: Mapping[str, LiveDocument]
) -> tuple[KnownDocument, ...]:
    """Return the rows of a source that change since several addresses have the same content.

    *live* are the documents that readers see of it, by address.
    """
    held = {d.uri for d in known if d.uri in live and is_held(d, live[d.uri])}
    version = partial(_version, source)
    twins = {
        uri: twin
        for apart in _by_version(known, version)
        for uri, twin in _twins(index, apart, held, live.keys()).items()
    }
    says = partial(said_in, index)
    return deduplicate(known, held, live.values(), twins=twins, version_of=version, says=says)


def _twins(
    index: Index,
    known: Sequence[KnownDocument],
    held: Collection[str],
    seen: Collection[str],
) -> Mapping[str, tuple[str, str]]:
    """Address and reason for each document that is another form of one, by the text of both as it is now."""

    @cache
    def shingles(document: KnownDocument) -> Shingles:
        try:
            fragment = load_fragment(index, document.fragment_sha or "")
        except DamageFound:
            return frozenset()
        return shingles_of((fragment.text,)) if is_text(fragment.kind) else frozenset()

    stated = _stating(index, known)
    found = find_alternate_forms(known, shingles=shingles, held=held, seen=seen, stated=stated)
    return {uri: (twin.original, twin.why) for uri, twin in found.items()}


def _stating(index: Index, known: Sequence[KnownDocument]) -> Mapping[str, Sequence[str]]:
    """Pages that state Markdown in their heads, by its address."""
    pages = {document.fragment_sha: document.uri for document in known}
    linking = index.ledger.links.linking_beside_text({d.uri for d in known if is_markdown(d)})
    return {uri: sorted(pages[sha] for sha in shas if sha in pages) for uri, shas in linking.items()}


def _put_aside(known: Sequence[KnownDocument], judge: "_Judge", *, limit: int) -> Mapping[str, KnownDocument]:
    """Rows of what is no content by itself, and of many pages that changed to one text together."""
    reasons = {document.uri: why for document in known if (why := judge(document))}
    if not judge.accept:
        for uri, other in find_same_text(judge.rewrites, at_least=limit).items():
            if reasons.get(uri, DRIFTED) == DRIFTED:
                reasons[uri] = f"changed to one text together with other pages, such as {other}"
    rows = (d for d in known if d.uri in reasons and d.state is not DocumentState.QUARANTINED)
    bad = {d.uri: replace(d, state=DocumentState.QUARANTINED, reason=reasons[d.uri]) for d in rows}
    return {uri: count_hold(d) if d.reason == DRIFTED else d for uri, d in bad.items()}


def _but_settled(
    bad: Mapping[str, KnownDocument], known: Sequence[KnownDocument], live: Collection[str], *, many: int
) -> Mapping[str, KnownDocument]:
    """Without texts that are meant, unless most of the site is another one: that is for people to say."""
    aside = ({d.uri for d in known if d.state is DocumentState.QUARANTINED} | bad.keys()) & set(live)
    if len(aside) >= many and quarantine_refusal(len(aside), live=len(live)):
        return bad
    return {uri: document for uri, document in bad.items() if not has_settled(document)}


def _shown(everything: Iterable[LiveDocument]) -> Mapping[str, str]:
    """Hash of the content that readers see under each address, whichever source holds it."""
    return {uri: live.content_hash for live in everything for uri in (*live.aliases, live.uri)}


@dataclass(frozen=True, slots=True)
class _Probe:
    """What a host does with an address that nobody has: nothing, a page with 200, or a redirect."""

    page: Version | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """Says why a document is to be put aside; asks each host once what it does with unknown addresses."""

    run: CrawlContext
    live: Mapping[str, LiveDocument]
    shown: Mapping[str, str]
    accept: bool
    soft_errors: Mapping[str, SoftError]
    rows: Mapping[str, KnownDocument]
    probes: dict[str, _Probe] = field(default_factory=dict)
    rewrites: list[Rewrite] = field(default_factory=list)

    def __call__(self, document: KnownDocument) -> str | None:
        """Return the reason, or None for a document that is as good as it looks, or that is never judged.

        Rewritten pages are gathered in `rewrites`, also those that are not looked at in this run and wait.
        """
        old = self.live.get(document.uri)
        if is_exempt(document.uri, self.run.source):
            return None
        if document.state is DocumentState.REDIRECTED:
            return None if old is None or self.accept else self._lost(document)
        waits = document.state is DocumentState.QUARANTINED and old is not None
        if not (document.state in READABLE or waits) or document.parsed_sha != document.raw_sha:
            return None
        if self.shown.get(document.uri) == document.content_hash:
            return None
        tiny = document.words is not None and document.words < TINY_WORDS
        doubted = tiny or document.uri in self.soft_errors
        return self._content(document, old) if old is not None or doubted else None

    def _lost(self, document: KnownDocument) -> str | None:
        """A page that readers see redirects to where everything goes that is not there."""
        if redirects_to_homepage(document, seed_urls(self.run.source)):
            return f"redirects to the start page {document.location}"
        if document.location == self._probe(document.uri).location:
            return f"redirects to {document.location}, as addresses do that nobody has"
        return None

    def _content(self, document: KnownDocument, old: LiveDocument | None) -> str | None:
        try:
            past = None if old is None else load_fragment(self.run.index, old.fragment_sha)
            before = None if past is None else read_version(past)
            fragment = load_fragment(self.run.index, document.fragment_sha or "")
            raw = self.run.index.raw
            data = b"" if document.is_withheld else raw.get(document.raw_sha or "")
            now = read_version(fragment, data)
        except DamageFound:
            return None  # what is lost is parsed or fetched again; nothing can be said of it now
        if fragment.noindex:
            return self._unindexed(fragment.uri, before)
        if before is not None and replaces_content(now, before):
            self.rewrites.append(
                Rewrite(uri=document.uri, before=sketch(before.words), now=sketch(now.words))
            )
        if document.state not in READABLE or (old is None and self._is_listed(document, fragment, now)):
            return None
        if why := self._bad(fragment, now, before):
            return why
        is_other = past is not None and is_text(fragment.kind) and has_drifted(fragment, past)
        return DRIFTED if is_other and old is not None and not self._is_meant(document, old) else None

    def _is_meant(self, document: KnownDocument, old: LiveDocument) -> bool:
        """Whether somebody accepts what a page says now, or it only is read in another way."""
        if self.accept:
            return True
        history = self.run.index.ledger.history.of_document(document.source, document.uri)
        return is_read_anew(document, old, history)

    def _is_listed(self, document: KnownDocument, fragment: GraphFragment, now: Version) -> bool:
        """Whether the page that led here calls it what it calls itself, on a host that knows its pages."""
        linking = self.rows.get(document.found_by or "")
        if linking is None or linking.fragment_sha is None or fragment.kind != DocumentKind.HTML:
            return False
        named = is_named_by(load_fragment(self.run.index, linking.fragment_sha), fragment, now)
        return named and self._probe(fragment.uri).page is None

    def _unindexed(self, uri: str, before: Version | None) -> str | None:
        """A page that says `noindex` is as it should be, unless it came in the place of a good one."""
        error = self.soft_errors.get(uri)
        return error.reason if error is not None and error.sure and before is not None else None

    def _bad(self, fragment: GraphFragment, now: Version, before: Version | None) -> str | None:
        error = self.soft_errors.get(fragment.uri)
        if fragment.kind == DocumentKind.HTML:
            why = bad_content(now, before, missing=lambda: self._probe(fragment.uri).page, soft_error=error)
        else:
            why = error.reason if error is not None and error.sure and replaces_content(now, before) else None
        if why is not None:
            return why
        if has_collapsed(now, before) and not self.accept:
            return "less than a fifth of its text is left"
        return None

    def _probe(self, uri: str) -> _Probe:
        host = host_of(uri)
        if host not in self.probes:
            self.probes[host] = _ask(self.run, uri)
        return self.probes[host]


def _ask(run: CrawlContext, uri: str) -> _Probe:
    """Ask the host of *uri* for an address that nobody can have, within its robots.txt and pace."""
    url = canonical_url(f"/sitegraph-{sha256_hex(run.run_id)[:24]}", uri)
    try:
        result, page = read_once_more(run, KnownDocument(source=run.source.name, uri=url or uri))
    except GuardRefused:  # what nobody has may want another login than the source's, which is not lost for it
        return _Probe()
    if page is None:
        return _Probe(location=result.location)
    return _Probe(page=read_version(page, result.body or b""))
