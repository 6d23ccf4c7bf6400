"""What a PDF says of itself besides its title, its date and its language, and which language a text is in."""

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ingest.dates import dated
from ingest.parse.access import is_access_key, lists_name_access, names_access_in_properties
from ingest.parse.pdf.opening import open_pdf, pdf_errors
from schemas.nodes import Dated, DateOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from py3langid.langid import LanguageIdentifier

_MAX_XMP = 1_000_000
_XMP = r"(?:xmp|xap):{}(?:\s*=\s*[\"']|>\s*)([^<\"']+)"
_MODIFIED, _CREATED = (re.compile(_XMP.format(name)) for name in ("ModifyDate", "CreateDate"))
_LANGUAGE = re.compile(r"<dc:language>.*?<rdf:li[^>]*>\s*([^<\s]+)", re.DOTALL)
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_UNKNOWN = frozenset({"und", "mul", "zxx", "mis"})


def file_date(document: Any) -> Dated | None:
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
    with open_pdf(data, subject="") as document:
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


def _xmp(document: Any) -> str:
    try:
        return str(document.get_xml_metadata() or "")[:_MAX_XMP]
    except pdf_errors():
        return ""


LEAST_LETTERS = 200
SURE = 0.99
"""Of 105 PDFs with so many letters 93 got a language: the one they are in, and Latin for
nine of placeholder text (py3langid 0.4).
"""
_MOST = 6_000
_NO_LANGUAGE = "zxx"


def detect_language(lines: "Iterable[str]") -> str | None:
    """Return the language that the beginning of a text is in (ISO 639), None where that is not sure."""
    text = " ".join(islice(lines, _MOST // 10))[:_MOST]
    if sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return None
    found, confidence = _identifier().classify(text)
    return str(found) if confidence >= SURE and found != _NO_LANGUAGE else None


def choose_language(stated: str | None, detected: str | None) -> str | None:
    """Return what a document states, unless its text is surely in another: many state what was preset."""
    if detected is None or (stated or "").replace("_", "-").partition("-")[0].lower() == detected:
        return stated
    return detected


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
