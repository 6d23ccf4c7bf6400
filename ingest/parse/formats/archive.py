"""ZIP archives read within bounds: what they claim to unpack to is added up before anything is unpacked."""

import zlib
from io import BytesIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from schemas.errors import ParseError

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
    return archive


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
