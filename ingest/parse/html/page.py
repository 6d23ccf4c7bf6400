"""A web page as a whole: bytes > sections, links, trail and what robots may do with it."""

from collections.abc import Iterator
from dataclasses import dataclass

from lxml.html import HtmlElement

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.charset import decode_html
from ingest.parse.html.content import Content, ContentBy, find_content
from ingest.parse.html.dom import Survey, normal_space, parse_tree, survey_tree
from ingest.parse.html.family import SHAPES, Family, recognise_family
from ingest.parse.html.hints import alternates_of, base_of, canonical_of, refresh_of, robots_of
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.html.landmarks import Landmarks
from ingest.parse.html.prescan import cut_markup
from ingest.parse.html.purpose import Purpose, stated_purpose
from ingest.parse.html.reading import read_content
from ingest.parse.html.trail import read_trail
from ingest.parse.html.visibility import is_hidden
from ingest.parse.html.words import word_set
from ingest.parse.links import FoundLink, collect_links
from ingest.parse.numbering import strip_numbering
from ingest.parse.outline import OutlineSection, build_outline
from ingest.parse.page_facts import PageFacts
from ingest.parse.round_trip import look_up_fragments, names_in, with_round_trips
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind

CONFIDENCE = {ContentBy.CONTAINER: 1.0, ContentBy.VOTE: 0.9, ContentBy.BODY: 0.7}
"""How sure the structure is, by what found the content; headings come from the DOM in any case."""

_RELATIONS = word_set(
    "index search next prev previous up top home start first last contents toc help copyright author "
    "glossary chapter section subsection appendix bookmark"
)
"""Relations of a `link` element that lead a reader to a page; the others are files, feeds and claims."""


def parse_html(data: bytes, request: ParseRequest, *, count_tokens: CountTokens) -> GraphFragment:
    """Turn the bytes of an HTML or XHTML page into its fragment.

    Raises: ParseError: there is no element in the bytes.
    """
    data, truncated = cut_markup(data)
    page = recognise_page(data, request)
    survey, content = page.survey, page.content
    outline = build_outline(read_content(survey, content, page.family, page.purpose))
    base = base_of(survey.root, request.uri)
    links, warnings = collect_links(_found_links(survey.root, content.root), base=base)
    if truncated:
        warnings = ("truncated: more tags or attributes than any page needs", *warnings)
    facts = _facts(
        survey, outline, request=request, family=page.family, content=content, base=base, warnings=warnings
    )
    fragment = assemble_page(outline, links, request=request, facts=facts, count_tokens=count_tokens)
    return with_round_trips(fragment, look_up_fragments(fragment.chunks, names_in(page.markup)))


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """A page of which it is known what made it, what it is for and where its content is."""

    markup: str
    survey: Survey
    family: Family
    purpose: Purpose
    content: Content


def recognise_page(data: bytes, request: ParseRequest) -> RecognisedPage:
    """Find the content of a page whose markup is within bounds. Raises: ParseError: no element in it."""
    markup = decode_html(data, request.content_type)
    root = parse_tree(markup, subject=request.uri)
    survey = survey_tree(root)
    family = recognise_family(survey)
    purpose = stated_purpose(root) if family is Family.PLAIN else Purpose.OTHER
    return RecognisedPage(markup, survey, family, purpose, find_content(survey, family, purpose))


def _facts(
    survey: Survey,
    outline: tuple[OutlineSection, ...],
    *,
    request: ParseRequest,
    family: Family,
    content: Content,
    base: str,
    warnings: tuple[str, ...],
) -> PageFacts:
    title = _title(survey.root, outline, family)
    robots = robots_of(survey.root, request)
    return PageFacts(
        kind=DocumentKind.HTML,
        title=title,
        template_type=family.value,
        breadcrumbs=read_trail(survey, uri=request.uri, title=title),
        lang=_lang(survey.root),
        noindex=robots.noindex,
        nofollow=robots.nofollow,
        refresh=refresh_of(survey.root, base=base, uri=request.uri),
        canonical=canonical_of(survey.root, base=base, uri=request.uri),
        alternates=alternates_of(survey.root, base=base, uri=request.uri),
        structure_confidence=CONFIDENCE[content.by],
        warnings=warnings,
    )


def _title(root: HtmlElement, outline: tuple[OutlineSection, ...], family: Family) -> str:
    """The first h1, else the title element, which on pages without h1 repeats the first heading."""
    top = next((section.heading for section in outline if section.level == 1), "")
    if top:
        return top
    stated = next((normal_space(title.text or "") for title in root.iter("title")), "")
    if SHAPES[family].numbered:
        stated = strip_numbering(stated)
    return stated or next((section.heading for section in outline if section.heading), "")


def _lang(root: HtmlElement) -> str | None:
    lang = (root.get("lang") or root.get("xml:lang") or "").strip()
    return lang[:35] or None


def _found_links(root: HtmlElement, content: HtmlElement) -> Iterator[FoundLink]:
    for stated in root.iter("link"):
        if stated.get("href") and not _RELATIONS.isdisjoint((stated.get("rel") or "").lower().split()):
            yield FoundLink(stated.get("href"), normal_space(stated.get("title") or ""), LinkPosition.NAV)
    landmarks = Landmarks(content)
    for frame in root.iter("frame", "iframe"):
        if frame.get("src") and not is_hidden(frame):  # what counts visitors stands in a frame that is hidden
            name = normal_space(frame.get("title") or frame.get("name") or "")
            yield FoundLink(frame.get("src"), name, landmarks.position_of(frame))
    for link in root.iter("a", "area"):
        href = link.get("href")
        if href is not None and not is_permalink(link):
            yield FoundLink(href, _link_text(link), landmarks.position_of(link))


def _link_text(link: HtmlElement) -> str:
    text, _ = inline_text(link)
    if text:
        return text
    pictures = (image.get("alt") or "" for image in link.iter("img", "area"))
    return normal_space(
        next((alt for alt in pictures if alt), "") or link.get("title") or link.get("aria-label") or ""
    )
