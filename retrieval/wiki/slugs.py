"""Names of pages and categories that are safe as file names everywhere."""

import re
import unicodedata

from schemas.errors import ConfigError
from schemas.hashing import sha256_hex

LENGTH_MAX = 80
_MARK = 8
_SAFE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""Device names of Windows: no file may be called so there, whatever its extension."""


def slug_of(title: str) -> str:
    """Return the slug of a title: its words in lower case, joined by dashes, at most 80 characters.

    What plain letters and digits cannot say leaves a mark of eight hex digits of the title's hash behind,
    so that titles in other scripts, long ones, and reserved names have slugs of their own.
    """
    whole = unicodedata.normalize("NFKC", title)
    plain = "".join(char for char in unicodedata.normalize("NFKD", whole) if not unicodedata.combining(char))
    slug = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
    lost = any(char.isalnum() and not char.isascii() for char in plain)
    if lost or not is_safe(slug):
        return marked_slug(slug, title)
    return slug


def marked_slug(slug: str, title: str) -> str:
    """Return *slug* with a mark that follows from the title, for where the plain one means something else."""
    head = slug[: LENGTH_MAX - _MARK - 1].strip("-") or "page"
    return f"{head}-{sha256_hex(unicodedata.normalize('NFC', title))[:_MARK]}"


def is_safe(name: str) -> bool:
    """Whether a category or slug may be a file name: `[a-z0-9-]`, at most 80 characters, no reserved name."""
    return bool(_SAFE.fullmatch(name)) and len(name) <= LENGTH_MAX and name not in _RESERVED


def check_name(name: str, *, what: str) -> str:
    """Return a category or slug back if it is safe.

    Raises: ConfigError: it is not, as `../x`, `a/b`, `CON` or an empty one.
    """
    if not is_safe(name):
        raise ConfigError(
            f"is not a valid {what}: write lower-case letters, digits and single dashes, at most "
            f"{LENGTH_MAX}, and no name that a system reserves",
            subject=repr(name),
        )
    return name
