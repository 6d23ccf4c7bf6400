"""Files of tools that a source names now, against those of the base generation.

They are documents of a generation like any other, and none of a site: nobody crawls them, and no guard counts
them.
"""

from collections.abc import Iterable, Mapping

from ingest.urls import is_tools_url
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument

Documents = Mapping[str, LiveDocument]


def without_tools(live: Documents) -> Documents:
    """Return the documents of a site, by node id."""
    return {doc: document for doc, document in live.items() if not is_tools_url(document.uri)}


def diff_tools(named: Iterable[LiveDocument], live: Documents) -> tuple[DocumentChange, ...]:
    """Return what changes among a source's files of tools, ordered by node id.

    Args: named: the files that the source file names, as they are now; live: the source's documents in the
    base.
    """
    now = {document.doc: document for document in named}
    held = {doc: document for doc, document in live.items() if is_tools_url(document.uri)}
    changes = (_change(held.get(doc), now.get(doc)) for doc in sorted(held.keys() | now.keys()))
    return tuple(change for change in changes if change is not None)


def _change(old: LiveDocument | None, new: LiveDocument | None) -> DocumentChange | None:
    if new is None:
        reason = "no longer named by the source file"
        return DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None, reason=reason)
    if old is None:
        return DocumentChange(kind=ChangeKind.ADDED, old=None, new=new)
    if old.fragment_sha == new.fragment_sha:
        return None
    same = old.content_hash == new.content_hash
    return DocumentChange(kind=ChangeKind.REFRESHED if same else ChangeKind.CHANGED, old=old, new=new)
