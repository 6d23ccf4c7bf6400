"""The port of document formats: what a format says of itself, and which of several a document is of."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from schemas.fragment import GraphFragment, ParseRequest, UnreadWords

CountTokens = Callable[[str], int]
"""Number of word pieces in a text, by the encoder's tokenizer, without special tokens."""

GROUP = "sitegraph.formats"
"""Entry points under which other packages offer formats."""

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""What a format may be called; its documents have the name as their `kind`, and queries filter by it."""

HEAD_BYTES = 4_096
"""The most of a document that `recognise` is given; while it is fetched, 1,024."""


class SizeClass(StrEnum):
    """Which key of a source file caps the size of a document, `limits.…_mb`, and how long it may take."""

    PAGE = "page"  # 5 MB, and 30 s of processor time to parse
    PDF = "pdf"  # 64 MB, 120 s
    FILE = "file"  # 64 MB, 120 s


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseTools:
    """What a parser is given beside the document.

    `recognise` reads a picture (PNG, languages as `eng+deu`) to Tesseract's TSV; None: nothing is recognised.
    `page_cache` holds the pages of a PDF's earlier version. `run_hook` calls the hook that the request names.
    `left_out` is told what of the document is not read, and why.
    """

    count_tokens: CountTokens
    recognise: Callable[[bytes, str], str] | None = None
    page_cache: Any = None
    run_hook: Callable[..., object] | None = None
    left_out: UnreadWords = field(default_factory=UnreadWords)


class Parse(Protocol):
    """Turns a document into its fragment; runs in a child process with limits."""

    def __call__(self, data: bytes, request: ParseRequest, tools: ParseTools, /) -> GraphFragment:
        """Return the fragment: equal for equal arguments.

        Raises: ParseError: damaged, encrypted, not what it claims to be; UnsupportedMedia: of another kind.
        """


def no_secrets(_data: bytes) -> tuple[str, ...]:
    """Find none."""
    return ()


def never_names_access(_data: bytes, _content_type: str | None) -> bool:
    """Leave it to the parser, which says in its fragment who may see the document."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFormat:
    """A kind of document, and how it is read.

    Args: name: `NAME`, the `kind` of its documents. parse: makes the fragment, whose `kind` is the name.
    recognise: tells by the first bytes, the `Content-Type` as received and the path or URL, both in lower
    case, whether a document is one. version: another one parses its documents again; "" where the version of
    the pipeline speaks for it. suffixes: of files that a source of files lists (`.docx`). shared_suffixes: of
    which it lists those that `recognise` says yes to, since other files end so too. media_types: what
    servers call it. shared_types: what they call other things too; believed where the suffix fits. size: the
    limits that hold. is_text: its bytes are text. unread_secrets: kinds of the secrets in bytes that are not
    read. end: bytes among the last 1,024 of one that is whole. has_pictures: its pages may have to be
    recognised. names_access: whether what its bytes say of the document, given them and the `Content-Type`,
    names `access`; then nobody sees it but who sees everything. None: of a text the top is looked at.
    """

    name: str
    parse: Parse
    recognise: Callable[[bytes, str, str], bool]
    version: str = ""
    suffixes: tuple[str, ...] = ()
    shared_suffixes: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    shared_types: tuple[str, ...] = ()
    size: SizeClass = SizeClass.PAGE
    is_text: bool = False
    unread_secrets: Callable[[bytes], tuple[str, ...]] = no_secrets
    end: bytes | None = None
    has_pictures: bool = False
    names_access: Callable[[bytes, str | None], bool] | None = None

    def may_be(self, media: str, name: str) -> bool:
        """Whether a document of this media type and name may be one, before a byte of it is seen."""
        return media in self.media_types or (media in self.shared_types and name.endswith(self.endings))

    @property
    def endings(self) -> tuple[str, ...]:
        """All endings that the name of one may have."""
        return (*self.suffixes, *self.shared_suffixes)


def media_type(content_type: str | None) -> str:
    """Return the type of a `Content-Type` without parameters, in lower case; "" for none."""
    return (content_type or "").partition(";")[0].strip().lower()


def one_type(content_type: str) -> str:
    """Return the last of several types that a `Content-Type` names; a charset said before holds for it, too.

    Source: WHATWG Fetch, "extract a MIME type".
    """
    chosen = ""
    for part in content_type.split(","):
        named = media_type(part)
        if "/" in named and named != "*/*" and (named != media_type(chosen) or "charset" in part.lower()):
            chosen = part.strip()
    return chosen or content_type


def document_name(path: str | None, url: str) -> str:
    """Return what a document is called, in lower case: its path as it is, else its URL without a query."""
    return (url.partition("?")[0] if path is None else path).lower()


def find_format(
    formats: Iterable[DocumentFormat], head: bytes, *, content_type: str | None, name: str
) -> DocumentFormat | None:
    """Return the first format that recognises a document by its first bytes and its name, or None."""
    told = (content_type or "").strip().lower()
    return next((one for one in formats if one.recognise(head[:HEAD_BYTES], told, name)), None)


def format_named(formats: Iterable[DocumentFormat], path: str) -> DocumentFormat | None:
    """Return the first format that one of the path's endings belongs to, or None."""
    return next((one for one in formats if path.lower().endswith(one.endings)), None)
