"""Which of its dates a document is shown with, and when another one takes its place.

Source: docs/rules/dates.md.
"""

from datetime import datetime, timedelta

from schemas.dates import Dated, DateOrigin
from schemas.documents import KnownDocument, LiveDocument

_ORDER = {origin: place for place, origin in enumerate(DateOrigin)}
_STATED = frozenset(
    {
        DateOrigin.FRONT_MATTER,
        DateOrigin.JSON_LD,
        DateOrigin.META,
        DateOrigin.TIME,
        DateOrigin.PDF,
        DateOrigin.DOCX,
        DateOrigin.EPUB,
    }
)
"""What is followed though the content stayed. The line in a footer is none of them: many tell of each build.
"""

_ZONES = timedelta(days=1)
"""A day that is said without its zone may have begun somewhere before it begins in UTC."""


def modified_of(known: KnownDocument) -> Dated | None:
    """Return the date of the first origin in the order of `DateOrigin`; one that had not come yet is none."""
    found = (
        _dated(known.stated_modified, known.stated_origin),
        _dated(known.fetched_modified, known.fetched_origin),
        _dated(known.lastmod, DateOrigin.SITEMAP),
    )
    plausible = (one for one in found if one is not None and _has_come(one.at, known.checked_at))
    return min(plausible, key=lambda one: _ORDER[one.origin], default=None)


def keep_modified(old: LiveDocument, new: Dated | None) -> Dated | None:
    """Return the date of a document whose content stayed.

    That is the one it came with, but where the document itself says another, or a better origin is known now.
    """
    held = _dated(old.last_modified, old.last_modified_origin)
    if new is None or held is None:
        return new or held
    better = _ORDER[new.origin] < _ORDER[held.origin]
    published_anew = new.origin is held.origin is DateOrigin.PUBLISHED
    return new if better or published_anew or new.origin in _STATED else held


def _dated(at: str | None, origin: DateOrigin | None) -> Dated | None:
    return Dated(at=at, origin=origin) if at is not None and origin is not None else None


def _has_come(at: str, now: str | None) -> bool:
    return now is None or datetime.fromisoformat(at) <= datetime.fromisoformat(now) + _ZONES
