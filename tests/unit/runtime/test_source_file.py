"""A source file, checked against docs/reference/source-file.md; every error names its key and line."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest

from indexes.stores.ledger.ledger import open_ledger
from runtime.source_file import load_source, parse_source
from schemas.errors import ConfigError
from schemas.families import VersionFamily
from schemas.records import from_record, to_record
from schemas.source import (
    Auth,
    ContentSelectors,
    DeploymentOptions,
    Freshness,
    GoneAfter,
    LintIgnore,
    LintOptions,
    MaxFailures,
    Rate,
    Recrawl,
    Schedule,
    Scope,
    SizeLimits,
    Source,
    SourceMetadata,
)

CONTRACT = Path(__file__).parents[3] / "docs" / "reference" / "source-file.md"
WEB = "name: handbook\nkind: web\nseeds: [https://docs.example.org/]\n"
FILES = "name: notes\nkind: files\nroots: [notes]\n"
DAY = 86400.0


def parse(text: str) -> Source:
    """Check a text that stands in /srv/conf/source.yaml."""
    return parse_source(text, subject="source.yaml", folder=Path("/srv/conf"))


def refusal(text: str) -> str:
    """What is said against a text."""
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert caught.value.subject == "source.yaml"
    assert "\n" not in caught.value.message
    return caught.value.message


def test_the_example_of_the_contract_means_what_it_says() -> None:
    example = re.findall(r"```yaml\n(.*?)```", CONTRACT.read_text("utf-8"), re.DOTALL)[0]
    site = "https://docs.example.org/handbook/"
    assert parse(example) == Source(
        name="handbook",
        kind="web",
        seeds=(site, site + "handbook.pdf"),
        scope=Scope(include=(site + "*",), exclude=("*/print/*",), max_pages=5000, max_depth=8),
        rate=Rate(per_host_delay=1.0, concurrency=1),
        recrawl=Recrawl(
            min_interval=3600,
            max_interval=30 * DAY,
            max_age=30 * DAY,
            gone_after=GoneAfter(misses=2, hours=24),
        ),
        metadata=SourceMetadata(doc_type="governance", domain="platform", status="active", version="3.2"),
        schedule=(Schedule(cron="15 2 * * *", timezone="Europe/Berlin"),),
        freshness=Freshness(slo=36 * 3600),
    )


@pytest.mark.parametrize(
    ("key", "default"),
    [
        ("scope.max_pages", "100000"),
        ("scope.max_queries_per_path", "100"),
        ("rate.per_host_delay", "1"),
        ("rate.concurrency", "1"),
        ("recrawl.min_interval", "1h"),
        ("recrawl.max_interval", "30d"),
        ("recrawl.max_age", "30d"),
        ("recrawl.gone_after.misses", "2"),
        ("recrawl.gone_after.hours", "24"),
        ("max_failures.share", "0.25"),
        ("freshness.missed_runs", "2"),
    ],
)
def test_the_defaults_of_the_contract_are_those_of_the_code(key: str, default: str) -> None:
    row = next(line for line in CONTRACT.read_text("utf-8").splitlines() if line.startswith(f"| `{key}`"))
    assert row.split("|")[3].strip() == default
    inner = ": {".join(key.split("."))
    written = f"{inner}: {default}" + "}" * key.count(".")
    assert parse(WEB + written) == parse(WEB)


def test_every_key_of_the_contract_is_known() -> None:
    listed = re.findall(r"^\| `([\w.]+)` \|", CONTRACT.read_text("utf-8"), re.MULTILINE)
    assert len(listed) > 20
    for key in listed:
        written = ": {".join(key.split(".")) + ": [[]]" + "}" * key.count(".")
        text = "\n".join(line for line in WEB.splitlines() if not line.startswith(f"{key}:"))
        assert "unknown key" not in refusal(f"{text}\n{written}\n"), key


def test_relative_roots_start_at_the_folder_of_the_source_file(tmp_path: Path) -> None:
    file = tmp_path / "conf" / "notes.yaml"
    file.parent.mkdir()
    file.write_text("name: notes\nkind: files\nroots: [../notes, /srv/more]\n")
    assert load_source(file).roots == (str(tmp_path / "notes"), "/srv/more")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\nkind: [", "line 2: not valid YAML ("),
        ("name: a\n\tkind: web", "line 2: not valid YAML ("),
        ("name: a\n---\nname: b", "line 2: not valid YAML ("),
        ("", "a source file is a mapping with name, kind and seeds or roots"),
        ("- name: a", "a source file is a mapping"),
        (WEB + "metadata: {version: 2024-02-30}", "not valid YAML (day is out of range for month)"),
        ("kind: web\nseeds: [https://h.example/]", "line 1: name: is required"),
        ("name: a\nseeds: [https://h.example/]", "line 1: kind: is required"),
        ("name: a\nkind: gopher", "line 2: kind: Input should be 'web', 'files', 'git' or 'warc'"),
        ("name: a b\nkind: web", "line 1: name: has a character that is not allowed"),
        ("name: " + "a" * 65 + "\nkind: web", "line 1: name: has a character that is not allowed"),
        ("name: a\nkind: web", "line 1: the file: a source of kind web needs seeds (and has no roots)"),
        ("name: a\nkind: files", "line 1: the file: a source of kind files needs roots (and has no seeds)"),
        (WEB + "roots: [notes]", "line 1: the file: a source of kind web needs seeds (and has no roots)"),
        (
            "name: a\nkind: file",
            "line 2: kind: Input should be 'web', 'files', 'git' or 'warc'; did you mean files?",
        ),
        (FILES + "seeds: [https://h.example/]", "line 1: the file: a source of kind files needs roots"),
        ("name: a\nkind: web\nseeds: https://h.example/", "line 3: seeds: should be a list"),
        ("name: a\nkind: web\nseeds:\n  - https://h.example/\n  - 7", "line 5: seeds.1: should be a text"),
        ("name: a\nkind: web\nseeds:\n  - ftp://h.example/", "line 4: seeds.0: is not an http or https URL"),
        ("name: a\nkind: web\nseeds: ['https://[bad/']", "line 3: seeds.0: is not an http or https URL"),
        ("name: a\nkind: web\nseeds: ['https://me:pw@h.example/']", "line 3: seeds.0: is not an http or"),
        (WEB + "nope: 1", "line 4: nope: unknown key; known: name, kind, seeds, roots, scope"),
        (WEB + "seed: 1", "line 4: seed: unknown key; did you mean seeds?"),
        (
            WEB + "\n# a note\nrate:\n  per_host_delay: 1\n  concurency: 2",
            "line 8: rate.concurency: unknown key; did you mean concurrency?",
        ),
        (WEB + "recrawl:\n  gone_after:\n    hits: 2", "line 6: recrawl.gone_after.hits: unknown key"),
        (WEB + "1: 2", "line 4: 1: Keys should be strings"),
        (WEB + "name: b", "line 4: name: occurs twice"),
        (WEB + "rate:\n  concurrency: 2\n  concurrency: 3", "line 6: concurrency: occurs twice"),
        (WEB + "scope:", "line 4: scope: should be a mapping"),
        (
            WEB + "scope: {max_pages: 0}",
            "line 4: scope.max_pages: Input should be greater than or equal to 1",
        ),
        (WEB + "scope: {max_depth: -1}", "line 4: scope.max_depth: Input should be greater"),
        (WEB + "scope: {include: '*'}", "line 4: scope.include: should be a list"),
        (WEB + "rate: {concurrency: yes}", "line 4: rate.concurrency: Input should be a valid integer"),
        (WEB + "rate: {per_host_delay: .nan}", "line 4: rate.per_host_delay: Input should be"),
        (WEB + "metadata:\n  version: 3.2", "line 5: metadata.version: should be a text; put it in quotes"),
        (
            WEB + "recrawl: {min_interval: soon}",
            "line 4: recrawl.min_interval: write a number of seconds, or",
        ),
        (WEB + "recrawl: {min_interval: -5}", "line 4: recrawl.min_interval: Input should be greater"),
        (WEB + "recrawl: {max_interval: .inf}", "line 4: recrawl.max_interval: Input should be less"),
        (WEB + "recrawl: {min_interval: 31d}", "line 4: recrawl: min_interval is longer than max_interval"),
        (WEB + "allow_private: [localhost]", "line 4: allow_private.0: write it as host:port"),
        (
            WEB + "allow_private: ['169.254.169.254:80']",
            "line 4: allow_private.0: a metadata address can never",
        ),
        (WEB + "auth: {}", "auth: names no environment variable"),
        (WEB + "auth: {headers_env: {Host: KEY}}", "headers_env.Host: is set by sitegraph itself"),
        (WEB + "auth: {headers_env: {Content-Length: KEY}}", "is set by sitegraph itself"),
        (WEB + "auth: {headers_env: {Cookie: KEY}}", "headers_env.Cookie: cookies stand under `login`"),
        (WEB + "auth: {headers_env: {'X Y': KEY}}", "is not the name of a header"),
        (WEB + "auth: {bearer_env: KEY, headers_env: {authorization: KEY}}", "auth: sets one header twice"),
        (WEB + "auth: {token: x}", "auth.token: unknown key; known: bearer_env, headers_env"),
        (WEB + "login: {}", "line 4: login: needs exactly one of cookies, storage_state and command"),
        (WEB + "login: {cookies: a, command: [b]}", "login: needs exactly one of cookies, storage_state and"),
        (WEB + "login: {cookies: ''}", "login.cookies: String should have at least 1 character"),
        (WEB + "login: {cookies: a, cookie: b}", "login.cookie: unknown key; did you mean cookies?"),
        (WEB + "login: {cookies: a, logged_out: {}}", "login.logged_out: names no sign; known: selector,"),
        (WEB + "login: {cookies: a, logged_out: {selector: 'a['}}", "selector: 'a[' is not a CSS selector"),
        (WEB + "login: {cookies: a, logged_out: {address: /in}}", "matches no address, all of which begin"),
        (WEB + "login: {cookies: a, logged_out: {text: ' '}}", "login.logged_out.text: "),
        (WEB + "login: {command: log-in now}", "login.command: should be a list"),
        (WEB + "login: {command: []}", "login.command: Tuple should have at least 1 item"),
        (WEB + "login: {command: [a], seconds: 0}", "login.seconds: should be a second or longer"),
        (WEB + "login: {command: [a], session_cookie: b}", "session_cookie is for cookies and storage_state"),
        (WEB + "login: {command: [a, 'ghp_" + "x7Qm2Vt9Lr4Kc8Zd1Wb6Ns3Hf5Jg0PyAeRuT']}", "holds a secret"),
        (FILES + "login: {cookies: a}", "login is for sources of kind web"),
        (WEB + "auth: {headers_env: [X]}", "auth.headers_env: should be a mapping"),
        (
            WEB + "scope: {include: [docs.example.org/*]}",
            "line 4: scope: include 'docs.example.org/*' matches no address",
        ),
        (WEB + "scope: {exclude: ['*#part']}", "scope: exclude '*#part' matches no address"),
        (WEB + "quarantine: {exempt: ['errors/*']}", "quarantine: exempt 'errors/*' matches no address"),
        (WEB + "limits: {page_mb: 0}", "limits.page_mb: "),
        (WEB + "limits: {page_mb: 65}", "limits.page_mb: "),
        (WEB + "limits: {pdf_mb: 1.5}", "limits.pdf_mb: "),
        (WEB + "proxy: socks5://x:1", "proxy: is not the URL of an http or https proxy, nor false"),
        (WEB + "proxy: true", "proxy: should be the URL of a proxy, or false"),
        (WEB + "proxy: {}", "proxy: should be a text"),
        (WEB + "proxy: http://me:hush@x:1", "proxy: holds a user or password"),
        (WEB + "proxy_env: http://me:hush@x:1", "proxy_env: should be the name of an environment variable"),
        (WEB + "proxy: http://x:1\nproxy_env: MINE", "has proxy and proxy_env; give one of them"),
        (FILES + "ocr: German", "line 4: ocr"),
        (FILES + "ocr: [german]", "line 4: ocr"),
        (FILES + "ocr: [../eng]", "line 4: ocr"),
        (FILES + "ocr: [eng+deu]", "line 4: ocr"),
        (FILES + "ocr: 1", "line 4: ocr"),
        (FILES + "language: German", "line 4: language"),
        (FILES + "language: ''", "line 4: language"),
        (FILES + "language: yes", "line 4: language"),
        (FILES + "language: [de]", "line 4: language"),
        (
            WEB + 'schedule: "61 3 * * *"',
            "line 4: schedule: '61 3 * * *' is not a cron expression (Bad minute), such as",
        ),
        (
            WEB + "schedule: daily",
            "line 4: schedule: 'daily' is not a cron expression (1 of 5 fields), such as",
        ),
        (
            WEB + "schedule: FREQ=SOMETIMES",
            "line 4: schedule: 'FREQ=SOMETIMES' is not a recurrence rule (invalid 'FREQ'",
        ),
        (WEB + "schedule: FREQ=DAILY;UNTIL=20200101T000000", "line 4: schedule: never fires"),
        (
            WEB + "schedule: \n  cron: 0 3 * * *\n  timezone: Europa/Berlin",
            "line 6: schedule.timezone: 'Europa/Berlin' is not a time",
        ),
        (
            WEB + "schedule: \n  - 5m\n  - cron: 0 3 * *",
            "line 6: schedule.1.cron: '0 3 * *' is not a cron expression (4 of 5",
        ),
        (
            WEB + "schedule: {splay: 5m, every: 6h}",
            "line 4: schedule.splay: unknown key; known: cron, every, rrule,",
        ),
        (WEB + "schedule: {jitter: 7h, every: 6h}", "line 4: schedule: jitter is longer than every"),
        (WEB + "schedule: {jitter: soon, every: 6h}", "line 4: schedule.jitter: write a number of seconds"),
        (WEB + "schedule: {jitter: -5m, every: 6h}", "line 4: schedule.jitter: write a number of seconds"),
        (
            WEB + 'schedule: {cron: "59 23 1 * *", jitter: 5m}',
            "line 4: schedule: jitter has no room: a minute later",
        ),
        (
            WEB + "schedule: {every: 6h, cron: 0 3 * * *}",
            "line 4: schedule: needs one of cron, every and rrule",
        ),
        (WEB + "schedule: 0s", "line 4: schedule: should be a second or longer"),
        (WEB + "schedule: true", "line 4: schedule: should be a mapping"),
        (
            FILES + "content: {select: ['//div']}",
            "line 4: content.select.0: '//div' is not a CSS selector: Invalid",
        ),
        (FILES + "content: {select: ['']}", "line 4: content.select.0: '' is not a CSS selector: Expected"),
        (FILES + "content: {title: 'h1, '}", "line 4: content.title: 'h1, ' is not a CSS selector: "),
        (FILES + "content: {selects: [a]}", "line 4: content.selects: unknown key; did you mean select?"),
        (
            FILES + "content:\n  remove: [a, 3]",
            "line 5: content.remove.1: should be a text; put it in quotes",
        ),
        (FILES + "clean: tidy", "line 4: clean: should be the name of a function, as module:function"),
        (
            FILES + "clean: ../cleaning.py:tidy",
            "line 4: clean: should be the name of a function, as module:function",
        ),
        (
            FILES + "clean: cleaning:tidy",
            "line 4: clean: cleaning:tidy: there is neither a file /srv/conf/cleaning.py nor an installed "
            "module cleaning",
        ),
        (WEB + "family: pg\n", "family needs a version"),
        (WEB + "version: '15'\n", "version needs the name of its manual: family: NAME"),
        (WEB + "family: pg\nversion: 15\n", 'put it in quotes: "15"'),
        (WEB + "family: pg\nversion: 15.20\n", "put it in quotes"),
        (WEB + "family: pg\nversion: ''\n", "version"),
        (WEB + "family: pg\nversion: '15'\nmetadata: {version: '15'}\n", "both give the version"),
        (WEB + "family: pg\nversion: {url: 'docs'}\n", "must have one group"),
        (WEB + "family: pg\nversion: {url: '(a)(b)'}\n", "it has 2"),
        (WEB + "family: pg\nversion: {url: '(['}\n", "not a regular expression"),
        (WEB + "family: pg\nversion: {url: '(a)', title: '(b)'}\n", "must have one of url, title and meta"),
        (WEB + "family: pg\nversion: {}\n", "must have one of url, title and meta"),
        (WEB + "family: pg\nversion: {path: '(a)'}\n", "path"),
        (WEB + "family: 'p g'\nversion: '15'\n", "family"),
        (FILES + "auth: {bearer_env: DOCS_TOKEN}", "auth is for sources of kind web"),
        (FILES + "proxy: false", "proxy is for sources of kind web"),
        (FILES + "scope: {include: [/docs/*]}", "scope: include '/docs/*' matches no file"),
        (
            FILES + "relations: [id]",
            "line 4: relations.0: 'id' is read from all front matter and cannot be a",
        ),
        (
            FILES + "relations: [depends_on]",
            "line 4: relations.0: 'depends_on' is read from all front matter",
        ),
        (FILES + "relations: ['owned by']", "line 4: relations.0:"),
        (WEB + "lint: {ignore: [{rule: orphan}]}", "lint.ignore"),
        (WEB + "deployment: {tags: ['sitegraph:removed']}", "tags that begin with sitegraph: are kept"),
        (WEB + "deployment: {job_variables: {day: 2026-01-01}}", "in quotes"),
        (WEB + "freshness: {slo: soon}", "line 4: freshness.slo: write a number of seconds"),
        (WEB + "max_failures: {share: 25}", "max_failures.share"),
    ],
)
def test_what_is_wrong_is_named_with_its_key_and_line(text: str, said: str) -> None:
    assert said in refusal(text)
    assert "hush" not in refusal(text)


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_file() -> None:
    wrong = "name: a b\nkind: web\nseed: [x]\nscope: {max_page: 0}\nrate: {concurrency: 0}\nrate: {}\n"
    told = refusal(wrong).split("; line ")
    assert [part.removeprefix("line ").split(": ")[:2] for part in told] == [
        ["1", "name"],
        ["3", "seed"],
        ["4", "scope.max_page"],
        ["6", "rate"],
    ]


def test_a_file_of_many_errors_tells_the_first_and_counts_the_rest() -> None:
    many = "".join(f"key{number}: 1\n" for number in range(30))
    assert refusal(WEB + many).count("unknown key") == 20
    assert refusal(WEB + many).endswith("; and 10 more")


def test_a_password_in_a_seed_is_not_repeated() -> None:
    assert "pw" not in refusal("name: a\nkind: web\nseeds: ['https://me:pw@h.example/']")


@pytest.mark.parametrize("content", [None, b"name: \xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "source.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"source\.yaml: cannot be read"):
        load_source(path)


def test_a_secret_in_place_of_its_name_is_not_repeated() -> None:
    for auth in ("auth: {bearer_env: sk-4711}", "auth: {headers_env: {X-Api-Key: sk-4711}}"):
        said = refusal(WEB + auth)
        assert "should be the name of an environment variable" in said
        assert "4711" not in said


def test_versions_before_read_the_record_of_a_source_without_keys_of_its_kind(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.sources.save(parse_source(FILES, subject="notes.yaml", folder=tmp_path))
    ledger.close()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        ((record,),) = connection.execute("SELECT record FROM source").fetchall()

    assert "kind_keys" not in json.loads(record)
    assert json.loads(record)["kind"] == "files"


def test_content_takes_selectors_and_clean_a_function_beside_the_source_file(tmp_path: Path) -> None:
    (tmp_path / "cleaning.py").write_text("def tidy(soup): ...\n")
    text = FILES + "content: {select: main, remove: [.a, 'p:has(> b)'], title: h2}\nclean: cleaning:tidy\n"

    source = parse_source(text, subject="source.yaml", folder=tmp_path)

    assert source.content == ContentSelectors(select=("main",), remove=(".a", "p:has(> b)"), title="h2")
    assert source.cleaning is not None
    assert source.cleaning.hook is not None
    assert (source.cleaning.hook.name, source.cleaning.hook.path) == (
        "cleaning:tidy",
        str(tmp_path / "cleaning.py"),
    )
    assert list(source.cleaning.labels()) == [
        "content.select 'main'",
        "content.remove '.a'",
        "content.remove 'p:has(> b)'",
        "content.title 'h2'",
    ]


MAX_AGE = "recrawl: {{min_interval: 0, max_interval: 52w, max_age: {}}}"
NIGHTLY = Schedule(cron="0 3 * * *")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (WEB + MAX_AGE.format("300"), "recrawl.max_age", 300),
        (WEB + MAX_AGE.format("'300'"), "recrawl.max_age", 300),
        (WEB + MAX_AGE.format("90s"), "recrawl.max_age", 90),
        (WEB + MAX_AGE.format("5m"), "recrawl.max_age", 300),
        (WEB + MAX_AGE.format("1.5 h"), "recrawl.max_age", 5400),
        (WEB + MAX_AGE.format("2d"), "recrawl.max_age", 2 * DAY),
        (WEB + MAX_AGE.format("1w"), "recrawl.max_age", 7 * DAY),
        (
            WEB + "lint: {disable: [orphan], ignore: [{rule: '*', path: 'old/*'}]}",
            "lint",
            LintOptions(disable=("orphan",), ignore=(LintIgnore(rule="*", path="old/*"),)),
        ),
        (
            WEB + "auth: {bearer_env: DOCS_TOKEN, headers_env: {X-Team: DOCS_TEAM, X-Api-Key: DOCS_KEY}}",
            "auth",
            Auth(bearer_env="DOCS_TOKEN", headers_env=(("X-Api-Key", "DOCS_KEY"), ("X-Team", "DOCS_TEAM"))),
        ),
        (FILES + "scope: {exclude: ['*.png']}", "scope.exclude", ("*.png",)),  # harmless, and often written
        (WEB + "proxy: http://x:3128", "proxy", "http://x:3128"),
        (WEB + "proxy: false", "proxy", ""),
        (WEB + "proxy_env: MY_PROXY", "proxy_env", "MY_PROXY"),
        (WEB + "limits: {page_mb: 12}", "limits", SizeLimits(page_mb=12)),
        (FILES, "ocr", ()),
        (FILES + "ocr: false", "ocr", ()),
        (FILES + "ocr: true", "ocr", ("eng",)),
        (FILES + "ocr: [deu, chi_sim]", "ocr", ("deu", "chi_sim")),
        (FILES, "language", None),
        (FILES + "language: de", "language", "de"),
        (FILES + "language: pt-BR", "language", "pt-BR"),
        (FILES + "language: no", "language", "no"),  # a bare `no` is false in YAML, and the tag of Norwegian
        (FILES + "relations: [owned_by, implements, owned_by]", "relations", ("implements", "owned_by")),
        (WEB + 'schedule: "0 3 * * *"', "schedule", (NIGHTLY,)),
        (WEB + "schedule: 6h", "schedule", (Schedule(every=6 * 3600),)),
        (WEB + "schedule: 90", "schedule", (Schedule(every=90),)),
        (WEB + "schedule: FREQ=DAILY;BYHOUR=3", "schedule", (Schedule(rrule="FREQ=DAILY;BYHOUR=3"),)),
        (
            WEB + 'schedule: {cron: "0 3 * * *", timezone: Europe/Berlin}',
            "schedule",
            (replace(NIGHTLY, timezone="Europe/Berlin"),),
        ),
        (
            WEB + 'schedule: ["0 3 * * *", {every: 1h, due: true}]',
            "schedule",
            (NIGHTLY, Schedule(every=3600, due=True)),
        ),
        (WEB + 'schedule: {cron: "0 3 * * *", active: false}', "schedule", (replace(NIGHTLY, active=False),)),
        (WEB + 'schedule: {cron: "0 3 * * *", jitter: 15m}', "schedule", (replace(NIGHTLY, jitter=900),)),
        (WEB + "schedule: {every: 6h, jitter: 0}", "schedule", (Schedule(every=6 * 3600, jitter=0),)),
        (WEB + "schedule: []", "schedule", ()),
        (WEB + "freshness: {slo: 24h, missed_runs: 3}", "freshness", Freshness(slo=DAY, missed_runs=3)),
        (
            WEB + "deployment: {pool: big, tags: docs}",
            "deployment",
            DeploymentOptions(pool="big", tags=("docs",)),
        ),
        (
            WEB + "deployment: {job_variables: {memory_limit: 4Gi, env: {A: '1'}}}",
            "deployment.job_variables",
            '{"env": {"A": "1"}, "memory_limit": "4Gi"}',
        ),
        (WEB, "max_failures", MaxFailures(share=0.25, documents=None)),
        (
            WEB + "max_failures: {share: 0.1, documents: 20}",
            "max_failures",
            MaxFailures(share=0.1, documents=20),
        ),
        (FILES, "cleaning", None),
        (FILES + "content: {}", "cleaning", None),
        (FILES + "content: {select: []}\nclean: null", "cleaning", None),
        (WEB + "family: pg\nversion: '15'\n", "family", VersionFamily(name="pg", version="15")),
        (WEB + "family: pg\nmetadata: {version: '15'}\n", "family", VersionFamily(name="pg", version="15")),
        (
            WEB + "family: pg\nversion: {url: '/docs/([^/]+)/'}\n",
            "family",
            VersionFamily(name="pg", url="/docs/([^/]+)/"),
        ),
        (
            WEB + "family: pg\nversion: {title: 'PostgreSQL (\\d+)'}\n",
            "family",
            VersionFamily(name="pg", title="PostgreSQL (\\d+)"),
        ),
        (
            WEB + "family: pg\nversion: {meta: 'docsearch:version'}\n",
            "family",
            VersionFamily(name="pg", meta="docsearch:version"),
        ),
        (WEB + "metadata: {version: '15'}\n", "family", None),
    ],
)
def test_a_key_is_read_as_people_write_it(text: str, key: str, value: object) -> None:
    source = parse(text)
    assert attrgetter(key)(source) == value
    assert from_record(Source, to_record(source)) == source
    assert ("family" in to_record(source)) == (source.family is not None)
