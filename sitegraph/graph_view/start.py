"""Where a walk begins that somebody asked for by the address of a document."""

from collections.abc import Collection

from indexes.stores.ledger.lookup import Lookup
from ingest.urls import canonical_url
from schemas.documents import KnownDocument

_ANY_HOST = "http://host/"


def known_address(name: str) -> str:
    """Return the address that the ledger has for what was typed, or the end of one, without its fragment.

    What names no address is returned as it is.
    """
    if "://" in name:
        return canonical_url(name) or name
    return (canonical_url(f"{_ANY_HOST}{name.lstrip('/')}") or f"{_ANY_HOST}{name}").removeprefix(_ANY_HOST)


def documents_meant(lookup: Lookup, known: Collection[KnownDocument]) -> tuple[str, ...]:
    """Return ids of the documents, and of those to which their addresses lead: they do not bear those."""
    places = [document.location for document in known if document.location]
    led_to = lookup.by_uris(places) if places else ()
    return tuple(dict.fromkeys(document.doc for document in (*known, *led_to) if document.doc))
