"""When a document was last modified, and who says so."""

from dataclasses import dataclass
from enum import StrEnum


class DateOrigin(StrEnum):
    """Where the date of a document comes from; those that come first are believed first.

    What a document says of itself: FRONT_MATTER, JSON_LD (`dateModified`), META, TIME (a `time` element that
    is marked as modified), TEXT ("Last updated on ..."), PDF, DOCX, EPUB. Then GIT, the last commit that
    changed the file, and SITEMAP. PUBLISHED is when the document says that it came out. HTTP is
    `Last-Modified`, FILE the time of a file, GIT_HEAD the commit that was read: these three often tell of a
    build, a deployment or a checkout. Source: docs/rules/dates.md.
    """

    FRONT_MATTER = "front_matter"
    JSON_LD = "json_ld"
    META = "meta"
    TIME = "time"
    TEXT = "text"
    PDF = "pdf"
    DOCX = "docx"
    EPUB = "epub"
    GIT = "git"
    SITEMAP = "sitemap"
    PUBLISHED = "published"
    HTTP = "http"
    FILE = "file"
    GIT_HEAD = "git_head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A date, ISO 8601 in UTC to the second, and where it comes from."""

    at: str
    origin: DateOrigin
