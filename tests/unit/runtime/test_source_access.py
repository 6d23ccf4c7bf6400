"""`access` of a source file, and the file of tokens."""

from hashlib import sha256
from pathlib import Path

import pytest

from runtime.source_file import parse_source
from runtime.yaml_files import load_tokens
from schemas.access import PathAccess, SourceAccess
from schemas.errors import ConfigError
from schemas.source import Source

DIGEST = sha256(b"a token").hexdigest()


def parsed(access: str) -> Source:
    text = f"name: notes\nkind: files\nroots: [.]\n{access}"
    return parse_source(text, subject="notes.yaml", folder=Path("/srv"))


@pytest.mark.parametrize(
    ("access", "groups"), [("", ()), ("access: staff", ("staff",)), ("access: [staff, hr]", ("hr", "staff"))]
)
def test_a_group_or_a_list_of_them_is_of_the_whole_source(access: str, groups: tuple[str, ...]) -> None:
    assert parsed(access).access == SourceAccess(groups=groups)


def test_globs_keep_their_order() -> None:
    found = parsed("access:\n  groups: [staff]\n  paths:\n    'hr/*': hr\n    'a/*': [public]\n").access
    assert found.paths == (
        PathAccess(path="hr/*", groups=("hr",)),
        PathAccess(path="a/*", groups=("public",)),
    )


@pytest.mark.parametrize(
    ("access", "why"),
    [
        ("access: []", "names no group; write public for everybody"),
        ("access: [Staff]", "'Staff' is not a group"),
        ("access: [public, staff]", "names public"),
        ("access: {paths: {'/hr/*': [hr]}}", "paths begin under the root"),
        ("access: {paths: {'**/hr/*': [hr]}}", "misses what is in no further folder"),
        ("access: {paths: {'hr': [hr]}}", "matches no file"),
        ("access: {group: [hr]}", "unknown key"),
        ("access: 7", "should be a mapping"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(access: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as told:
        parsed(access)
    assert "line 4" in str(told.value)


def test_tokens_are_read_with_their_groups(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(f"tokens:\n- name: intranet\n  sha256: {DIGEST}\n  groups: [staff, public]\n")
    (one,) = load_tokens(file)
    assert (one.name, one.sha256, one.groups) == ("intranet", DIGEST, {"staff"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "should be a mapping"),
        ("tokens: []", "at least 1"),
        ("tokens: [{name: a, sha256: secret}]", "sha256"),
        (f"tokens: [{{name: a, sha256: {DIGEST}, groups: ['*', hr]}}]", "is not a group"),
        (f"tokens: [{{name: a, sha256: {DIGEST}}}, {{name: b, sha256: {DIGEST}}}]", "have the same sha256"),
        ("tokens: [", "not valid YAML"),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=why) as told:
        load_tokens(file)
    assert "secret" not in str(told.value)


def test_a_file_of_tokens_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_tokens(tmp_path / "tokens.yaml")
