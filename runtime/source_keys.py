"""What each key of a source file may hold. The keys, their types and defaults are the fields of `Source`."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Annotated, Any, get_args, get_type_hints
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, create_model
from pydantic_core import PydanticKnownError

from ingest.fetch.proxies import name_refusal
from ingest.parse.formats.registry import file_suffixes
from ingest.parse.markdown.front_matter import STATED_KEYS
from ingest.plan.scope import foreign_refusal, glob_refusal, sole_match
from ingest.sources.registry import kind_named, kind_names
from runtime.clean_hooks import HookError, find_hook
from runtime.schedules import CENTURY, as_schedules, cron_refusal, rrule_refusal, schedule_refusal, seconds_of
from runtime.site_keys import (
    as_proxy,
    named_once,
    one_recipe,
    private_key_refusal,
    program_beside,
    proxy_key_refusal,
    seed_key_refusal,
    some_sign,
)
from runtime.yaml_files import KnownKeys
from schemas.access import EVERYTHING, PUBLIC, PathAccess, SourceAccess, is_group
from schemas.families import VersionFamily
from schemas.fragment import Hook
from schemas.source import Quarantine, Recrawl, Schedule, Scope, Source, ToolFormat

Refusal = Callable[[str], str | None]
"""Says what is wrong with a text; None where nothing is."""


def _unless(refusal: Refusal, said: str = "{refusal}") -> AfterValidator:
    def check(text: str) -> str:
        if wrong := refusal(text):
            raise ValueError(said.format(text=text, refusal=wrong))
        return text

    return AfterValidator(check)


def _like(pattern: str, said: str) -> AfterValidator:
    """Refuse a text that is not like the pattern as a whole."""
    return _unless(lambda text: None if re.fullmatch(pattern, text) else said)


_ONE_OR_SEVERAL = BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)


def _short(key: str, *types: type) -> BeforeValidator:
    """Let a value of these types that stands alone be that of one key of a mapping."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, types) else value)


# Capitals only, as POSIX has it: anything else is most likely the secret, in place of its name.
_VARIABLE = _like(
    r"[A-Z_][A-Z0-9_]*", "should be the name of an environment variable, in capitals, not its value"
)
_Headers = dict[Annotated[str, _unless(name_refusal)], Annotated[str, _VARIABLE]]


# Globs


def _refuse_globs(key: str, globs: Iterable[str], refusal: Refusal) -> None:
    for glob in globs:
        if wrong := refusal(glob):
            raise ValueError(f"{key} {glob!r} {wrong}")


def _scope_matches(scope: Scope, so_far: ValidationInfo) -> Scope:
    if kind := so_far.data.get("kind"):  # a wrong one is told by itself
        by_path = kind_named(kind).by_path
        read = file_suffixes(shared=True) if by_path else ()
        _refuse_globs(
            "include", scope.include, lambda glob: glob_refusal(glob, by_path=by_path, endings=read)
        )
        _refuse_globs("exclude", scope.exclude, lambda glob: glob_refusal(glob, by_path=by_path))
    return scope


def _exempt_matches(quarantine: Quarantine) -> Quarantine:
    _refuse_globs("exempt", quarantine.exempt, lambda glob: glob_refusal(glob, by_path=False))
    return quarantine


def _address_refusal(glob: str) -> str | None:
    return foreign_refusal(glob) or glob_refusal(glob, by_path=False)


def _access_matches(access: SourceAccess, so_far: ValidationInfo) -> SourceAccess:
    if kind := so_far.data.get("kind"):
        by_path = kind_named(kind).by_path

        def refusal(glob: str) -> str | None:
            read = file_suffixes(shared=True) if by_path and sole_match(glob) else ()
            return foreign_refusal(glob) or glob_refusal(glob, by_path=by_path, endings=read)

        _refuse_globs("path", (one.path for one in access.paths), refusal)
    return access


# Who may see documents


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


_Groups = Annotated[tuple[str, ...], _ONE_OR_SEVERAL, AfterValidator(_groups)]


def _path_access(paths: dict[str, tuple[str, ...]]) -> tuple[PathAccess, ...]:
    return tuple(PathAccess(path=path, groups=groups) for path, groups in paths.items())


# Documents


def _beside(path: str, so_far: ValidationInfo) -> str:
    """Take a relative path from the folder of the source file."""
    return str(((so_far.context or {})["folder"] / path).resolve())


def _inner_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith(("/", "~")) or ".." in parts or "\\" in path:
        raise ValueError("should be the path of a file under the source file's folder")
    return PurePosixPath(path).as_posix()


def _relation_refusal(key: str) -> str | None:
    is_read = key in STATED_KEYS
    return f"{key!r} is read from all front matter and cannot be a relation of its own" if is_read else None


_Relation = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,63}$"), _unless(_relation_refusal)]
_Language = Annotated[str, Field(pattern=r"^[a-z]{3}(_[A-Za-z]+)*$")]


def _languages(value: object) -> object:
    if isinstance(value, bool):
        return ("eng",) if value else ()
    return value


# YAML 1.1 reads the bare tag of Norwegian as a boolean.
_NORWEGIAN = BeforeValidator(lambda value: "no" if value is False else value)
# RFC 5646, section 2.1: a language of two or three letters, then subtags.
_TAG = _like(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", "should be the tag of a language, such as en, de or pt-BR")


def _selector_refusal(css: str) -> str | None:
    from ingest.parse.html.soup import selector_refusal

    return selector_refusal(css)


_SELECTOR = _unless(_selector_refusal, "{text!r} is not a CSS selector: {refusal}")
_Selectors = Annotated[tuple[Annotated[str, _SELECTOR], ...], _ONE_OR_SEVERAL]


def _hook(value: object, so_far: ValidationInfo) -> Hook | None:
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", value):
        raise ValueError("should be the name of a function, as module:function")
    try:
        return find_hook(value, (so_far.context or {})["folder"])
    except HookError as error:
        raise ValueError(f"{value}: {error}") from error


def _installed_kind(name: str) -> str:
    names = kind_names()
    if name not in names:
        *others, last = (f"'{one}'" for one in names)
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(others)} or {last}"})
    return name


def _in_order(recrawl: Recrawl) -> Recrawl:
    if recrawl.min_interval > recrawl.max_interval:
        raise ValueError("min_interval is longer than max_interval")
    return recrawl


# Versions of one manual


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


_PATTERN = (Field(min_length=1, max_length=1_000), AfterValidator(_one_group))
_NAME = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")


def _one_version(keys: KnownKeys) -> KnownKeys:
    if sum(value is not None for _, value in keys) != 1:
        raise ValueError(
            "must have one of url, title and meta, or be the version of all documents, in quotes"
        )
    return keys


def _as_version(value: object) -> object:
    """Read a version that stands alone as that of all documents; YAML reads 15.20 as 15.2."""
    if isinstance(value, int | float):
        raise ValueError(f'is a number; put it in quotes: "{value}"')
    return {"all": value} if isinstance(value, str) else value


def join_family(name: str | None, version: KnownKeys | None, stated: str | None) -> VersionFamily | None:
    """Join `family`, `version` and `metadata.version`. Raises: ValueError: they do not go together."""
    if name is None and version is None:
        return None
    if name is None:
        raise ValueError("version needs the name of its manual: family: NAME")
    if version is not None and stated is not None:
        raise ValueError("version and metadata.version both give the version; keep one of them")
    if version is not None:
        return VersionFamily(name=name, **dict(version))
    if not stated:
        raise ValueError('family needs a version: "15", or {url: PATTERN}, {title: PATTERN}, {meta: NAME}')
    return VersionFamily(name=name, version=stated)


# When it runs, and where

_CRON = _unless(cron_refusal, "{text!r} is not a cron expression ({refusal}), such as '15 2 * * *'")
_RECURRENCE = _unless(
    rrule_refusal, "{text!r} is not a recurrence rule ({refusal}), such as 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=3'"
)


def _zone_refusal(name: str) -> str | None:
    is_known = name in available_timezones()
    return None if is_known else f"{name!r} is not a time zone of the IANA database, such as 'Europe/Berlin'"


def _at_least_a_second(seconds: float) -> float:
    if seconds < 1:
        raise ValueError("should be a second or longer")
    return seconds


def _fires_somehow(schedule: Schedule) -> Schedule:
    if refusal := schedule_refusal(schedule):
        raise ValueError(refusal)
    return schedule


def _not_ours(tags: tuple[str, ...]) -> tuple[str, ...]:
    if any(tag.startswith("sitegraph:") for tag in tags):
        raise ValueError("tags that begin with sitegraph: are kept for sitegraph deploy")
    return tags


def _variables(variables: Mapping[str, Any]) -> str:
    try:
        return json.dumps(variables, sort_keys=True) if variables else ""
    except (TypeError, ValueError) as error:
        raise ValueError("holds a value that is not JSON; put dates and the like in quotes") from error


# The rules, by key. A tuple narrows the type of the field; anything else takes its place.

_COUNT = (Field(ge=1),)
_SECONDS = (
    BeforeValidator(lambda value: seconds_of(value) if isinstance(value, str) else value),
    Field(ge=0, le=CENTURY),
)
_A_SECOND = (*_SECONDS, AfterValidator(_at_least_a_second))
_NOT_EMPTY = (Field(min_length=1),)
_RULE_NAME = r"[a-z]+(?:-[a-z]+)*"  # which there are, `sitegraph lint` knows; it warns of others

_RULES: dict[str, Any] = {
    "name": (_NAME,),
    "kind": (AfterValidator(_installed_kind),),
    "seeds": tuple[Annotated[str, _unless(seed_key_refusal)], ...],
    "roots": tuple[Annotated[str, AfterValidator(_beside)], ...],
    "scope": (AfterValidator(_scope_matches),),
    "scope.max_pages": _COUNT,
    "scope.max_pages_per_host": _COUNT,
    "scope.max_depth": (Field(ge=0),),
    "scope.max_queries_per_path": _COUNT,
    "allow_private": tuple[Annotated[str, _unless(private_key_refusal)], ...],
    "auth": (AfterValidator(named_once),),
    "auth.bearer_env": (_VARIABLE,),
    "auth.headers_env": Annotated[_Headers, AfterValidator(lambda pairs: tuple(sorted(pairs.items())))],
    "login": (AfterValidator(one_recipe),),
    "login.cookies": (*_NOT_EMPTY, AfterValidator(_beside)),
    "login.storage_state": (*_NOT_EMPTY, AfterValidator(_beside)),
    "login.command": (Field(min_length=1), AfterValidator(program_beside)),
    "login.seconds": (*_A_SECOND, Field(le=600)),
    "login.session_cookie": _NOT_EMPTY,
    "login.warn_before": _SECONDS,
    "login.logged_out": (AfterValidator(some_sign),),
    "login.logged_out.selector": (_SELECTOR,),
    "login.logged_out.address": (_unless(_address_refusal, "{text!r} {refusal}"),),
    "login.logged_out.text": (Field(pattern=r"\S"),),
    "proxy": (_unless(proxy_key_refusal), BeforeValidator(as_proxy)),
    "proxy_env": (_VARIABLE,),
    "limits.page_mb": (Field(ge=1, le=64),),
    "limits.pdf_mb": (Field(ge=1, le=1024),),
    "limits.file_mb": (Field(ge=1, le=1024),),
    "ocr": Annotated[tuple[_Language, ...], BeforeValidator(_languages)],
    "language": (_TAG, _NORWEGIAN),
    "content.select": _Selectors,
    "content.remove": _Selectors,
    "content.title": (_SELECTOR,),
    "clean": Annotated[Any, AfterValidator(_hook)],
    "rate.per_host_delay": (Field(ge=0, le=3600),),
    "rate.concurrency": (Field(ge=1, le=64),),
    "recrawl": (AfterValidator(_in_order),),
    "recrawl.min_interval": _SECONDS,
    "recrawl.max_interval": _SECONDS,
    "recrawl.max_age": _SECONDS,
    "recrawl.gone_after.misses": _COUNT,
    "recrawl.gone_after.hours": (Field(ge=0, le=CENTURY / 3600),),
    "max_failures.share": (Field(ge=0, le=1),),
    "max_failures.documents": (Field(ge=0),),
    "quarantine": (AfterValidator(_exempt_matches),),
    "quarantine.same_text": (Field(ge=2),),
    "relations": Annotated[tuple[_Relation, ...], AfterValidator(lambda keys: tuple(sorted(set(keys))))],
    "tools[]": (_short("path", str),),
    "tools[].path": (AfterValidator(_inner_path),),
    "tools[].tool_format": Annotated[ToolFormat | None, Field(alias="format")],
    "schedule": (BeforeValidator(as_schedules),),
    "schedule[]": (AfterValidator(_fires_somehow),),
    "schedule[].cron": (_CRON,),
    "schedule[].every": _A_SECOND,
    "schedule[].rrule": (_RECURRENCE,),
    "schedule[].timezone": (_unless(_zone_refusal),),
    "schedule[].jitter": _SECONDS,
    "freshness.slo": _A_SECOND,
    "freshness.missed_runs": _COUNT,
    "completeness.max_fall": (Field(ge=0, le=1),),
    "deployment.pool": _NOT_EMPTY,
    "deployment.queue": _NOT_EMPTY,
    "deployment.tags": (_ONE_OR_SEVERAL, AfterValidator(_not_ours)),
    "deployment.job_variables": Annotated[Mapping[str, Any], AfterValidator(_variables)],
    "checks": (*_NOT_EMPTY, AfterValidator(_beside)),
    "lint.disable": tuple[Annotated[str, Field(pattern=rf"^{_RULE_NAME}$")], ...],
    "lint.ignore[].rule": (Field(pattern=rf"^(?:{_RULE_NAME}|\*)$"),),
    "family": Annotated[str, _NAME] | None,
    "version.version": Annotated[str | None, Field(alias="all", pattern=r"\S", max_length=200)],
    "version.url": _PATTERN,
    "version.title": _PATTERN,
    "version.meta": (Field(pattern=r"^\S+$"),),
    "access": (_short("groups", str, list), AfterValidator(_access_matches)),
    "access.groups": _Groups,
    "access.paths": Annotated[dict[str, _Groups], AfterValidator(_path_access)],
}


@cache
def source_keys() -> type[KnownKeys]:
    """Return the model of the keys that every kind has; `kind_keys` is what is left for the others."""
    keys: Any = _model_of(VersionFamily, "version.", without="name")
    one = Annotated[keys, AfterValidator(_one_version)]
    version = (Annotated[one | None, BeforeValidator(_as_version)], None)
    return _model_of(Source, "", without="kind_keys", version=version)


def _model_of(cls: Any, place: str, *, without: str = "", **more: Any) -> type[KnownKeys]:
    """Return the model of a mapping, at its place in the file, that says what a dataclass is."""
    hints, keys = get_type_hints(cls), {}
    for one in fields(cls):
        if one.name != without:
            default = ... if one.default is MISSING else one.default
            keys[one.name] = (_narrowed(hints[one.name], place + one.name), default)
    model: type[KnownKeys] = create_model(cls.__name__, __base__=KnownKeys, **keys | more)
    return model


def _narrowed(hint: Any, place: str) -> Any:
    """Return the type of a key: that of its field, as its rule has it."""
    rule, inner = _RULES.get(place, ()), get_args(hint)
    if not isinstance(rule, tuple):
        return rule
    if type(None) in inner:
        return Annotated[inner[0], _strict(inner[0]), *rule] | None
    if inner and is_dataclass(inner[0]):
        item: Any = _narrowed(inner[0], f"{place}[]")
        hint = tuple[item, ...]
    if is_dataclass(hint):
        made: Any = hint
        hint = Annotated[_model_of(made, f"{place}."), AfterValidator(lambda keys: made(**dict(keys)))]
    return Annotated[hint, _strict(hint), *rule]


def _strict(hint: Any) -> Any:
    """YAML's yes and on are no numbers."""
    return Field(strict=True if hint in (bool, int, float) else None)
