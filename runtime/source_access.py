"""What a source file says of who may see its documents."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from schemas.access import EVERYTHING, PUBLIC, PathAccess, SourceAccess, is_group


def _groups(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"names no group; write {PUBLIC} for everybody")
    for name in names:
        if name != EVERYTHING and not is_group(name):
            raise ValueError(
                f"{name!r} is not a group; write lower case letters, digits, '.', '_' and '-', 40 at most"
            )
    if PUBLIC in names and len(set(names)) > 1:
        raise ValueError(f"names {PUBLIC}, to which the other groups add nothing; leave them out")
    return tuple(sorted(set(names)))


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


AccessGroups = Annotated[tuple[str, ...], BeforeValidator(_one_or_several), AfterValidator(_groups)]


class AccessKeys(BaseModel):
    """The keys of `access`; a list of groups alone is that of `groups`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: AccessGroups = Field(default=())
    paths: dict[str, AccessGroups] = {}

    def access(self) -> SourceAccess:
        """Return what they say, globs in the order of the file."""
        paths = tuple(PathAccess(path=path, groups=groups) for path, groups in self.paths.items())
        return SourceAccess(groups=self.groups, paths=paths)


def as_access(value: Any) -> Any:
    """Let a group, or a list of them, stand for a mapping."""
    return {"groups": value} if isinstance(value, str | list | tuple) else value
