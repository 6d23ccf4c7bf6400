"""Acronyms that several documents use and none explains, on a site that explains others."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from retrieval.lint.site import LintedSite, LintFinding, Severity
from retrieval.verify.clauses import clause_words, is_filler, split_sentences
from schemas.nodes import Chunk, PageKind

LEAST_WORDS = 5
"""Words of a sentence; what is shorter is a label."""
JOINING = 0.15
"""Least share of words that join others: lists of names and commands have hardly any."""

_CODE = re.compile(
    r"[|{}\\]|^\s*(?:[$#%>+*]|--|\.\.|//|/\*|\d+:)|^\s*[-+*]\s|(?:^|\s)(?:=>|->|==|:=|&&|\+\+)(?:\s|$)|;\s*$|\w\(\w*\);"
)
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"^(?:\[\d+\]|\(\d+\)|\d+[.)])\s+")
"""Of a footnote or an item."""


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """A sentence and the passage it stands in."""

    text: str
    chunk: Chunk


def prose_sentences(chunk: Chunk) -> Iterator[ProseSentence]:
    """Yield the sentences of a passage of content, white space folded.

    A line that a capital or a word does not begin, or that no full stop ends, may be code or a title.
    """
    if chunk.page_kind is not PageKind.CONTENT or chunk.stale:
        return
    for block in re.split(r"\n\s*\n", chunk.text):
        for part in split_sentences(block):
            text = _NUMBER.sub("", _SPACE.sub(" ", part).strip())
            if _states(text):
                yield ProseSentence(text, chunk)


def _states(text: str) -> bool:
    if not text.endswith((".", "!", ".)", '."', ".”")) or _CODE.search(text):
        return False
    words = clause_words(text)
    if len(words) < LEAST_WORDS:
        return False
    return sum(is_filler(word) for word in words) >= JOINING * len(words)


USED_BY = 3
"""Documents, and different sentences, that use an acronym, for readers to meet it where nobody told them."""
EXPLAINED = 3
"""Acronyms that a site explains in brackets, for it to be one that does so."""

_ACRONYM = re.compile(r"(?<![\w./:@#$%<>=_'\"-])([A-Z]{2,6})s?(?![\w/:@#$%<>=_(*-]|\.\w|['\"])")
_BRACKETED = re.compile(r"\(\W?([A-Z]{2,6})s?\W?[),;]|\b([A-Z]{2,6})s? \(([^()]{4,80})\)")
_REACH = 80
"""Characters before the brackets that may explain what is in them."""
_EXPLAINS = re.compile(
    r"\b([A-Z]{2,6})s? (?:stands for|is short for|means|is an?|is the|refers to|\([a-z])"
    r"|(?:short|abbreviated|acronym|abbreviation|known|called) (?:for|as|to)? ?\W?([A-Z]{2,6})\b"
)
_ENTRY = re.compile(r"^[-* ]*([A-Z]{2,6})s?(?::| [-–—] |$)", re.MULTILINE)
"""An entry of a glossary."""
_KEYWORD = re.compile(
    r"\b([A-Z]{2,6})(?: and [A-Z]+)? (?:option|operator|clause|key ?word|argument|parameter|command|statement"
    r"|macro|constant|flag|file|function|field|attribute|variable)s?\b"
    r"|\b(?:key ?words?|options?|operators?) ([A-Z]{2,6})\b"
)
"""What is written to a program."""
_WRITTEN = re.compile(r"[|{}\[\];=$]")
"""Marks of a line of code, a synopsis or a row of a table."""
_WELL_KNOWN = frozenset(
    re.findall(
        r"\w+",
        """AIX AKA AM AND API APIs ASCII BC BSD BTW CA CD CGI CLI CPU CR CRLF CSS CSV DEC DIY DLL DNS DOS
        DVD EOF EOL ETC EU FAQ FTP FYI GB GCC GMT GNU GPL GUI HDD HP HPUX HTML HTTP HTTPS IBM ID IDE
        IDs IEEE IETF IIRC IMAP IO IP IPC ISBN ISO IT JPEG JS JSON KB LAN LDAP LF LGPL MAY MB MD MIME
        MIT MP MS MUST NEC NFS NO NOT OK OR ORM OS PC PDF PID PM PNG POSIX PS RAM README REST RFC ROM
        RPC RPM RSS RTFM SAP SDK SGI SHALL SHOULD SMTP SQL SSD SSH SSL SUSE SVG TB TCP TLS TM TODO TTY
        UDP UI UK UNIX URI URL URLs US USA USB UTC UTF UUID VM VPN WAN WWW XHTML XML YAML ZIP""",
    )
)
"""What a reader of any technical manual knows."""


@dataclass(slots=True)
class _Use:
    """Where an acronym is used: documents, and different sentences, each at its first place."""

    docs: set[str] = field(default_factory=set)
    said: dict[str, ProseSentence] = field(default_factory=dict)

    @property
    def is_common(self) -> bool:
        return min(len(self.docs), len(self.said)) >= USED_BY


def undefined_terms(site: LintedSite) -> Iterator[LintFinding]:
    """Find acronyms of several documents that no document explains, names a heading, or writes in lower case.

    An acronym that is a word, too, is a keyword set in capitals.
    """
    explained = _explained(site)
    if len(explained) < EXPLAINED:
        return
    uses = _uses(site)
    candidates = {term for term, use in uses.items() if use.is_common} - explained
    known = _named(site) | _in_lower_case(site, candidates) | _told(site) | _keywords(site)
    for term in sorted(candidates - known):
        yield _finding(site, term, uses[term])


def _explained(site: LintedSite) -> frozenset[str]:
    """Return acronyms that stand in brackets behind their words, or before them."""
    found: set[str] = set()
    for chunk in site.passages:
        for match in _BRACKETED.finditer(chunk.text):
            name = match[1] or match[2]
            before = chunk.text[max(0, match.start() - _REACH) : match.start()]
            words = re.findall(r"[^\W_]+", match[3] or before)
            if _is_subsequence(name, "".join(word[0] for word in words[-2 * len(name) :]).upper()):
                found.add(name)
    return frozenset(found)


def _is_subsequence(name: str, letters: str) -> bool:
    rest = iter(letters)
    return all(char in rest for char in name)


def _uses(site: LintedSite) -> Mapping[str, _Use]:
    found: dict[str, _Use] = {}
    for chunk in site.passages:
        for one in prose_sentences(chunk):
            for term in _ACRONYM.findall("" if "variable" in one.text else one.text):
                if term not in _WELL_KNOWN:
                    use = found.setdefault(term, _Use())
                    use.docs.add(chunk.doc)
                    use.said.setdefault(one.text, one)
    return found


def _named(site: LintedSite) -> frozenset[str]:
    """Return words of titles, headings, entries and link texts: there is a place about them."""
    texts = [document.title for document in site.documents.values()]
    for chunk in site.passages:
        texts += (*chunk.heading_path, *chunk.anchor_texts, *_ENTRY.findall(chunk.text))
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


def _in_lower_case(site: LintedSite, terms: set[str]) -> frozenset[str]:
    wanted = {term.casefold(): term for term in terms}
    found: set[str] = set()
    for chunk in site.passages:
        found.update(word for word in re.findall(r"[a-z]+", chunk.text) if word in wanted)
    return frozenset(wanted[word] for word in found)


def _told(site: LintedSite) -> frozenset[str]:
    """Return acronyms of which a sentence says what they are."""
    return frozenset(one or other for chunk in site.passages for one, other in _EXPLAINS.findall(chunk.text))


def _keywords(site: LintedSite) -> frozenset[str]:
    """Return words that are written to a program: in code, in a synopsis, as "the NOWAIT option"."""
    found: set[str] = set()
    for chunk in site.passages:
        found.update(one or other for one, other in _KEYWORD.findall(chunk.text))
        for line in chunk.text.splitlines():
            if _WRITTEN.search(line):
                found.update(re.findall(r"\b[A-Z]{2,6}\b", line))
    return frozenset(found)


def _finding(site: LintedSite, term: str, use: _Use) -> LintFinding:
    uses = sorted(use.said.values(), key=lambda one: (_uri(site, one.chunk), one.chunk.ordinal))
    places = tuple(site.place_of(one.chunk, one.text) for one in uses[:3])
    return LintFinding(
        rule="undefined-term",
        severity=Severity.NOTE,
        message=f"{term} is used in {len(use.docs)} documents and explained in none",
        places=places,
        key=(places[0].source, term),
        more=len(uses) - len(places),
    )


def _uri(site: LintedSite, chunk: Chunk) -> str:
    return site.documents[chunk.doc].uri
