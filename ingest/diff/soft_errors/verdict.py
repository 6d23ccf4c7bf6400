"""Whether a page that came with 200 stands in for content: an error, a notice, a wall, a default page."""

import re
from collections.abc import Sequence

from ingest.diff.soft_errors.look import Look
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


def find_soft_error(look: Look) -> SoftError | None:
    """Tell a page that stands in for content by its markup, title and words, and by how much else it says.

    None for a page about which nothing tells. One that is not sure is bad only where other things point the
    same way: good content was there before, or the host answers the same to an address that nobody has.
    """
    if reason := _by_markup(look):
        return SoftError(reason=reason, sure=True)
    title = title_reason(look)
    if found := _by_traces(look, title):
        return found
    return _by_words(look, title) if look.words <= (LONG_NOTICE_WORDS if title else NOTICE_WORDS) else None


def _by_markup(look: Look) -> str | None:
    if look.words > NOTICE_WORDS:
        return None
    if _PHP_ERROR.match(plain(look.text[:LEAD])):
        return "an error of PHP"
    if look.is_shell:
        return "an empty page that JavaScript would fill"
    if _LISTING.match(plain(look.title)) and not look.entries:
        return "an empty folder"
    return find_mark(look.markup) or ("an error of PHP" if has_php_error(look.markup) else None)


def _by_traces(look: Look, title: str | None) -> SoftError | None:
    """A trace makes a debug page where there is nothing else; who quotes one links to the rest of a site."""
    names = [plain(said).strip(EDGES) for said in (look.title, look.heading)]
    if any(_FAILED_REQUEST.fullmatch(name) for name in names if _FAILURE.search(name)):
        return SoftError(reason=_DEBUG, sure=look.own_links <= 2)
    failed = title is not None or not look.title or any(map(_EXCEPTION.match, names))
    if not look.is_html:
        raised = look.text.startswith(_TRACEBACK) and look.words <= NOTICE_WORDS
        return SoftError(reason=_DEBUG, sure=True) if raised else None
    if not failed and look.is_linked:
        return None
    traces = find_traces(look.text)
    if failed and traces.frames >= 2 and (look.own_links <= 2 or traces.share >= 0.25):
        return SoftError(reason=_DEBUG, sure=look.own_links <= 2)
    return SoftError(reason=_DEBUG, sure=True) if traces.frames >= 5 and traces.share >= 0.3 else None


def _by_words(look: Look, title: str | None) -> SoftError | None:
    if reason := default_title(look):
        return SoftError(reason=reason, sure=True)
    text = plain(look.text[:_READ])
    whole = f"{plain(look.title)}\n{plain(look.heading)}\n{text}"
    voice = hear(whole) if look.words <= SHORT_WORDS else Voice()
    said = find_sentences(whole[: len(whole) - len(text) + LEAD])
    reason = title or next(iter(said), _NOTICE)
    if said or title:
        said = find_sentences(whole) if look.words <= NOTICE_WORDS or not look.own_links else said
        if _is_sure(look, title, said, voice):
            return SoftError(reason=reason, sure=True)
    if found := _by_voice(look, voice, title, reason):
        return found
    limit = (NOTICE_WORDS if said else BARE_WORDS) if title else SHORT_WORDS if said else 0
    return SoftError(reason=reason, sure=False) if look.words < limit else None


def _is_sure(look: Look, title: str | None, said: Sequence[str], voice: Voice) -> bool:
    if title is None:
        told = (voice.failed > 0 and voice.addresses) or said[0] in PLAIN_KINDS
        short = look.words <= (BARE_WORDS if len(said) == 1 else SHORT_WORDS)
        return short and (told if len(said) > 1 else not look.own_links and (told or voice.addresses))
    if not look.own_links and (len(said) >= 2 or (look.words <= BARE_WORDS and says_status(look))):
        return True
    if _is_bare(look) or (said and look.words <= SHORT_WORDS):
        return True
    return len(said) >= 2 and look.words <= NOTICE_WORDS


def _by_voice(look: Look, voice: Voice, title: str | None, reason: str) -> SoftError | None:
    """A short page of which much is words of notices; the more links of its own it has, the more must be."""
    if not (voice.failed and voice.addresses and (voice.asked or title)):
        return None
    named = title is not None or _names_failure(look)
    foreign = look.own_links <= 2 and voice.share >= (NAMED_SHARE if named and not look.own_links else SHARE)
    framed = voice.failed >= 2 and voice.asked >= 2 and voice.share >= FRAMED_SHARE
    if foreign or framed:
        return SoftError(reason=reason, sure=True)
    return SoftError(reason=reason, sure=False) if voice.share >= SHARE else None


def _names_failure(look: Look) -> bool:
    """Whether the heading is short and names in words of notices what failed, as `Web page blocked` does."""
    name = plain(look.heading or look.title)
    voice = hear(name)
    return len(name.split()) <= 8 and voice.failed > 0 and voice.share >= 0.5


def _is_bare(look: Look) -> bool:
    """Whether the page has next to no words but its title."""
    return look.words <= (15 if not look.own_links else 6 if look.own_links <= 2 else 0)
