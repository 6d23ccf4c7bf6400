"""The file that says which groups readers over a network have, by their bearer tokens."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runtime.file_errors import os_error_reason
from runtime.source_errors import explain, key_written_twice, one_line
from schemas.access import ReaderToken, as_groups
from schemas.errors import ConfigError


class _Token(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    groups: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: Annotated[tuple[_Token, ...], Field(min_length=1)]


def load_tokens(path: Path) -> tuple[ReaderToken, ...]:
    """Read a file of tokens, in its order.

    Raises: ConfigError: it cannot be read, a key is unknown or wrong, or two tokens have one name or hash.
    """
    subject = str(path)
    try:
        text = path.read_text(encoding="utf-8")
        tree, values = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=subject) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not valid YAML ({one_line(error)})", subject=subject) from error
    try:
        file = _File.model_validate(values)
    except ValidationError as error:
        raise ConfigError(explain(error, tree, _File), subject=subject) from error
    if twice := key_written_twice(tree):
        raise ConfigError(twice, subject=subject)
    for what in ("name", "sha256"):
        seen = [getattr(one, what) for one in file.tokens]
        if len(set(seen)) < len(seen):
            raise ConfigError(f"two tokens have the same {what}", subject=subject)
    return tuple(
        ReaderToken(name=one.name, sha256=one.sha256, groups=as_groups(one.groups, subject=subject))
        for one in file.tokens
    )
