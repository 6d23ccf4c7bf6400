"""A web page as a whole: bytes > sections, links, trail and what robots may do with it."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.charset import cut_markup, decode_html, query_encoder
from ingest.parse.html.cleaning import CleanedPage, RunHook, clean_page
from ingest.parse.html.content import (
    Content,
    ContentBy,
    Purpose,
    count_words,
    find_content,
    page_body,
    stated_purpose,
)
from ingest.parse.html.dates import stated_date, stated_version
from ingest.parse.html.dom import Survey, is_cut, normal_space, parse_tree, stated_title, survey_tree
from ingest.parse.html.family import SHAPES, Family, recognise_family
from ingest.parse.html.hints import (
    alternates_of,
    base_of,
    canonical_of,
    embedded_links,
    language_beside_others,
    read_trail,
    refresh_of,
    robots_of,
    stated_links,
    stated_translations,
    stated_uses,
)
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.html.landmarks import Landmarks
from ingest.parse.html.reading import choose_reading, page_parts, unread_texts
from ingest.parse.html.text_fragments import text_fragments
from ingest.parse.html.visibility import opened_elements, word_set
from ingest.parse.links import FoundLink, collect_links
from ingest.parse.outline import OutlineSection, build_outline, links_in, with_links
from ingest.parse.page_graph import PageFacts
from ingest.parse.round_trip import look_up_fragments, names_in, with_round_trips
from ingest.parse.wording import strip_numbering
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, ParseRequest, UnreadWords
from schemas.nodes import DocumentKind

CONFIDENCE = {ContentBy.CONTAINER: 1.0, ContentBy.VOTE: 0.9, ContentBy.BODY: 0.7, ContentBy.SELECTED: 1.0}
"""How sure the structure is, by what found the content; headings come from the DOM in any case."""

EMPTY = 10
"""Words of a main element that has none: a notice that a script is needed stands in `noscript`."""

_JAVADOC_INDEX = re.compile(r"/(?:index-all|allclasses[\w-]*|allpackages-index|index-files/index-\d+)\.html")
"""Javadoc repeats in its indexes the first sentence about each name, which the page of its class has."""

_MAIN = etree.XPath("//main | //@role[. = 'main']/..")

_RELATIONS = word_set(
    "index search next prev previous up top home start first last contents toc help copyright author "
    "glossary chapter section subsection appendix bookmark"
)
"""Relations of a `link` element that lead a reader to a page; others are feeds, style sheets and claims."""

_SEQUENCE = word_set("next prev previous up top home start first last index contents toc search")
"""Relations by which a link says that it leads through the site. Source: HTML 4.01, 6.12; WHATWG, 4.6.6."""


def parse_html(
    data: bytes,
    request: ParseRequest,
    *,
    count_tokens: CountTokens,
    run_hook: RunHook | None = None,
    left_out: UnreadWords | None = None,
) -> GraphFragment:
    """Turn the bytes of an HTML or XHTML page into its fragment; *left_out* is told what of it is not read.

    Raises: ParseError: there is no element in the bytes, or a hook that the request names failed.
    """
    data, truncated = cut_markup(data)
    page = recognise_page(data, request, run_hook=run_hook)
    if request.family is not None:
        version = stated_version(page.whole.root, request.family)
        request = replace(request, version=version or request.version)
    reading = choose_reading(page.survey, page.content, page.family, page.purpose)
    outline = build_outline(page_parts(reading, page.survey, page.content, page.family))
    if left_out is not None:
        came = page.markup if page.cleaned is not None else None
        left_out.add(unread_texts(page.survey, page.content, page.family, reading, came=came))
    base = base_of(page.whole.root, request.uri)
    found = collect_links(
        _links_of(page, request, frozenset(links_in(outline))),
        base=base,
        encode=query_encoder(data, request.content_type),
        routed=request.routed,
    )
    warnings = found.warnings
    if truncated or is_cut(page.whole.root):
        warnings = ("truncated: more tags or attributes than any page needs", *warnings)
    facts = _facts(page, outline, request=request, base=base, warnings=warnings)
    outline = with_links(outline, found.by_key)
    fragment = assemble_page(outline, found.links, request=request, facts=facts, count_tokens=count_tokens)
    if page.cleaned is not None:
        fragment = replace(fragment, matched=page.cleaned.matched)
    words: dict[str, str] = {}
    # Words around a passage may be those of a secret.
    if not fragment.secrets:
        hooked = request.cleaning is not None and request.cleaning.hook is not None
        shown = survey_tree(parse_tree(page.markup, subject=request.uri)) if hooked else page.whole
        body, content = page_body(shown.root), page.content.root
        hidden = shown.hidden | opened_elements(body)
        words = text_fragments(fragment, body=body, content=content, hidden=hidden)
    found_at = look_up_fragments(fragment.chunks, names_in(page.markup))
    return with_round_trips(fragment, found_at, words=words)


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """A page of which it is known what made it, what it is for and where its content is.

    `whole` is the page before anything was removed by the source's selectors, `survey` what is left of it.
    """

    markup: str
    survey: Survey
    family: Family
    purpose: Purpose
    content: Content
    whole: Survey
    cleaned: CleanedPage | None = None


def recognise_page(data: bytes, request: ParseRequest, *, run_hook: RunHook | None = None) -> RecognisedPage:
    """Clean a page whose markup is within bounds, and find its content.

    Raises: ParseError: no element in it, or a hook failed.
    """
    markup, cleaned = decode_html(data, request.content_type), None
    if request.cleaning is None:
        root = parse_tree(markup, subject=request.uri)
    else:
        cleaned = clean_page(markup, request.cleaning, subject=request.uri, run_hook=run_hook)
        root = cleaned.whole
    whole = survey = survey_tree(root)
    family = recognise_family(whole)
    purpose = stated_purpose(root) if family is Family.PLAIN else Purpose.OTHER
    if cleaned is not None and cleaned.root is not root:
        survey = survey_tree(cleaned.root)
    if cleaned is not None and cleaned.content is not None:
        content = Content(cleaned.content, ContentBy.SELECTED, lead=cleaned.lead)
    else:
        content = find_content(survey, family, purpose)
    return RecognisedPage(markup, survey, family, purpose, content, whole, cleaned)


def _facts(
    page: RecognisedPage,
    outline: tuple[OutlineSection, ...],
    *,
    request: ParseRequest,
    base: str,
    warnings: tuple[str, ...],
) -> PageFacts:
    survey, family = page.whole, page.family
    chosen = page.cleaned.title if page.cleaned is not None else ""
    title = chosen or _title(survey.root, outline, family)
    robots, is_empty = robots_of(survey.root, request), _is_empty(page)
    return PageFacts(
        kind=DocumentKind.HTML,
        title=title,
        template_type=family.value,
        breadcrumbs=read_trail(survey, uri=request.uri, title=title),
        lang=_lang(survey.root) or language_beside_others(survey.root, base=base, uri=request.uri),
        modified=stated_date(survey.root),
        noindex=robots.noindex,
        nofollow=robots.nofollow,
        refresh=refresh_of(survey.root, base=base, uri=request.uri),
        canonical=canonical_of(survey.root, base=base, uri=request.uri),
        alternates=alternates_of(survey.root, base=base, uri=request.uri),
        translations=stated_translations(survey.root, base=base, uri=request.uri),
        structure_confidence=CONFIDENCE[page.content.by],
        has_search=any(_asks_for_words(form) for form in _forms_of(page, is_empty=is_empty)),
        is_empty=is_empty,
        is_index=family is Family.JAVADOC and _JAVADOC_INDEX.search(request.uri) is not None,
        warnings=warnings,
        uses=stated_uses(survey.root, request),
    )


def _is_empty(page: RecognisedPage) -> bool:
    """Whether a script is to fill the page's main element, so that the content was looked for elsewhere."""
    root = page.whole.root
    main = next(iter(_MAIN(root)), None)
    return main is not None and main is not page.content.root and count_words(main) <= EMPTY


def _forms_of(page: RecognisedPage, *, is_empty: bool) -> Iterator[HtmlElement]:
    """Forms of the content, or of all of a page that has none."""
    root = page.whole.root if is_empty else page.content.root
    return cast(Iterator[HtmlElement], root.iter("form", "search"))


def _asks_for_words(form: HtmlElement) -> bool:
    """Whether a form is a search: by its role, or by a field of the type or the usual name of one."""
    if form.tag == "search" or form.get("role") == "search":
        return True
    fields = form.iter("input")
    return any(field.get("type") == "search" or field.get("name") in {"q", "query"} for field in fields)


def _title(root: HtmlElement, outline: tuple[OutlineSection, ...], family: Family) -> str:
    """The first h1, else the title element, which on pages without h1 repeats the first heading."""
    top = next((section.heading for section in outline if section.level == 1), "")
    if top:
        return top
    stated = stated_title(root)
    if SHAPES[family].numbered:
        stated = strip_numbering(stated)
    return stated or next((section.heading for section in outline if section.heading), "")


def _lang(root: HtmlElement) -> str | None:
    lang = (root.get("lang") or root.get("xml:lang") or "").strip()
    return lang[:35] or None


def _links_of(page: RecognisedPage, request: ParseRequest, read: Collection[Hashable]) -> Iterable[FoundLink]:
    """The links of a page; what was cleaned away still leads to the other pages of the site.

    Those that are not in the text that was *read* stand aside, if no landmark says more.
    """
    root, content = page.survey.root, page.content
    if page.cleaned is None or request.cleaning is None:
        return _found_links(root, Landmarks(content.root), read)
    outside = LinkPosition.ASIDE if content.by is ContentBy.SELECTED else LinkPosition.BODY
    found = list(_found_links(root, Landmarks(content.root, outside=outside), read))
    known = {link.href for link in found}
    came = page.whole.root
    if request.cleaning.hook is not None:
        came = parse_tree(page.markup, subject=request.uri)
    aside = _found_links(came, Landmarks(None, outside=LinkPosition.ASIDE), ())
    return [*found, *(link for link in aside if link.href not in known)]


def _found_links(root: HtmlElement, landmarks: Landmarks, read: Collection[Hashable]) -> Iterator[FoundLink]:
    yield from stated_links(root, _RELATIONS)
    yield from embedded_links(root, landmarks)
    for link in root.iter("a", "area"):
        href = link.get("href")
        if href is not None and not is_permalink(link):
            yield FoundLink(href, _link_text(link), _position(link, landmarks, read), key=link)


def _position(link: HtmlElement, landmarks: Landmarks, read: Collection[Hashable]) -> LinkPosition:
    """Navigation by what the link itself says it is; else by where it stands, and whether it was read."""
    if link.tag == "a" and not _SEQUENCE.isdisjoint((link.get("rel") or "").lower().split()):
        return LinkPosition.NAV
    position = landmarks.position_of(link)
    if position is LinkPosition.BODY and link.tag == "a" and link not in read:
        return LinkPosition.ASIDE
    return position


def _link_text(link: HtmlElement) -> str:
    text = inline_text(link)
    if text:
        return text
    pictures = (image.get("alt") or "" for image in link.iter("img", "area"))
    return normal_space(
        next((alt for alt in pictures if alt), "") or link.get("title") or link.get("aria-label") or ""
    )
