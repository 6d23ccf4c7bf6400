"""Open a PDF with pymupdf, quietly, or say in one ParseError why not."""

from functools import cache
from typing import Any

from schemas.errors import ParseError

MAGIC_WINDOW = 1024
"""Bytes in which `%PDF-` must stand; readers accept leading junk up to here (ISO 32000-1, annex H.3)."""


@cache
def load_pymupdf() -> Any:
    """Import pymupdf with its layout model off and its messages on stderr.

    It prints to standard output otherwise, and the layout model costs 300-700 CPU-ms a page.
    """
    import pymupdf

    pymupdf.set_messages(fd=2)
    pymupdf.use_layout(False)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf


@cache
def pdf_errors() -> tuple[type[Exception], ...]:
    """Return what pymupdf raises over damaged files: its own errors, and Python's over what they left."""
    own: type[Exception] = load_pymupdf().mupdf.FzErrorBase
    return (own, RuntimeError, ValueError, LookupError, TypeError, AttributeError, OSError, AssertionError)


def raise_if_exhausted(error: Exception) -> None:
    """Raise MemoryError where MuPDF ran out of it: what is left of a document then depends on the machine.

    MuPDF's code 2 is FZ_ERROR_SYSTEM, a failed allocation or system call.
    """
    if isinstance(error, load_pymupdf().mupdf.FzErrorSystem) or str(error).startswith("code=2:"):
        raise MemoryError(str(error)) from error


def open_pdf(data: bytes, *, subject: str) -> Any:
    """Open *data* as a pymupdf document whose pages can be counted and read; the caller closes it.

    Raises: ParseError: not a PDF, broken beyond repair, or locked with a password ("needs_password").
    """
    if b"%PDF-" not in data[:MAGIC_WINDOW]:
        raise ParseError("not a PDF: it has no %PDF- header; check the content type", subject=subject)
    try:
        document = load_pymupdf().open(stream=data, filetype="pdf")
    except pdf_errors() as error:
        raise _broken(error, subject) from error
    try:
        _check(document, subject)
    except ParseError:
        document.close()
        raise
    return document


def attached_files(document: Any) -> list[str]:
    """Return the names of the files that a document holds, as a portfolio does, and of those on its pages."""
    pymupdf = load_pymupdf()
    try:
        names = [
            str(document.embfile_info(name).get("filename") or name) for name in document.embfile_names()
        ]
        for page in document if document.has_annots() else ():
            notes = page.annots(types=[pymupdf.PDF_ANNOT_FILE_ATTACHMENT])
            names.extend(str(note.file_info.get("filename") or "") for note in notes)
    except pdf_errors() as error:
        raise_if_exhausted(error)
        return []
    return names


def _check(document: Any, subject: str) -> None:
    # `needs_pass` stays set after the right password, `is_encrypted` does not.
    if document.needs_pass and document.is_encrypted:
        raise ParseError("needs_password: remove the password and try again", subject=subject)
    if not document.is_pdf:
        raise ParseError("not a PDF, although it has a %PDF- header", subject=subject)
    try:
        document.page_count  # noqa: B018 - reading it walks the page tree, which is what may be broken
    except pdf_errors() as error:
        raise _broken(error, subject) from error


def _broken(error: Exception, subject: str) -> ParseError:
    raise_if_exhausted(error)
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ParseError(f"broken PDF: {reason}; open and save it again with another tool", subject=subject)
