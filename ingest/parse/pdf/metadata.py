"""What a PDF says of itself besides its title: its date and its language, in its catalog, Info and XMP."""

import re
from typing import Any

from ingest.dates import dated
from ingest.parse.pdf.opening import open_pdf, pdf_errors
from ingest.parse.stated_access import is_access_key, lists_name_access, names_access_in_properties
from schemas.dates import Dated, DateOrigin

_MAX_XMP = 1_000_000
_XMP = r"(?:xmp|xap):{}(?:\s*=\s*[\"']|>\s*)([^<\"']+)"
_MODIFIED, _CREATED = (re.compile(_XMP.format(name)) for name in ("ModifyDate", "CreateDate"))
_LANGUAGE = re.compile(r"<dc:language>.*?<rdf:li[^>]*>\s*([^<\s]+)", re.DOTALL)
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_UNKNOWN = frozenset({"und", "mul", "zxx", "mis"})


def stated_date(document: Any) -> Dated | None:
    """Return when the file was last modified, else when it was made; of Info and XMP the later one.

    Programs that change a file often keep only one of the two up to date. Source: ISO 32000-2, 14.3.
    """
    info, xmp = document.metadata or {}, _xmp(document)
    for key, pattern in (("modDate", _MODIFIED), ("creationDate", _CREATED)):
        said = (dated(text, DateOrigin.PDF) for text in (info.get(key), *pattern.findall(xmp)[:1]))
        if found := [one for one in said if one is not None]:
            return max(found, key=lambda one: one.at)
    return None


def stated_language(document: Any) -> str | None:
    """Return the language of the catalog, else of XMP, as a tag (RFC 5646)."""
    try:
        stated = document.language or ""
    except pdf_errors():
        stated = ""
    said = (stated, *_LANGUAGE.findall(_xmp(document))[:1])
    tags = (text.strip().replace("_", "-") for text in said if _TAG.fullmatch(text.strip()))
    return next((tag for tag in tags if tag.partition("-")[0].lower() not in _UNKNOWN), None)


def metadata_names_access(data: bytes) -> bool:
    """Whether a key of Info names `access`, a word of what stands under one, or a property of XMP.

    Of metadata that cannot be read: whether the word is in the file.
    """
    document = open_pdf(data, subject="")
    try:
        kind, info = document.xref_get_key(-1, "Info")
        keys = document.xref_get_keys(int(info.split()[0])) if kind == "xref" else ()
        said = [text for key, text in (document.metadata or {}).items() if text and key != "title"]
        return (
            any(map(is_access_key, keys))
            or any(map(lists_name_access, said))
            or names_access_in_properties(_xmp(document).encode("utf-8", "replace"))
        )
    except pdf_errors():
        return b"/access" in data.lower()
    finally:
        document.close()


def _xmp(document: Any) -> str:
    try:
        return str(document.get_xml_metadata() or "")[:_MAX_XMP]
    except pdf_errors():
        return ""
