"""Text, markup, binary and ZIP archives told apart by first bytes, and archives unpacked within bounds."""

import re
import zlib
from io import BytesIO
from typing import Any
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from schemas.errors import ParseError
from schemas.formats import media_type

CONDITION = "under a condition that does not hold"
"""Why formats that know conditions leave a text out."""

XML_TYPES = ("text/xml", "application/xml")

_MARKUP = re.compile(
    rb"<!doctype\s+html|<(?:html|head|title|body|meta|link|script|div|h[1-6]|p|table|a|span|ul|ol|pre|article|main|"
    rb"section|br|b|i|font|center|frameset|form|img|style|base|nav|header)[\s/>]",
    re.IGNORECASE,
)
_WHOLE_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html[\s>])", re.IGNORECASE
)
_HTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_NO_PROSE = frozenset(
    {
        *("text/css", "text/javascript", "application/javascript", "application/json", "text/csv"),
        *("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"),
    }
)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NEAR = 1_024


def is_prose(head: bytes, content_type: str) -> bool:
    """Whether a document is text that people read, and not a picture, a script or data."""
    media = media_type(content_type)
    if media in _NO_PROSE or (media in XML_TYPES and not _HTML_ROOT.search(head)):
        return False
    wide = head.startswith(_WIDE_MARKS) or "utf-16" in content_type
    return b"\0" not in head[:_NEAR] or wide or _MARKUP.search(head) is not None


def has_markup(head: bytes) -> bool:
    """Whether tags of HTML stand in the first bytes."""
    return _MARKUP.search(head.replace(b"\0", b"")) is not None


def is_whole_page(head: bytes) -> bool:
    """Whether a document begins as an HTML page does, whatever it is called."""
    return _WHOLE_PAGE.match(head) is not None


def is_binary(head: bytes) -> bool:
    """Whether control characters stand in the first bytes that no text in an eight-bit code has."""
    return _CONTROL.search(head) is not None and not head.startswith(_WIDE_MARKS)


ZIP_START = b"PK\x03\x04"
ZIP_END = b"PK\x05\x06"

MAX_FILES = 10_000
MAX_BYTES = 256 * 1024 * 1024
"""Unpacked, all together; `zipfile` unpacks no member beyond the size that the archive claims."""

MAX_MEMBER = 32 * 1024 * 1024
"""Of one member that is read. Measured with DOCX: 12 MB of XML take 500 MB of memory and 23 s."""

_ENCRYPTED = 0x1
"""Bit of a member's flags (APPNOTE.TXT, 4.4.4)."""


class _PrologRead(Exception):
    """The root element has begun, before which a document type would have stood."""


def open_archive(data: bytes, *, subject: str) -> ZipFile:
    """Open an archive that may be unpacked. Raises: ParseError: damaged, encrypted, too large."""
    try:
        archive = ZipFile(BytesIO(data))
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ParseError(f"truncated or damaged: no ZIP archive ({error})", subject=subject) from error
    members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise ParseError("encrypted; save it without a password", subject=subject)
    if len(members) > MAX_FILES or sum(member.file_size for member in members) > MAX_BYTES:
        allowed = f"{MAX_BYTES >> 20} MB in {MAX_FILES} files"
        raise ParseError(f"unpacks to more than {allowed}", subject=subject)
    _name_as_meant(archive)
    return archive


def _name_as_meant(archive: ZipFile) -> None:
    """Part folders by slashes, where .NET before 4.6.1 wrote backslashes, and leave out what macOS adds."""
    for member in archive.filelist:
        member.filename = member.filename.replace("\\", "/")
    archive.filelist = [one for one in archive.filelist if not one.filename.startswith("__MACOSX/")]
    archive.NameToInfo = {one.filename: one for one in archive.filelist}


def read_member(archive: ZipFile, name: str, *, subject: str) -> bytes:
    """Unpack one member. Raises: ParseError: it is not there, too large, or damaged."""
    try:
        if archive.getinfo(name).file_size > MAX_MEMBER:
            raise ParseError(f"{name} unpacks to more than {MAX_MEMBER >> 20} MB", subject=subject)
        return archive.read(name)
    except KeyError as error:
        raise ParseError(f"damaged: there is no {name} in it", subject=subject) from error
    except (BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise ParseError(f"damaged: {name} cannot be unpacked ({error})", subject=subject) from error


def read_xml(archive: ZipFile, path: str, *, subject: str) -> Any:
    """Parse a member without following anything that it names. Raises: ParseError."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(read_member(archive, path, subject=subject), parser)
    except etree.XMLSyntaxError as error:
        raise ParseError(f"damaged: {path} is not XML ({error})", subject=subject) from error


def refuse_doctype(xml: bytes, *, name: str, subject: str) -> None:
    """Refuse XML with a document type: only that can define entities, which expand without end or name files.

    Raises: ParseError: it has one, or is no XML up to its root element.
    """

    def on_doctype(*_: object) -> None:
        raise ParseError(f"{name} has a document type, which may define entities", subject=subject)

    def on_element(*_: object) -> None:
        raise _PrologRead

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = on_doctype
    parser.StartElementHandler = on_element
    try:
        parser.Parse(xml, True)
    except _PrologRead:
        return
    except expat.ExpatError as error:
        raise ParseError(f"damaged: {name} is not XML ({error})", subject=subject) from error


MAX_UNPACKED_TEXT = 16 * 1024 * 1024


def unpack_text(
    data: bytes, *, subject: str, max_bytes: int = MAX_UNPACKED_TEXT, is_whole: bool = True
) -> bytes:
    """Return a text that may be packed with gzip.

    Args: is_whole: False for its beginning, of which as much is given as can be read. Raises: ParseError:
    damaged, cut short, or larger than *max_bytes* once it is unpacked.
    """
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        text = unpacking.decompress(data, max_bytes)
    except zlib.error as error:
        if not is_whole:
            return b""
        raise ParseError(f"damaged: cannot be unpacked ({error})", subject=subject) from error
    if is_whole and unpacking.unconsumed_tail:
        raise ParseError(f"unpacks to more than {max_bytes >> 20} MB", subject=subject)
    if is_whole and not unpacking.eof:
        raise ParseError("truncated: the packed text is cut short", subject=subject)
    return text
