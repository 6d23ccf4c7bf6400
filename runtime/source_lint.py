"""What a source file says to the linter."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from schemas.source import LintIgnore, LintOptions

_RuleName = Annotated[str, Field(pattern=r"^[a-z]+(?:-[a-z]+)*$")]
"""Which rules there are, `sitegraph lint` knows; it warns of a name that is none."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Ignore(_Model):
    rule: Annotated[str, Field(pattern=r"^(?:[a-z]+(?:-[a-z]+)*|\*)$")]
    path: str


class LintKeys(_Model):
    """The keys of `lint`."""

    disable: tuple[_RuleName, ...] = ()
    ignore: tuple[_Ignore, ...] = ()

    def options(self) -> LintOptions:
        """Return what they say."""
        return LintOptions(
            disable=self.disable,
            ignore=tuple(LintIgnore(rule=one.rule, path=one.path) for one in self.ignore),
        )
