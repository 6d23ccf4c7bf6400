"""Packages of Office Open XML (ECMA-376 part 2): told apart, opened within bounds, what all of them have."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import Any
from zipfile import ZipFile

from ingest.dates import dated
from ingest.parse.access import names_access_at_top, names_access_in_properties
from ingest.parse.formats.sniffing import (
    ZIP_END,
    ZIP_START,
    is_binary,
    open_archive,
    read_member,
    refuse_doctype,
)
from ingest.parse.secrets import kinds_of
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, Parse, SizeClass, media_type
from schemas.nodes import Dated, DateOrigin
from schemas.redaction import secrets_of

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What encrypted files begin with, and those of Office before 2007."""

_CORE = "docProps/core.xml"
_SAVED = re.compile(rb"<dcterms:modified\b[^>]*>\s*([^<\s]+)")
_END = re.compile(
    rb"</(?:\w+:)?(?:p|si|is|c|f|v|text|definedName)>|<[wa]:br\b[^>]*/>|</\w+:\w+>(?=<(?!/?[wa]:))"
)
"""Where a paragraph, a cell or a property ends, or a line."""

_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_TAG = re.compile(rb"<[^>]*>")
_VALUE = re.compile(rb"=\s*(?:\"([^\"]*)\"|'([^']*)')")
_KEPT = re.compile(r"(?:.+/)?_rels/[^/]*\.rels|customXml/[^/]+\.xml")
"""Parts of all programs in which there may be secrets: where links lead, and data that is bound to a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeFiles:
    """The files of one program: how they are known, and what may stand in them unread.

    Args: program: whose files they are. main: the part that has the text, unless a package names another.
    root: the element that it consists of. marks: what stands in the first bytes of a package. kept: parts in
    which there may be secrets.
    """

    program: str
    suffixes: tuple[str, ...]
    media_types: tuple[str, ...]
    main: str
    root: bytes
    marks: tuple[bytes, ...]
    kept: re.Pattern[str]

    def format(
        self, name: str, parse: Parse, top_texts: Callable[[ZipFile], Iterable[str]], *, old_type: str
    ) -> DocumentFormat:
        """Return the format of these files.

        Args: top_texts: the texts of which one may say who may see the file, if no property does.
        """

        def names_access(data: bytes, _content_type: str | None) -> bool:
            archive = open_archive(data, subject="")
            return _properties_name_access(archive) or any(map(names_access_at_top, top_texts(archive)))

        return DocumentFormat(
            name=name,
            version="1",
            parse=parse,
            recognise=self.recognise,
            suffixes=self.suffixes,
            media_types=self.media_types,
            shared_types=("application/zip", "application/x-zip-compressed", old_type),
            size=SizeClass.FILE,
            unread_secrets=self.secrets_in,
            names_access=names_access,
            end=ZIP_END,
        )

    def recognise(self, head: bytes, content_type: str, name: str) -> bool:
        """Whether a document is one of these files, or an older one that `open_package` refuses (`.doc`)."""
        is_named = name.endswith(self.suffixes) or media_type(content_type) in self.media_types
        if head.startswith(ZIP_START):
            return is_named or any(mark in head for mark in self.marks)
        is_old = head.startswith(_OLE) and name.endswith(self.suffixes[0][:-1])
        return is_old or (is_named and is_binary(head))

    def open_package(self, data: bytes, *, subject: str) -> ZipFile:
        """Open a package, after a look at all of its XML.

        Raises: ParseError: encrypted, of an older program, of another one, damaged, too large, or with
        document types.
        """
        ending = self.suffixes[0]
        if data.startswith(_OLE):
            reason = f"encrypted, or of {self.program} before 2007; save it as {ending} without a password"
            raise ParseError(reason, subject=subject)
        archive = open_archive(data, subject=subject)
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")):
                refuse_doctype(read_member(archive, name, subject=subject), name=name, subject=subject)
        if (main := self.main_part(archive, subject=subject)) not in archive.namelist():
            raise ParseError(f"no {ending[1:].upper()}: there is no {main} in it", subject=subject)
        root = _ROOT.search(read_member(archive, main, subject=subject))
        if root and root[1] != self.root:
            raise ParseError(f"damaged, or no {ending[1:].upper()}: {main} has another root", subject=subject)
        return archive

    def main_part(self, archive: ZipFile, *, subject: str) -> str:
        """Return the part with the text, as the package states it: `document2.xml` of Word Online."""
        return next(related_parts(archive, "", "officeDocument", subject=subject), self.main)

    def related_part(self, archive: ZipFile, kind: str, *, subject: str) -> str:
        """Return the name of the part of the main one that is of a *kind* (`styles`)."""
        main = self.main_part(archive, subject=subject)
        return next(related_parts(archive, main, kind, subject=subject), f"{dirname(main)}/{kind}.xml")

    def secrets_in(self, data: bytes) -> tuple[str, ...]:
        """Return the kinds of the secrets in what may not be read, and is kept with the file."""
        archive = open_archive(data, subject="")
        names = [one for one in archive.namelist() if self.kept.fullmatch(one) or _KEPT.fullmatch(one)]
        parts = map(archive.read, names)
        texts = (text for xml in parts for text in (text_of_xml(xml), _values_in(xml)))
        return kinds_of(secrets_of("\n\n".join(texts)))


def relations(archive: ZipFile, part: str, *, subject: str) -> dict[str, tuple[str, str]]:
    """Return what a part refers to by id: the kind (`slide`), and the name of a part in it or an address."""
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels".lstrip("/")
    root = parsed_part(read_member(archive, rels, subject=subject)) if rels in archive.namelist() else None
    found: dict[str, tuple[str, str]] = {}
    for one in () if root is None else root:
        target = one.get("Target") or ""
        if one.get("TargetMode") != "External":
            target = target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))
        found[one.get("Id") or ""] = ((one.get("Type") or "").rpartition("/")[2], target)
    return found


def related_parts(archive: ZipFile, part: str, kind: str, *, subject: str) -> Iterator[str]:
    """Yield the parts of a *kind* that a part refers to; the package for ""."""
    for own, target in relations(archive, part, subject=subject).values():
        if own == kind and target in archive.namelist():
            yield target


def parsed_part(xml: bytes) -> Any:
    """Return the root of a part; None where it is damaged."""
    from lxml import etree

    try:
        return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return None


def saved_at(archive: ZipFile, origin: DateOrigin, *, subject: str) -> Dated | None:
    """Return when the core properties say that it was saved last (ECMA-376 part 2, 11)."""
    if _CORE not in archive.namelist():
        return None
    match = _SAVED.search(read_member(archive, _CORE, subject=subject))
    return dated(match[1].decode("ascii", "replace"), origin) if match else None


def _properties_name_access(archive: ZipFile) -> bool:
    names = [name for name in archive.namelist() if name.startswith("docProps/") and name.endswith(".xml")]
    return any(names_access_in_properties(read_member(archive, name, subject="")) for name in names)


def text_of_xml(xml: bytes) -> str:
    """Return the text of a part, paragraphs on lines of their own."""
    return html.unescape(_TAG.sub(b"", _END.sub(b"\n", xml)).decode("utf-8", "replace"))


def _values_in(xml: bytes) -> str:
    values = (double or single for tag in _TAG.findall(xml) for double, single in _VALUE.findall(tag))
    return html.unescape(b"\n\n".join(values).decode("utf-8", "replace"))
