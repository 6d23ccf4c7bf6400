"""What a source file says of versions: which manual, and where the version of a document stands."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from schemas.families import VersionFamily

FamilyName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]

VERSION_MAX = 200


def _one_group(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ValueError(f"is not a regular expression ({error})") from error
    if groups != 1:
        raise ValueError(
            f"must have one group, which is the version, such as /docs/([^/]+)/; it has {groups}"
        )
    return pattern


_Pattern = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_one_group)]


class VersionKeys(BaseModel):
    """The keys of `version`, of which there is one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    all: str | None = Field(default=None, pattern=r"\S", max_length=VERSION_MAX)
    url: _Pattern | None = None
    title: _Pattern | None = None
    meta: str | None = Field(default=None, pattern=r"^\S+$")

    @model_validator(mode="after")
    def _one_of_them(self) -> "VersionKeys":
        if sum(one is not None for one in (self.all, self.url, self.title, self.meta)) != 1:
            raise ValueError(
                "must have one of url, title and meta, or be the version of all documents, in quotes"
            )
        return self


def as_version_keys(value: object) -> object:
    """Read a version that stands alone as that of all documents.

    Raises: ValueError: it is a number: YAML reads 15.20 as 15.2.
    """
    if isinstance(value, str):
        return {"all": value}
    if isinstance(value, int | float):
        raise ValueError(f'is a number; put it in quotes: "{value}"')
    return value


def refuse_family(name: str | None, version: VersionKeys | None, stated: str | None) -> str | None:
    """Say what is wrong with the keys together; None where nothing is."""
    if name is None:
        return "version needs the name of its manual: family: NAME" if version is not None else None
    if version is None and stated is None:
        return 'family needs a version: "15", or {url: PATTERN}, {title: PATTERN}, {meta: NAME}'
    if version is not None and stated is not None:
        return "version and metadata.version both give the version; keep one of them"
    return None


def as_family(name: str | None, version: VersionKeys | None, stated: str | None) -> VersionFamily | None:
    """Return what the keys say, where there is a family."""
    if name is None:
        return None
    keys = version or VersionKeys(all=stated)
    return VersionFamily(name=name, version=keys.all, url=keys.url, title=keys.title, meta=keys.meta)
