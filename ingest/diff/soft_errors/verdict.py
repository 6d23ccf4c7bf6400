"""Whether a page that came with 200 stands in for content: an error, a notice, a wall, a default page."""

import re
from collections.abc import Sequence

from ingest.diff.soft_errors.features import ErrorPageFeatures
from ingest.diff.soft_errors.marks import find_mark, has_php_error
from ingest.diff.soft_errors.phrases import PLAIN_KINDS, find_sentences
from ingest.diff.soft_errors.titles import EDGES, default_title, plain, says_status, title_reason
from ingest.diff.soft_errors.traces import find_traces
from ingest.diff.soft_errors.vocabulary import Voice, hear
from schemas.documents import SoftError

NOTICE_WORDS = 150
"""Words that such a page may have and still be known by what it says; of a debug page the trace tells."""

SHORT_WORDS = 60
"""Words of a page that is a notice by the sentences at its head alone."""

BARE_WORDS = 25
"""Words of a page that is a notice by its title alone, where good content was before."""

LONG_NOTICE_WORDS = 300
"""Words beyond which a page is no notice, whatever it says."""

SHARE, NAMED_SHARE, FRAMED_SHARE = 0.38, 0.28, 0.42
"""Part of a short page's words that must be those of notices: on a page that leads nowhere on its host, on
one whose heading names a failure too, and on one within the frame of a site."""

LEAD = 200
"""Characters at the start of the text in which a notice says what it is."""

_TRACEBACK = "Traceback (most recent call last)"
_NOTICE = "a notice in place of content"
_READ = 4_000
_DEBUG = "a debug page of a framework"

_FAILED_REQUEST = re.compile(
    r"[\w.\\:]{0,120}(?:error|exception|notfound|http404) (?:at|on) (?:(?:get|head|post) )?/\S{0,500}"
    r"|.{0,500}// werkzeug debugger"
    r"|server error in '[^']{0,200}' application|http error \d{3}\.\d{1,3} - .{0,80}"
    r"|iis [\d.]{1,9} detailed error\b.{0,80}"
)
"""What a debug page calls itself: an exception at the path of a request."""

_FAILURE = re.compile("error|exception|notfound|404|werkzeug")
_LISTING = re.compile(r"(?:index of|directory listing (?:for|of)|listing of) /")
_EXCEPTION = re.compile(
    r"[\w.\\:$]{0,120}(?:error|exception|fault|interrupt)\b"
    r"|sqlstate\[|undefined (?:variable|index|array|method|prop)|call to |uncaught |traceback|panic:"
)
_PHP_ERROR = re.compile(
    r"(?:php )?(?:fatal error|parse error|warning|deprecated|notice): .{1,160} in /\S{1,200} on line \d"
)


def find_soft_error(page: ErrorPageFeatures) -> SoftError | None:
    """Detect a page that stands in for content by its markup, title and words, and by how much else it says.

    None for a page about which nothing tells. One that is not sure is bad only where other things point the
    same way: good content was there before, or the host answers the same to an address that nobody has.
    """
    if reason := _by_markup(page):
        return SoftError(reason=reason, sure=True)
    title = title_reason(page)
    if found := _by_traces(page, title):
        return found
    return _by_words(page, title) if page.words <= (LONG_NOTICE_WORDS if title else NOTICE_WORDS) else None


def _by_markup(page: ErrorPageFeatures) -> str | None:
    if page.words > NOTICE_WORDS:
        return None
    if _PHP_ERROR.match(plain(page.text[:LEAD])):
        return "an error of PHP"
    if page.is_shell:
        return "an empty page that JavaScript would fill"
    if _LISTING.match(plain(page.title)) and not page.entries:
        return "an empty folder"
    return find_mark(page.markup) or ("an error of PHP" if has_php_error(page.markup) else None)


def _by_traces(page: ErrorPageFeatures, title: str | None) -> SoftError | None:
    """A trace makes a debug page where there is nothing else; who quotes one links to the rest of a site."""
    names = [plain(said).strip(EDGES) for said in (page.title, page.heading)]
    if any(_FAILED_REQUEST.fullmatch(name) for name in names if _FAILURE.search(name)):
        return SoftError(reason=_DEBUG, sure=page.own_links <= 2)
    failed = title is not None or not page.title or any(map(_EXCEPTION.match, names))
    if not page.is_html:
        raised = page.text.startswith(_TRACEBACK) and page.words <= NOTICE_WORDS
        return SoftError(reason=_DEBUG, sure=True) if raised else None
    if not failed and page.is_linked:
        return None
    traces = find_traces(page.text)
    if failed and traces.frames >= 2 and (page.own_links <= 2 or traces.share >= 0.25):
        return SoftError(reason=_DEBUG, sure=page.own_links <= 2)
    return SoftError(reason=_DEBUG, sure=True) if traces.frames >= 5 and traces.share >= 0.3 else None


def _by_words(page: ErrorPageFeatures, title: str | None) -> SoftError | None:
    if reason := default_title(page):
        return SoftError(reason=reason, sure=True)
    text = plain(page.text[:_READ])
    whole = f"{plain(page.title)}\n{plain(page.heading)}\n{text}"
    voice = hear(whole) if page.words <= SHORT_WORDS else Voice()
    said = find_sentences(whole[: len(whole) - len(text) + LEAD])
    reason = title or next(iter(said), _NOTICE)
    if said or title:
        said = find_sentences(whole) if page.words <= NOTICE_WORDS or not page.own_links else said
        if _is_sure(page, title, said, voice):
            return SoftError(reason=reason, sure=True)
    if found := _by_voice(page, voice, title, reason):
        return found
    limit = (NOTICE_WORDS if said else BARE_WORDS) if title else SHORT_WORDS if said else 0
    return SoftError(reason=reason, sure=False) if page.words < limit else None


def _is_sure(page: ErrorPageFeatures, title: str | None, said: Sequence[str], voice: Voice) -> bool:
    if title is None:
        is_plain = (voice.failed > 0 and voice.addresses) or said[0] in PLAIN_KINDS
        short = page.words <= (BARE_WORDS if len(said) == 1 else SHORT_WORDS)
        return short and (is_plain if len(said) > 1 else not page.own_links and (is_plain or voice.addresses))
    if not page.own_links and (len(said) >= 2 or (page.words <= BARE_WORDS and says_status(page))):
        return True
    if _is_bare(page) or (said and page.words <= SHORT_WORDS):
        return True
    return len(said) >= 2 and page.words <= NOTICE_WORDS


def _by_voice(page: ErrorPageFeatures, voice: Voice, title: str | None, reason: str) -> SoftError | None:
    """A short page of which much is words of notices; the more links of its own it has, the more must be."""
    if not (voice.failed and voice.addresses and (voice.asked or title)):
        return None
    named = title is not None or _names_failure(page)
    foreign = page.own_links <= 2 and voice.share >= (NAMED_SHARE if named and not page.own_links else SHARE)
    framed = voice.failed >= 2 and voice.asked >= 2 and voice.share >= FRAMED_SHARE
    if foreign or framed:
        return SoftError(reason=reason, sure=True)
    return SoftError(reason=reason, sure=False) if voice.share >= SHARE else None


def _names_failure(page: ErrorPageFeatures) -> bool:
    """Whether the heading is short and names in words of notices what failed, as `Web page blocked` does."""
    name = plain(page.heading or page.title)
    voice = hear(name)
    return len(name.split()) <= 8 and voice.failed > 0 and voice.share >= 0.5


def _is_bare(page: ErrorPageFeatures) -> bool:
    """Whether the page has next to no words but its title."""
    return page.words <= (15 if not page.own_links else 6 if page.own_links <= 2 else 0)
