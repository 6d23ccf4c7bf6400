"""The formats that are installed: our own, one a line, and those that other packages offer."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from schemas.errors import ConfigError
from schemas.formats import GROUP, NAME, DocumentFormat
from schemas.ids import record_sha256

_SPECIFIC = (
    "ingest.parse.formats.common:PDF",
    "ingest.parse.formats.docx:FORMAT",
    "ingest.parse.formats.pptx:FORMAT",
    "ingest.parse.formats.xlsx:FORMAT",
    "ingest.parse.formats.epub:FORMAT",
    "ingest.parse.formats.notebook:FORMAT",
    "ingest.parse.formats.openapi:FORMAT",
    "ingest.parse.formats.info:FORMAT",
    "ingest.parse.formats.man:FORMAT",
    "ingest.parse.formats.rst:FORMAT",
    "ingest.parse.formats.asciidoc:FORMAT",
)  # fmt: skip
"""Modules of formats in the order in which they are asked; a format of ours is one line here."""

_GENERIC = (
    "ingest.parse.formats.common:MARKDOWN",
    "ingest.parse.formats.common:HTML",
    "ingest.parse.formats.common:PLAIN_TEXT",
)
"""Formats that take what nobody else does; asked last."""


@cache
def installed_formats() -> tuple[DocumentFormat, ...]:
    """Return all formats, in the order in which they are asked whether a document is theirs.

    Their modules are imported, the libraries that they parse with are not. Raises: ConfigError: a format of
    another package does not load, is no format, or has a name that is taken.
    """
    return load_formats(entry_points(group=GROUP))


def load_formats(others: Iterable[EntryPoint]) -> tuple[DocumentFormat, ...]:
    """Return our formats with those of *others* between the specific and the generic ones, by name."""
    specific, generic = ([_built_in(line) for line in lines] for lines in (_SPECIFIC, _GENERIC))
    taken = {one.name: "sitegraph" for one in (*specific, *generic)}
    added = []
    for point in sorted(others, key=lambda point: (point.name, point.value)):
        found = _load(point)
        if found.name in taken:
            raise _refused(point, f"has the name of a format of {taken[found.name]}")
        taken[found.name] = _package(point)
        added.append(found)
    return (*specific, *added, *generic)


def file_suffixes(*, shared: bool = False) -> tuple[str, ...]:
    """Endings of the names of files that are documents, in order, without repetition.

    Args: shared: those as well that other files have, too.
    """
    endings = (one.endings if shared else one.suffixes for one in installed_formats())
    return tuple(dict.fromkeys(suffix for some in endings for suffix in some))


def is_listed(path: str, read_head: Callable[[], bytes]) -> bool:
    """Whether a file whose ending others have, too, is a document by its first bytes."""
    name = path.lower()
    asked = [one for one in installed_formats() if name.endswith(one.shared_suffixes)]
    head = read_head() if asked else b""
    return any(one.recognise(head, "", name) for one in asked)


def is_text(kind: str | None) -> bool:
    """Whether documents of *kind* are text, which a server may send in the place of a document."""
    return any(one.is_text for one in installed_formats() if one.name == kind)


def document_version(pipeline_version: str, kind: str | None) -> str:
    """Name what a fragment of *kind* depends on besides its bytes: the pipeline and its format."""
    version = next((one.version for one in installed_formats() if one.name == kind), "")
    return f"{pipeline_version} {kind}-{version}" if version else pipeline_version


def document_versions(pipeline_version: str) -> tuple[str, ...]:
    """All that `document_version` gives with the formats that are installed.

    That of documents which the pipeline's version speaks for does not change as formats come and go.
    """
    versions = (document_version(pipeline_version, one.name) for one in installed_formats())
    return tuple(dict.fromkeys((pipeline_version, *versions)))


def formats_version() -> str:
    """Name what the installed formats are: what none of them took, another set may take."""
    return "formats " + record_sha256([[one.name, one.version] for one in installed_formats()])[:16]


def _built_in(line: str) -> DocumentFormat:
    found = EntryPoint(name="", value=line, group=GROUP).load()
    assert isinstance(found, DocumentFormat)
    return found


def _load(point: EntryPoint) -> DocumentFormat:
    try:
        found = point.load()
    except Exception as error:  # whatever another package does, one line says whose fault it is
        raise _refused(point, f"does not load ({type(error).__name__}: {error})") from error
    if not isinstance(found, DocumentFormat):
        raise _refused(point, "is no schemas.formats.DocumentFormat")
    if not NAME.fullmatch(found.name):
        raise _refused(point, f"has the name {found.name!r}, which does not match {NAME.pattern}")
    if re.search(r"\s", found.version) or not found.version:
        raise _refused(point, f"has the version {found.version!r}; give it one without spaces")
    return found


def _refused(point: EntryPoint, reason: str) -> ConfigError:
    return ConfigError(
        f"the format {point.value} {reason}; fix or uninstall the package", subject=_package(point)
    )


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"
