"""The keys of a source of kind `git`: which repository, which commit, which folders, and links to them."""

import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from dulwich.objects import ObjectID
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from ingest.urls import canonical_url
from schemas.errors import GuardRefused
from schemas.source_kinds import Keys

_URL = re.compile(r"https?://", re.IGNORECASE)
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[^/]*@[^/]*:|[^/]*::|-")
"""Schemes, remote helpers (`ext::`) and ssh's short form. Source: gitremote-helpers(7), git-fetch(1)."""

_NO_REF = re.compile(r"^[-/]|[\s~^:?*\[\\]|\.\.|@\{|//|/$|^$")
"""What no name of a ref has, or none that is asked for. Source: git-check-ref-format(1)."""

_PLACE = re.compile(r"\{([^{}]*)\}")


def is_remote_address(repository: str) -> bool:
    """Whether a repository is asked for over the network."""
    return _URL.match(repository) is not None


def link_to(template: str, path: str, commit: str) -> str:
    """Fill a template of links; what it says behind `#` is left out."""
    values = {"commit": commit, "path": quote(path, safe="/", errors="surrogateescape")}
    return _PLACE.sub(lambda found: values[found[1]], template.partition("#")[0])


def _ref(name: str) -> str:
    if len(name) > 255 or _NO_REF.search(name) or not name.isprintable():
        raise ValueError("should be the name of a branch or tag, or the whole id of a commit")
    return name


def _inner(folder: str) -> str:
    path = PurePosixPath(folder)
    if folder.startswith("/") or ".." in path.parts or "\\" in folder or not path.parts:
        raise ValueError("should be the path of a folder in the repository")
    return path.as_posix()


class GitKeys(Keys):
    """A folder or an http(s) URL; a branch, tag or commit; the folders of it that are read, or all.

    `link`: where readers find a file, with `{commit}`, `{path}` and, behind `#`, `{line}`. `max_mb`: the
    largest download, in MB of 10^6 bytes.
    """

    repository: str
    ref: Annotated[str, AfterValidator(_ref)] | None = None
    folders: tuple[Annotated[str, AfterValidator(_inner)], ...] = ()
    link: str | None = None
    max_mb: int = Field(default=1000, strict=True, ge=1, le=100_000)

    @field_validator("repository")
    @classmethod
    def _readable(cls, repository: str, info: ValidationInfo) -> str:
        if is_remote_address(repository):
            url = canonical_url(repository)
            if url is None or "?" in url:
                raise ValueError(
                    "should be an http or https URL without user, password and query; put a login into auth"
                )
            return url
        if _ELSEWHERE.match(repository) or not repository.isprintable() or not repository:
            raise ValueError("should be a folder or an http or https URL; nothing else is supported")
        return str((Path((info.context or {}).get("folder", "/")) / repository).resolve())

    @field_validator("link")
    @classmethod
    def _template(cls, link: str | None) -> str | None:
        if link is None:
            return None
        names = set(_PLACE.findall(link.partition("#")[0]))
        tail = link.partition("#")[2]
        if names - {"commit", "path"} or (tail and set(_PLACE.findall(tail)) != {"line"}):
            raise ValueError("may hold {commit}, {path} and, behind #, {line}")
        if "path" not in names or canonical_url(_PLACE.sub("x", link)) is None or not is_remote_address(link):
            raise ValueError("should be an http or https URL with {path} in it")
        if "commit" not in names:
            raise ValueError("should name the commit, {commit}: a link to a branch leads to other text later")
        return link


def ref_names(ref: str | None) -> tuple[bytes, ...]:
    """Full names that a ref may be short for, in the order in which they count."""
    if ref is None:
        return (b"HEAD",)
    name = ref.encode()
    return (name,) if name.startswith(b"refs/") else (b"refs/heads/" + name, b"refs/tags/" + name)


def is_object_id(ref: str) -> bool:
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
    if keys.ref is not None and is_object_id(keys.ref):
        return ObjectID(keys.ref.encode())
    told = (
        "no commit yet"
        if keys.ref is None
        else f"no branch or tag {keys.ref}, and that is no whole commit id"
    )
    raise GuardRefused(f"has {told}; nothing was changed", subject=keys.repository)
