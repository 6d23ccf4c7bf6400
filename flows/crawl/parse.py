"""Step 3: stored bytes become graph fragments, and their links become documents to look at."""

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from flows.crawl.plan import enqueue_targets, retire_variants
from flows.derive.embed import embed_ahead
from flows.run.contexts import CrawlContext, is_parsed, load_fragment, robot_name
from flows.run.values import Batch, ParsedBatch
from indexes.stores.ledger.fragment_rows import FragmentFacts, save_fragment_rows
from ingest.diff.drift import has_drifted
from ingest.diff.lifecycle import summarise_states
from ingest.diff.page_features import extract_features
from ingest.diff.quarantine import TINY_WORDS
from ingest.diff.soft_errors import find_soft_error
from ingest.diff.volatile import is_unchanged, looks_wanted
from ingest.link.naming import stated_names
from ingest.parse.formats.registry import document_version, document_versions, is_text
from ingest.plan.frontier import Frontier, plan_frontier, plan_redirect, redirects_outside, stub_target
from ingest.sources.registry import identify, kind_named
from ingest.urls import is_file_url
from ingest.uses import joined_uses
from schemas.batches import batched
from schemas.documents import COMPARED, READABLE, DocumentState, KnownDocument, SoftError
from schemas.errors import DamageFound, ParseError, UnsupportedMedia
from schemas.families import version_of
from schemas.fetch import FetchRequest, FetchResult
from schemas.fragment import LOSS, FormsBy, GraphFragment, ParseRequest, WordCoverage, with_uses
from schemas.ids import canonical_json, pdf_doc_id
from schemas.nodes import Dated
from schemas.records import from_record, to_record
from schemas.report import Problem
from schemas.secrets import find_secrets
from schemas.source import Source
from schemas.uses import UseOrigin, UseTerms

_log = logging.getLogger(__name__)

DOCUMENTS_PER_BATCH = 100


def parse_batch(run: CrawlContext, uris: Sequence[str]) -> ParsedBatch:
    """Parse those of the documents whose bytes are new to this pipeline version; count them."""
    known = run.index.ledger.documents.get(run.source.name, uris)
    stale = {uri: known[uri] for uri in sorted(known) if needs_parsing(run, known[uri])}
    run.progress.expect("parse", len(stale))
    fresh = [known[uri] for uri in known.keys() - stale.keys()]
    versions = _earlier_versions(run, stale.values())
    earlier = run.index.ledger.pages.of(versions.values())
    terms = run.index.ledger.uses.of(run.source.name, stale)
    named = run.index.ledger.translations.of(run.source.name, stale)
    taken = 0
    done = [_Done(led) for document in fresh if (led := _led_on(document)) is not document]
    try:
        for document in stale.values():
            run.raise_if_stopped()
            uri = document.uri
            pages = earlier.get(versions[uri])
            done.append(_parse(run, document, pages, terms.get(uri, ()), named.get(uri, {})))
            taken += _embed_ahead(run, document, done[-1])
            run.crash_point("parse.midway")
            run.progress.advance("parse")
    finally:
        _save(run, done)
        _drop_withheld(run, [*fresh, *(one.document for one in done)])
    if stale:
        told = summarise_states(one.document for one in done)
        _log.info("parsed %d, %d had been before: %s", len(stale), len(fresh), told)
    return ParsedBatch(documents=len(stale), texts=taken)


def _earlier_versions(run: CrawlContext, stale: Collection[KnownDocument]) -> Mapping[str, str]:
    """Hash of the version parsed before, by address; after a lost ledger it is the one that readers see."""
    docs = {pdf_doc_id(known.uri): known.uri for known in stale if known.fragment_sha is None}
    live = run.index.ledger.generations.live(run.index.current(), docs=docs) if docs else {}
    shown = {docs[doc]: one.fragment_sha for doc, one in live.items()}
    return {known.uri: known.fragment_sha or shown.get(known.uri, "") for known in stale}


def _embed_ahead(run: CrawlContext, before: KnownDocument, done: "_Done") -> int:
    """Only what is new and long: anything else may be put aside when the crawl is over, and never be read."""
    parsed, fragment = done.document, done.fragment
    if fragment is None or fragment.noindex or parsed.state not in READABLE or done.soft_error is not None:
        return 0
    if before.fragment_sha is None and (parsed.words or 0) >= TINY_WORDS:
        return embed_ahead(run, parsed.fragment_sha or "", fragment)
    return 0


def parse_what_is_left(run: CrawlContext) -> ParsedBatch:
    """Parse what an interrupted run fetched, or an older pipeline version made; no request is sent."""
    parts = [parse_batch(run, batch.uris) for batch in plan_leftovers(run)]
    return ParsedBatch(documents=sum(p.documents for p in parts), texts=sum(p.texts for p in parts))


def plan_leftovers(run: CrawlContext) -> tuple[Batch, ...]:
    """Batches of what `parse_leftovers` is to parse."""
    versions = document_versions(run.pipeline_version)
    stale = run.index.ledger.documents.unparsed(run.source.name, pipeline_versions=versions)
    parts = batched([document.uri for document in stale], DOCUMENTS_PER_BATCH)
    return tuple(
        Batch(shard="leftovers", number=number, uris=tuple(part)) for number, part in enumerate(parts)
    )


def needs_parsing(run: CrawlContext, known: KnownDocument) -> bool:
    """Whether a document is one to read, and what this run would make of its bytes is not there."""
    if known.state not in COMPARED or known.raw_sha is None:
        return False
    return not is_parsed(run, known)


@dataclass(frozen=True, slots=True)
class _Done:
    """A row, what its bytes gave, the hash of the pages of a PDF, what it seems to be, and its words."""

    document: KnownDocument
    fragment: GraphFragment | None = None
    pages_sha: str | None = None
    soft_error: SoftError | None = None
    coverage: WordCoverage | None = None
    uses: UseTerms | None = None


def _parse(
    run: CrawlContext, known: KnownDocument, past: str | None, told: UseTerms, named: FormsBy
) -> _Done:
    try:
        data = run.index.raw.get(known.raw_sha or "")
    except DamageFound:
        # The bytes are lost, or withheld, not the document: the next wave fetches it as if it were new.
        return _Done(replace(known, state=DocumentState.NEW, raw_sha=None, parsed_sha=None, run_id=None))
    pages = _pages(run, past)
    try:
        answer = run.parsers().parse(data, parse_request(run, known), pages=pages)
    except (ParseError, UnsupportedMedia) as error:
        # Read by an older version or not: the next look must not take these bytes for read.
        unread = replace(known, parsed_sha=None, failures=known.failures + 1, misses=0, missed_at=None)
        return _Done(replace(unread, state=DocumentState.FAILED, reason=error.message))
    fragment, record, modified = _as_kept(answer.record, told, named, now=known.checked_at)
    if _only_moves(run, known, fragment):
        said = known.canonical or fragment.canonical
        return _Done(_led_on(replace(known, raw_sha=known.parsed_sha, canonical=said, failures=0)))
    is_same = _says_as_held(run, known, fragment)
    parsed = replace(
        known,
        parsed_sha=known.raw_sha,
        fragment_sha=run.index.fragments.put(record),
        pipeline_version=document_version(run.pipeline_version, fragment.kind),
        content_hash=fragment.content_hash,
        stated_modified=modified.at if modified else None,
        stated_origin=modified.origin if modified else None,
        failures=0,
        misses=known.misses if is_same else 0,
        missed_at=known.missed_at if is_same else None,
        doc=fragment.doc,
        doc_id=fragment.doc_id,
        canonical=known.canonical or fragment.canonical,  # a header says it of any kind
        title=fragment.title,
        words=len(fragment.text.split()),
        secrets=len(fragment.secrets),
        withheld=bool(fragment.secrets) and not run.source.keep_raw,
        refresh=stub_target(fragment),
    )
    seen = _soft_error(fragment, data, parsed.words)
    pages_sha = _keep_pages(run, parsed, answer.pages, past)
    uses = dict.fromkeys((*fragment.uses, *(term for term in told if term.origin is not UseOrigin.META)))
    changed = tuple(uses) if {*uses} != {*told} else None
    return _Done(_led_on(parsed), fragment, pages_sha, seen, answer.coverage, changed)


def _only_moves(run: CrawlContext, known: KnownDocument, now: GraphFragment) -> bool:
    """Whether nothing of a page changed but clocks and counters in it; it is then looked at again.

    A file says what somebody wrote into it: nothing in it moves by itself.
    """
    earlier = replace(known, raw_sha=known.parsed_sha)
    if known.run_id != run.run_id or now.content_hash == known.content_hash or not is_text(now.kind):
        return False
    if is_file_url(known.uri):
        return False
    if known.parsed_sha is None or not run.index.raw.has(known.parsed_sha) or not is_parsed(run, earlier):
        return False
    try:
        held = load_fragment(run.index, known.fragment_sha or "")
    except DamageFound:
        return False
    looks = [now]
    for seconds in looks_wanted(held, now):
        run.stop.wait(seconds)
        again = read_once_more(run, known)[1]
        if again is None or is_unchanged(held, (*looks, again)):
            return again is not None
        looks.append(again)
    return is_unchanged(held, looks)


def read_once_more(run: CrawlContext, known: KnownDocument) -> tuple[FetchResult, GraphFragment | None]:
    """Ask for a document once more, and read it; nothing is written. None: it cannot be read."""
    results: list[FetchResult] = []
    request = FetchRequest(url=known.uri)
    run.opened_source().fetch([request], on_result=results.append, should_stop=run.stop.is_set)
    (result,) = results
    if result.body is None:
        return result, None
    try:
        answer = run.parsers().parse(
            result.body, parse_request(run, replace(known, content_type=result.content_type))
        )
    except (ParseError, UnsupportedMedia):
        return result, None
    return result, _as_kept(answer.record)[0]


def _as_kept(
    answered: bytes, said: UseTerms = (), named: FormsBy | None = None, *, now: str | None = None
) -> tuple[GraphFragment, bytes, Dated | None]:
    """Return a fragment and its bytes as they are kept, and apart from them the date that it states.

    *said* is what was said of the uses of the document, also beside its bytes, since when is known; what the
    bytes say anew is seen *now*. *named* are the translations that are named beside its bytes.
    """
    fragment = from_record(GraphFragment, json.loads(answered))
    uses = joined_uses(fragment.uses, said, now=now)
    told = {uri for by in (named or {}).values() for uri in by if not find_secrets(uri)} - {fragment.uri}
    if fragment.modified is None and uses == fragment.uses and not told:
        return fragment, answered, None
    # A new date alone makes no new fragment, and costs its readers nothing.
    kept = replace(with_uses(fragment, uses), modified=None, told_translations=tuple(sorted(told)))
    return kept, canonical_json(to_record(kept)).encode(), fragment.modified


def _says_as_held(run: CrawlContext, known: KnownDocument, now: GraphFragment) -> bool:
    """Whether a page whose text is held says much the same now: the number of an incident is another."""
    if not known.misses:
        return False
    try:
        return not has_drifted(now, load_fragment(run.index, known.fragment_sha or ""))
    except DamageFound:
        return False


def parse_as_kept(run: CrawlContext, known: KnownDocument) -> bytes:
    """Parse the bytes last fetched of a document; give what would be kept of it. Nothing is written.

    Raises: DamageFound: the bytes are lost; ParseError, UnsupportedMedia: they cannot be parsed.
    """
    answer = run.parsers().parse(run.index.raw.get(known.raw_sha or ""), parse_request(run, known))
    ledger, name, uri = run.index.ledger, run.source.name, known.uri
    said, named = ledger.uses.of(name, [uri]), ledger.translations.of(name, [uri])
    return _as_kept(answer.record, said.get(uri, ()), named.get(uri, {}), now=known.checked_at)[1]


def _soft_error(fragment: GraphFragment, data: bytes, words: int | None) -> SoftError | None:
    """Look at a page of the web while its bytes are at hand; what has secrets in it is not kept."""
    if is_file_url(fragment.uri) or not is_text(fragment.kind):
        return None
    return find_soft_error(extract_features(fragment, data, words=words))


def _pages(run: CrawlContext, sha256: str | None) -> bytes:
    """What the pages of the version before gave; without them, all are read."""
    try:
        return run.index.fragments.get(sha256) if sha256 else b""
    except DamageFound:
        return b""


def _keep_pages(run: CrawlContext, parsed: KnownDocument, pages: bytes, earlier: str | None) -> str | None:
    """Keep what the pages gave; of a document whose bytes are not kept for its secrets, nothing."""
    if not parsed.withheld:
        return run.index.fragments.put(pages) if pages else None
    if earlier:
        run.index.fragments.drop(earlier)
    return None


def _led_on(known: KnownDocument) -> KnownDocument:
    """The row as it is, but for a stub: that one redirects, whether its bytes are new or not."""
    if known.refresh is None or known.state not in READABLE:
        return known
    return replace(known, state=DocumentState.REDIRECTED, location=known.refresh, reason="meta refresh")


def parse_request(run: CrawlContext, known: KnownDocument) -> ParseRequest:
    """What the parser may know of a document."""
    source = run.source
    cited = identify(source, known.uri, known.etag)
    return ParseRequest(
        uri=known.uri,
        source=source.name,
        url=cited.url,
        path=cited.path,
        line_fragment=cited.line,
        content_type=known.content_type,
        x_robots_tag=known.x_robots_tag,
        robot=robot_name(run),
        ocr=source.ocr,
        language=source.language,
        doc_type=source.metadata.doc_type,
        domain=source.metadata.domain,
        status=source.metadata.status,
        version=_version(source, cited.path or cited.url or known.uri),
        family=source.family if source.family is not None and source.family.reads_pages else None,
        routed=source.javascript,
        relations=source.relations,
        cleaning=source.cleaning,
    )


def _version(source: Source, address: str) -> str | None:
    """Of which version the source and the address say that a document is."""
    if source.family is None:
        return source.metadata.version
    return version_of(source.family, address)


def _drop_withheld(run: CrawlContext, documents: Sequence[KnownDocument]) -> None:
    """Delete bytes with secrets in them, now that they have been read."""
    for sha256 in {known.raw_sha for known in documents if known.is_withheld}:
        if sha256 is not None and not run.index.ledger.retention.needs_raw(sha256):
            run.index.raw.drop(sha256)


def _facts(done: _Done, fragment: GraphFragment) -> FragmentFacts:
    document = done.document
    return FragmentFacts(
        fragment=fragment,
        names=stated_names(fragment),
        raw_sha=None if document.withheld else document.raw_sha,
        pages_sha=done.pages_sha,
        soft_error=done.soft_error,
        coverage=done.coverage,
    )


def _save(run: CrawlContext, done: Sequence[_Done]) -> None:
    ledger, source = run.index.ledger, run.source
    good = [(one.document, one.fragment) for one in done if one.fragment is not None]
    facts = {one.document.fragment_sha or "": _facts(one, one.fragment) for one in done if one.fragment}
    save_fragment_rows(ledger, facts)
    ledger.uses.save(source.name, {one.document.uri: one.uses for one in done if one.uses is not None})
    leads_on = kind_named(source.kind).follows_links
    fragments = {document.uri: fragment for document, fragment in good if leads_on}

    def leads_to(document: KnownDocument) -> Frontier:
        fragment = fragments.get(document.uri)
        if document.location is not None or fragment is None:
            return plan_redirect(source, document)
        return plan_frontier(source, fragment, depth=document.depth)

    documents = [one.document for one in done]
    enqueue_targets(run, documents, leads_to)
    retire_variants(run, fragments)
    warnings = [
        Problem(url=document.uri, reason=warning)
        for document, fragment in good
        for warning in fragment.warnings
    ]
    losses = [
        Problem(url=one.document.uri, reason=LOSS) for one in done if one.coverage and one.coverage.is_notable
    ]
    ledger.runs.add_problems(run.run_id, [*warnings, *losses, *redirects_outside(source, documents)])
