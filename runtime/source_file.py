"""A source file (YAML) becomes a Source; errors name the key and its line."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from ingest.parse.formats.registry import file_suffixes
from ingest.plan.globs import foreign_refusal, glob_refusal, sole_match
from ingest.sources.registry import OURS, kind_named, kind_names
from runtime.file_errors import os_error_reason
from runtime.source_access import AccessKeys, as_access
from runtime.source_deployment import DeploymentKeys, FreshnessKeys, ScheduleKeys, as_schedules
from runtime.source_errors import explain, key_written_twice, one_line
from runtime.source_family import FamilyName, VersionKeys, as_family, as_version_keys, refuse_family
from runtime.source_lint import LintKeys
from runtime.source_values import (
    CENTURY,
    Count,
    HeaderName,
    Languages,
    LanguageTag,
    ProxyValue,
    RelationKey,
    Seconds,
    Selector,
    Selectors,
    VariableName,
    exact_target,
    hook,
    inner_path,
    installed_kind,
    web_address,
)
from schemas.errors import ConfigError
from schemas.json_text import to_json
from schemas.source import (
    Auth,
    ContentSelectors,
    DeploymentOptions,
    Freshness,
    GoneAfter,
    MaxFailures,
    Quarantine,
    Rate,
    Recrawl,
    Schedule,
    Scope,
    SizeLimits,
    Source,
    SourceMetadata,
    ToolFile,
    ToolFormat,
)
from schemas.source_kinds import SHARED_KEYS


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Auth(_Model):
    bearer_env: VariableName | None = None
    headers_env: dict[HeaderName, VariableName] = {}

    @model_validator(mode="after")
    def _once(self) -> "_Auth":
        names = [name.lower() for name in self.headers_env]
        if self.bearer_env is not None:
            names.append("authorization")
        if not names:
            raise ValueError("names no environment variable; known: bearer_env, headers_env")
        if len(set(names)) < len(names):
            raise ValueError("sets one header twice")
        return self


_NO_AUTH = _Auth.model_construct()


class _Scope(_Model):
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_pages: Count = 100_000
    max_pages_per_host: Count | None = None
    max_depth: int | None = Field(default=None, strict=True, ge=0)
    max_queries_per_path: Count = 100


class _Rate(_Model):
    per_host_delay: float = Field(default=1.0, strict=True, ge=0, le=3600)
    concurrency: int = Field(default=1, strict=True, ge=1, le=64)


class _Limits(_Model):
    page_mb: int | None = Field(default=None, strict=True, ge=1, le=64)
    pdf_mb: int | None = Field(default=None, strict=True, ge=1, le=1024)
    file_mb: int | None = Field(default=None, strict=True, ge=1, le=1024)


class _GoneAfter(_Model):
    misses: Count = 2
    hours: float = Field(default=24.0, strict=True, ge=0, le=CENTURY / 3600)


class _Recrawl(_Model):
    min_interval: Seconds = 3600.0
    max_interval: Seconds = 30 * 86400.0
    max_age: Seconds = 30 * 86400.0
    gone_after: _GoneAfter = _GoneAfter()

    @model_validator(mode="after")
    def _ordered(self) -> "_Recrawl":
        if self.min_interval > self.max_interval:
            raise ValueError("min_interval is longer than max_interval")
        return self


class _MaxFailures(_Model):
    share: float = Field(default=0.25, strict=True, ge=0, le=1)
    documents: int | None = Field(default=None, strict=True, ge=0)


class _Quarantine(_Model):
    exempt: tuple[str, ...] = ()
    same_text: int = Field(default=5, strict=True, ge=2)


class _Metadata(_Model):
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None


class _ToolFile(_Model):
    path: Annotated[str, AfterValidator(inner_path)]
    format: ToolFormat | None = None

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, value: object) -> object:
        return {"path": value} if isinstance(value, str) else value


class _Content(_Model):
    select: Selectors = ()
    remove: Selectors = ()
    title: Selector | None = None


class _SourceFile(_Model):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: Annotated[str, AfterValidator(installed_kind)]
    seeds: tuple[Annotated[str, AfterValidator(web_address)], ...] = ()
    roots: tuple[str, ...] = ()
    scope: _Scope = _Scope()
    allow_private: tuple[Annotated[str, AfterValidator(exact_target)], ...] = ()
    auth: _Auth = _NO_AUTH
    proxy: ProxyValue | None = None
    proxy_env: VariableName | None = None
    limits: _Limits = _Limits()
    javascript: bool = Field(default=False, strict=True)
    keep_raw: bool = Field(default=False, strict=True)
    ocr: Languages = ()
    language: LanguageTag | None = None
    content: _Content = _Content()
    clean: Annotated[Any, AfterValidator(hook)] = None
    rate: _Rate = _Rate()
    recrawl: _Recrawl = _Recrawl()
    max_failures: _MaxFailures = _MaxFailures()
    quarantine: _Quarantine = _Quarantine()
    metadata: _Metadata = _Metadata()
    relations: tuple[RelationKey, ...] = ()
    user_agent: str | None = None
    tools: tuple[_ToolFile, ...] = ()
    schedule: Annotated[tuple[ScheduleKeys, ...], BeforeValidator(as_schedules)] = ()
    freshness: FreshnessKeys = FreshnessKeys()
    deployment: DeploymentKeys = DeploymentKeys()
    checks: str | None = Field(default=None, min_length=1)
    lint: LintKeys = LintKeys()
    family: FamilyName | None = None
    version: Annotated[VersionKeys | None, BeforeValidator(as_version_keys)] = None
    access: Annotated[AccessKeys, BeforeValidator(as_access)] = AccessKeys()

    @field_validator("scope")
    @classmethod
    def _globs_match(cls, scope: _Scope, so_far: ValidationInfo) -> _Scope:
        if so_far.data.get("kind") is None:
            return scope  # which is told by itself
        by_path = kind_named(so_far.data["kind"]).by_path
        read = file_suffixes() if by_path and scope.include else ()
        for key, globs, endings in (("include", scope.include, read), ("exclude", scope.exclude, ())):
            for glob in globs:
                if refusal := glob_refusal(glob, by_path=by_path, endings=endings):
                    raise ValueError(f"{key} {glob!r} {refusal}")
        return scope

    @field_validator("quarantine")
    @classmethod
    def _exempt_match(cls, quarantine: _Quarantine) -> _Quarantine:
        for glob in quarantine.exempt:
            if refusal := glob_refusal(glob, by_path=False):
                raise ValueError(f"exempt {glob!r} {refusal}")
        return quarantine

    @field_validator("access")
    @classmethod
    def _paths_match(cls, access: AccessKeys, so_far: ValidationInfo) -> AccessKeys:
        if so_far.data.get("kind") is None:
            return access  # which is told by itself
        by_path = kind_named(so_far.data["kind"]).by_path
        for glob in access.paths:
            endings = file_suffixes() if by_path and sole_match(glob) else ()
            refusal = foreign_refusal(glob) or glob_refusal(glob, by_path=by_path, endings=endings)
            if refusal:
                raise ValueError(f"path {glob!r} {refusal}")
        return access

    @model_validator(mode="after")
    def _tools_once(self) -> "_SourceFile":
        paths = [tool.path for tool in self.tools]
        if twice := next((path for number, path in enumerate(paths) if path in paths[:number]), None):
            raise ValueError(f"tools names {twice} twice")
        return self

    @model_validator(mode="after")
    def _has_a_version(self) -> "_SourceFile":
        family_refusal = refuse_family(self.family, self.version, self.metadata.version)
        if family_refusal:
            raise ValueError(family_refusal)
        return self

    @model_validator(mode="after")
    def _has_a_start(self) -> "_SourceFile":
        has = kind_named(self.kind).shared
        for key, other in (("seeds", "roots"), ("roots", "seeds")):
            if key in has and (not getattr(self, key) or getattr(self, other)):
                raise ValueError(f"a source of kind {self.kind} needs {key} (and has no {other})")
        for key in SHARED_KEYS:
            if key not in has and getattr(self, key) != type(self).model_fields[key].default:
                told = key.removesuffix("_env")  # proxy_env goes with proxy
                raise ValueError(f"{told} is for sources of kind {_kinds_with(key)}")
        if self.proxy is not None and self.proxy_env is not None:
            raise ValueError("has proxy and proxy_env; give one of them")
        return self


def _kinds_with(key: str) -> str:
    """Name the kinds of ours that have a shared key."""
    return " or ".join(name for name in OURS if key in kind_named(name).shared)


@cache
def _file_model(kind: Any) -> type[_SourceFile]:
    """What a source file of a kind may say: the common keys, and those of the kind.

    Raises: ConfigError: the kind does not load, or has a key with the name of a common one.
    """
    if kind not in kind_names():
        return _SourceFile
    keys = kind_named(kind).keys
    if taken := sorted(keys.model_fields.keys() & _SourceFile.model_fields.keys()):
        raise ConfigError(f"has {taken[0]} among its keys, which all kinds have", subject=f"kind {kind}")
    if not keys.model_fields:
        return _SourceFile
    both = (_SourceFile, keys)
    return create_model("_SourceFile", __base__=cast("tuple[type[_SourceFile], ...]", both))


def load_source(path: Path) -> Source:
    """Read and check a source file; relative roots are taken from the file's folder.

    Raises: ConfigError: the file is missing, is not YAML, or a key is unknown or wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(path)) from error
    return parse_source(text, subject=str(path), folder=path.resolve().parent)


def name_in(path: Path) -> str | None:
    """The name that a source file gives, whatever else is wrong with it."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    name = values.get("name") if isinstance(values, dict) else None
    return name if isinstance(name, str) and name else None


def parse_source(text: str, *, subject: str, folder: Path) -> Source:
    """Check the text of a source file; *subject* names it in errors."""
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"line {line}: not valid YAML ({error.problem})", subject=subject) from error
    except RecursionError as error:
        raise ConfigError("YAML is nested too deep", subject=subject) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise ConfigError(f"not valid YAML ({one_line(error)})", subject=subject) from error
    if not isinstance(values, dict):
        raise ConfigError("a source file is a mapping with name, kind and seeds or roots", subject=subject)
    twice = key_written_twice(tree)
    kind = values.get("kind")
    model = _file_model(kind if isinstance(kind, str) else None)
    try:
        file = model.model_validate(values, context={"folder": folder})
    except ValidationError as error:
        wrong = explain(error, tree, model)
        raise ConfigError(f"{wrong}; {twice}" if twice else wrong, subject=subject) from error
    if twice:
        raise ConfigError(twice, subject=subject)
    return _to_source(file, folder)


def _kind_keys(file: _SourceFile) -> str:
    """Return what the kind's own keys say, as canonical JSON; "" for a kind without such keys."""
    names = set(kind_named(file.kind).keys.model_fields)
    return to_json(file.model_dump(mode="json", include=names), sort_keys=True) if names else ""


def _to_source(file: _SourceFile, folder: Path) -> Source:
    return Source(
        name=file.name,
        kind=file.kind,
        kind_keys=_kind_keys(file),
        seeds=file.seeds,
        roots=tuple(str((folder / root).resolve()) for root in file.roots),
        scope=Scope(**file.scope.model_dump()),
        allow_private=file.allow_private,
        auth=Auth(bearer_env=file.auth.bearer_env, headers_env=tuple(sorted(file.auth.headers_env.items()))),
        proxy=file.proxy,
        proxy_env=file.proxy_env,
        limits=SizeLimits(**file.limits.model_dump()),
        javascript=file.javascript,
        keep_raw=file.keep_raw,
        ocr=file.ocr,
        language=file.language,
        content=ContentSelectors(**file.content.model_dump()),
        clean=file.clean,
        rate=Rate(**file.rate.model_dump()),
        recrawl=Recrawl(
            **file.recrawl.model_dump(exclude={"gone_after"}),
            gone_after=GoneAfter(**file.recrawl.gone_after.model_dump()),
        ),
        max_failures=MaxFailures(**file.max_failures.model_dump()),
        quarantine=Quarantine(**file.quarantine.model_dump()),
        metadata=SourceMetadata(**file.metadata.model_dump()),
        relations=tuple(sorted(set(file.relations))),
        user_agent=file.user_agent,
        tools=tuple(ToolFile(path=tool.path, tool_format=tool.format) for tool in file.tools),
        schedule=tuple(Schedule(**schedule.model_dump()) for schedule in file.schedule),
        freshness=Freshness(**file.freshness.model_dump()),
        deployment=DeploymentOptions(**file.deployment.model_dump()),
        checks=str((folder / file.checks).resolve()) if file.checks else None,
        lint=file.lint.options(),
        family=as_family(file.family, file.version, file.metadata.version),
        access=file.access.access(),
    )
