"""Which commit a source of kind `git` means: a branch, else a tag, else the whole id of a commit."""

from typing import Any

from dulwich.objects import ObjectID

from ingest.sources.git_keys import GitKeys
from schemas.errors import GuardRefused


def ref_names(ref: str | None) -> tuple[bytes, ...]:
    """Full names that a ref may be short for, in the order in which they count."""
    if ref is None:
        return (b"HEAD",)
    name = ref.encode()
    return (name,) if name.startswith(b"refs/") else (b"refs/heads/" + name, b"refs/tags/" + name)


def is_id(ref: str) -> bool:
    """Whether a ref is the whole id of an object."""
    return len(ref) in (40, 64) and set(ref) <= set("0123456789abcdef")


def find_ref(refs: Any, keys: GitKeys) -> ObjectID:
    """Return the id that the ref of a source has among *refs* (a mapping of names to ids).

    Raises: GuardRefused: there is no such ref.
    """
    for name in ref_names(keys.ref):
        try:
            return ObjectID(refs[name])
        except KeyError:
            continue
    if keys.ref is not None and is_id(keys.ref):
        return ObjectID(keys.ref.encode())
    told = (
        "no commit yet"
        if keys.ref is None
        else f"no branch or tag {keys.ref}, and that is no whole commit id"
    )
    raise GuardRefused(f"has {told}; nothing was changed", subject=keys.repository)
