"""What people type and have that cannot work, sixty of it and more, each arranged for real.

`CASES` are in the order of docs/development/errors.md.
"""

import ctypes
import os
import re
import shlex
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from tests.fakes.certificate import write_certificate
from tests.fakes.pdfs import Text, pdf_bytes
from tests.fakes.prefect_server import free_port
from tests.fakes.read_only import only_readable
from tests.fakes.site_server import Reply, Script, Site, serve

CLOSED = "127.0.0.1:9"
"""The discard port, which nothing listens on."""


@dataclass(kw_only=True)
class Place:
    """Where a case is arranged: a folder that is the working directory, and an index that may be copied."""

    folder: Path
    built: Path
    stack: ExitStack
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file and give its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def source(self, more: str = "", *, roots: str = "[docs]") -> str:
        """Write a source file of a folder that has one page."""
        self.write("docs/page.md", "# Page\n\nSome words.\n")
        return self.write("source.yaml", f"name: docs\nkind: files\nroots: {roots}\n{more}")

    def index(self) -> Path:
        """Give an index of its own, named `index`."""
        if not (self.folder / "index").exists():
            shutil.copytree(self.built, self.folder / "index")
        return self.folder / "index"

    def site(self, pages: dict[str, Script], *, tls: ssl.SSLContext | None = None) -> Site:
        """Serve pages until the case ends."""
        return self.stack.enter_context(serve(Site(pages), tls=tls))

    def web(self, pages: dict[str, Script], more: str = "") -> str:
        """Write a source file of a site that is served."""
        site = self.site(pages)
        return self.write(
            "site.yaml",
            f"name: site\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
            f"rate: {{per_host_delay: 0}}\n{more}",
        )


Arrange = Callable[[Place], list[str]]


@dataclass(frozen=True, kw_only=True)
class Worst:
    """One input: what it is, how it is arranged, which gives the arguments, and the exit code.

    `flow`: it needs a Prefect server; `alone`: a process of its own, since Prefect reads its settings once.
    """

    group: str
    what: str
    code: int
    arrange: Arrange
    flow: bool
    alone: bool = False


CASES: list[Worst] = []
_group = ""


def worst(what: str, *, code: int, flow: bool = False, alone: bool = False) -> Callable[[Arrange], Arrange]:
    """Add a case to the list."""

    def add(arrange: Arrange) -> Arrange:
        CASES.append(Worst(group=_group, what=what, code=code, arrange=arrange, flow=flow, alone=alone))
        return arrange

    return add


def said(
    what: str,
    code: int,
    command: str,
    *,
    files: Mapping[str, str | bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    flow: bool = False,
    alone: bool = False,
) -> None:
    """Add a case of files, variables and a command; an INDEX and a SOURCE in it are made."""

    def arrange(place: Place) -> list[str]:
        for name, content in (files or {}).items():
            place.write(name, content)
        place.environment.update(environment or {})
        made: dict[str, Callable[[], object]] = {"INDEX": place.index, "SOURCE": place.source}
        return [str(made[one]()) if one in made else one for one in shlex.split(command)]

    worst(what, code=code, flow=flow, alone=alone)(arrange)


# ---------------------------------------------------------------------------------------------------------
_group = "Calls"

said("an unknown command", 2, "nope")
said("an unknown option", 2, "status --indx index")
said("a missing argument", 2, "run")
said("a format that is none", 2, "status --format xml")
said("a number that is none", 2, "query leave --top-k many")
said("a negative generation", 2, "export --what chunks --generation -1")
said("an export of nothing", 2, "export")
said("Parquet without a folder", 2, "export --what graph --format parquet")
said("options that do not go together", 2, "export --what graph --stable")
said("a file of questions that is not there", 2, "tune questions.jsonl")
said(
    "a file of questions that is not JSON",
    2,
    "tune questions.jsonl --index INDEX",
    files={"questions.jsonl": "what?\n"},
)
said(
    "too few questions to tune",
    2,
    "tune questions.jsonl --index INDEX",
    files={"questions.jsonl": '{"id": "a", "question": "leave?", "gold": ["x"]}\n'},
)
said("a filter that is none", 2, "query leave --index INDEX --filter colour=red")
said("a filter without a value", 2, "query leave --index INDEX --filter kind")
said("a question of nothing", 2, "query '' --index INDEX")
said(
    "a question with a term of SITEGRAPH_DENY",
    4,
    "query 'what is the salary?' --index INDEX",
    environment={"SITEGRAPH_DENY": "salary"},
)


# ---------------------------------------------------------------------------------------------------------
_group = "Source files"

said("a source file that is not there", 2, "run missing.yaml")
said("a place that is not there", 2, "run missing")


@worst("a folder in place of a source file", code=2)
def _(place: Place) -> list[str]:
    (place.folder / "source.yaml").mkdir()
    return ["run", "source.yaml"]


def _text(what: str, text: str | bytes, code: int = 2) -> None:
    worst(what, code=code)(lambda place: ["plan", place.write("source.yaml", text)])


_FILES = "name: docs\nkind: files\n"
_WEB = "name: docs\nkind: web\n"
_SITE = f"{_WEB}seeds: ['https://docs.example.org/']\n"
_text("an empty source file", "")
_text("a tab in YAML", "name: docs\nkind:\tfiles\n\troots: [docs]\n")
_text("YAML that ends too early", "name: [docs\n")
_text("YAML nested 2,000 deep", "[" * 2000 + "]" * 2000)
_text("a source file that is not UTF-8", b"name: caf\xe9\n")
_text("a list in place of a mapping", "- docs\n")
_text("a misspelt key", f"{_FILES}rots: [docs]\n")
_text("a kind that is none", "name: docs\nkind: wbe\nseeds: ['https://docs.example.org/']\n")
_text("no name", "kind: files\nroots: [docs]\n")
_text("a name with a space", "name: my docs\nkind: files\nroots: [docs]\n")
_text("no seeds", _WEB)
_text("a seed that is no URL", f"{_WEB}seeds: [docs.example.org]\n")
_text(
    "a word in place of a number", f"{_WEB}seeds: ['https://docs.example.org/']\nscope: {{max_pages: many}}\n"
)
_text("a key that stands twice", f"{_FILES}roots: [docs]\nroots: [docs]\n")
_text("a glob that matches nothing", f"{_FILES}roots: [docs]\nscope: {{include: [/docs/*]}}\n")
_text(
    "a secret in place of a variable's name",
    f"{_WEB}seeds: ['https://docs.example.org/']\nauth: {{bearer_env: s3cr3t}}\n",
)


worst("a variable of a login that is not set", code=2, flow=True)(
    lambda place: ["run", place.web({"/": Reply(b"<p>hello")}, "auth: {bearer_env: DOCS_TOKEN}\n"), "--quiet"]
)


worst("a root that is not there", code=4)(lambda place: ["plan", place.source(roots="[nowhere]")])


@worst("an empty folder", code=4, flow=True)
def _(place: Place) -> list[str]:
    (place.folder / "empty").mkdir()
    return ["run", place.source(roots="[empty]"), "--quiet"]


# ---------------------------------------------------------------------------------------------------------
_group = "Starting"

said("a place to look at that is not there", 2, "init nowhere")
said("an address of another kind", 2, "init ftp://docs.example.org/")
said("an address with a password", 2, "init https://anna:s3cr3t@docs.example.org/")


@worst("a folder without a document", code=4)
def _(place: Place) -> list[str]:
    (place.folder / "empty").mkdir()
    return ["init", "empty", "--quiet"]


said("a file that is there already", 2, "init docs", files={"docs.yaml": "mine", "docs/page.md": "# Page\n"})
said("a name that no source may have", 2, "init docs --name 'my docs'", files={"docs/page.md": "# Page\n"})
said(
    "a folder to write to that is not there",
    2,
    "init docs -o nowhere/docs.yaml",
    files={"docs/page.md": "# Page\n"},
)
said("a file of a format that is not read", 2, "init picture.png", files={"picture.png": b"\x89PNG\r\n"})


@worst("a remote repository that is none", code=4)
def _(place: Place) -> list[str]:
    site = place.site({"/": Reply(b"<p>hello")})
    return ["init", site.url("/rules.git"), "--allow-private", site.address, "--quiet"]


@worst("a source that is in the index already, by its file", code=2)
def _(place: Place) -> list[str]:
    from flows.run.opening import open_existing
    from runtime.settings import read_settings
    from runtime.source_file import load_source

    opened = open_existing(read_settings(str(place.index())))
    opened.ledger.sources.save(load_source(place.folder / place.source("scope: {exclude: ['a/*']}\n")))
    opened.close()
    return ["run", "docs", "--index", str(place.index())]


@worst("a try again that no longer allows its address", code=2)
def _(place: Place) -> list[str]:
    from flows.run.opening import open_existing
    from runtime.settings import read_settings
    from sitegraph.actions.propose import TRY_PAGES, guess, guessed_source
    from sitegraph.actions.target import find_target

    url, index = "http://127.0.0.1:9/", str(place.index())
    tried = guess(find_target(url), index=index, allow_private=("127.0.0.1:9",), max_pages=TRY_PAGES)
    opened = open_existing(read_settings(index))
    opened.ledger.sources.save(guessed_source(tried))
    opened.close()
    return ["run", url, "--index", "index"]


# ---------------------------------------------------------------------------------------------------------
_group = "Sites"


def _site(what: str, pages: Callable[[Place], dict[str, Script]], *, code: int = 4) -> None:
    def arrange(place: Place) -> list[str]:
        site = place.site(pages(place))
        return ["init", site.url("/"), "--allow-private", site.address, "--quiet"]

    worst(what, code=code)(arrange)


said("a host that refuses the connection", 4, f"init http://{CLOSED}/ --allow-private {CLOSED} --quiet")
said("a host without an address", 4, "init http://docs.invalid/ --quiet")
said("an address of one's own network", 4, f"init http://{CLOSED}/ --quiet")
said("an entry that is no host and port", 2, "init https://docs.example.org/ --allow-private docs")
_site("a start page that is not there", lambda _: {})
_site("a server that fails", lambda _: {"/": Reply(b"", 500)})
_site("a page for which one must log in", lambda _: {"/": Reply(b"", 401)})
_site(
    "a robots.txt that disallows all",
    lambda _: {"/robots.txt": Reply(b"User-agent: *\nDisallow: /\n", content_type="text/plain")},
)
_site("a robots.txt that fails", lambda _: {"/robots.txt": Reply(b"", 500)})
_site("redirects in a ring", lambda _: {"/": _to("/a"), "/a": _to("/b"), "/b": _to("/a")})
_site("a picture in place of a page", lambda _: {"/": Reply(b"\x89PNG\r\n\x1a\n0", content_type="image/png")})
_site("an answer that is no HTTP", lambda _: {"/": Reply(raw=b"hello\r\n")})


def _to(path: str) -> Reply:
    return Reply(b"", 302, {"Location": path})


@worst("a certificate that nobody vouches for", code=4)
def _(place: Place) -> list[str]:
    certificate, key = write_certificate(place.folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = place.site({"/": Reply(b"<p>hello")}, tls=context)
    return ["init", site.url("/"), "--allow-private", site.address, "--quiet"]


worst("a first run of a site whose start page is not there", code=4, flow=True)(
    lambda place: ["run", place.web({}), "--quiet"]
)


worst("a first run of a site that disallows all", code=4, flow=True)(
    lambda place: ["run", place.web({"/robots.txt": Reply(b"User-agent: *\nDisallow: /\n")}), "--quiet"]
)


worst("a first run of a site that wants a login", code=4, flow=True)(
    lambda place: ["run", place.web({"/": Reply(b"", 403)}), "--quiet"]
)


@worst("a login whose cookies are in no format that is read", code=2, flow=True)
def _(place: Place) -> list[str]:
    place.write("cookies.json", '[{"name": "session", "value": "s3cr3t"}]')
    return ["run", place.web({}, "login: {cookies: cookies.json}\n"), "--quiet"]


@worst("a login whose command fails", code=4, flow=True)
def _(place: Place) -> list[str]:
    script = "echo 'Cookie: id=s3cr3t'; echo 'the password s3cr3t is wrong' >&2; exit 3"
    place.write("log-in.sh", script)
    return ["run", place.web({}, "login: {command: [sh, log-in.sh]}\n"), "--quiet"]


@worst("a login that is lost", code=4, flow=True)
def _(place: Place) -> list[str]:
    place.write("log-in.sh", "echo 'Cookie: id=s3cr3t'")
    keys = "login: {command: [sh, log-in.sh], logged_out: {text: please log in}}\n"
    return ["run", place.web({"/": Reply(b"<html><body>Please log in.</body></html>")}, keys), "--quiet"]


@worst("a key for requests that is none", code=2, flow=True)
def _(place: Place) -> list[str]:
    place.environment["SITEGRAPH_SIGNATURE_AGENT"] = "https://docs.invalid"
    place.environment["SITEGRAPH_REQUEST_KEY"] = "request.pem"
    place.write("request.pem", "s3cr3t")
    return ["run", place.web({}), "--quiet"]


worst("a first run of a site that fails", code=4, flow=True)(
    lambda place: ["run", place.web({"/": Reply(b"", 500)}), "--quiet"]
)


@worst("a first run of a site that is down", code=4, flow=True)
def _(place: Place) -> list[str]:
    source = f"name: site\nkind: web\nseeds: ['http://{CLOSED}/']\nallow_private: ['{CLOSED}']\n"
    return ["run", place.write("site.yaml", f"{source}rate: {{per_host_delay: 0}}\n"), "--quiet"]


# ---------------------------------------------------------------------------------------------------------
_group = "Documents"

said("a document that is not there", 2, "inspect nowhere.pdf")
said("a folder to inspect", 2, "inspect .")
said("a PDF that is none", 1, "inspect manual.pdf", files={"manual.pdf": b"%PDF-1.7\nnothing more"})


@worst("a PDF that is cut in half", code=1)
def _(place: Place) -> list[str]:
    whole = pdf_bytes([[Text("Words of a page.")]])
    return ["inspect", place.write("manual.pdf", b"%PDF-1.7\n" + bytes(len(whole) // 2))]


said(
    "a web archive that is none",
    4,
    "run archive.yaml --quiet",
    files={"crawl.warc": "nothing", "archive.yaml": "name: archive\nkind: warc\narchives: [crawl.warc]\n"},
    flow=True,
)
said(
    "a repository that is none",
    4,
    "plan rules.yaml",
    files={"rules.yaml": "name: rules\nkind: git\nrepository: docs\n", "docs/page.md": "# Page\n"},
)


# ---------------------------------------------------------------------------------------------------------
_group = "Indexes"

said("a folder without an index", 2, "status")


@worst("an index that is a file", code=2)
def _(place: Place) -> list[str]:
    source = place.source()
    return ["run", source, "--index", source]


said("a folder of other things", 2, "run SOURCE --index docs")


@worst("an index of a newer format", code=2)
def _(place: Place) -> list[str]:
    manifest = IndexLayout(place.index()).manifest
    manifest.write_text(re.sub(r'"format": \d+', '"format": 99', manifest.read_text()))
    return ["status", "--index", "index"]


@worst("an index.json that is damaged", code=1)
def _(place: Place) -> list[str]:
    IndexLayout(place.index()).manifest.write_text("{")
    return ["status", "--index", "index"]


@worst("a CURRENT that is damaged", code=1)
def _(place: Place) -> list[str]:
    IndexLayout(place.index()).current.write_text("one?\n")
    return ["status", "--index", "index"]


@worst("a ledger that is no database", code=1)
def _(place: Place) -> list[str]:
    IndexLayout(place.index()).ledger.write_bytes(b"no database" * 1000)
    return ["status", "--index", "index"]


@worst("an encoder that is lost", code=1)
def _(place: Place) -> list[str]:
    shutil.rmtree(IndexLayout(place.index()).encoder)
    return ["query", "leave", "--index", "index"]


@worst("a table that is lost", code=1)
def _(place: Place) -> list[str]:
    shutil.rmtree(IndexLayout(place.index()).lance / "chunks.lance")
    return ["query", "leave", "--index", "index"]


def _reading(what: str, code: int, command: str) -> None:
    said(what, code, f"{command} --index INDEX")


_reading("a generation that is not kept", 2, "verify --generation 99")
_reading("a generation to return to that is not kept", 2, "rollback --to 99")
_reading("nothing to return to", 2, "rollback")
_reading("changes since a generation that never was", 2, "changes --since 99")
_reading("a document that is not known", 2, "why https://docs.example.org/nowhere")
_reading("a chunk that is not known", 2, "show chunk:nowhere")
_reading("a node that is not known", 2, "graph page:nowhere")
_reading("an export into a folder that is not there", 2, "export --what chunks --output no/file")
said("a source to drop that is not there", 2, "drop nowhere --index INDEX", flow=True)


# ---------------------------------------------------------------------------------------------------------
_group = "The machine"


@worst("a folder that may not be written to", code=2)
def _(place: Place) -> list[str]:
    source = place.source()
    (place.folder / "kept").mkdir()
    place.stack.enter_context(only_readable(place.folder / "kept"))
    return ["run", source, "--index", "kept/index"]


@worst("an index that may not be written to", code=3)
def _(place: Place) -> list[str]:
    place.stack.enter_context(only_readable(place.index()))
    return ["rollback", "--index", "index"]


@worst("a disk that is full", code=1)
def _(place: Place) -> list[str]:
    place.stack.enter_context(_full_disk(place.folder / "full"))
    return ["export", "--what", "chunks", "--index", str(place.index()), "--output", "full/chunks.jsonl"]


@worst("a disk that is full, where the index is to be", code=1, flow=True)
def _(place: Place) -> list[str]:
    source = place.source()
    place.stack.enter_context(_full_disk(place.folder / "full"))
    return ["run", source, "--index", "full/index", "--quiet"]


@worst("a port that is taken", code=2)
def _(place: Place) -> list[str]:
    taken = place.stack.enter_context(socket.socket())
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    return ["serve", "--index", str(place.index()), "--port", str(taken.getsockname()[1])]


worst("an address of another machine to listen at", code=2)(
    lambda place: ["serve", "--index", str(place.index()), "--host", "192.0.2.1", "--port", str(free_port())]
)
said("a server for others without a token", 2, "serve --index INDEX --host 0.0.0.0 --port 0")


@contextmanager
def _full_disk(folder: Path) -> Iterator[None]:
    """Mount a file system with room for 64 KiB, which root alone may; else skip."""
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"size=64k") != 0:
        pytest.skip("only root may mount a small disk")
    with suppress(OSError), (folder / "filling").open("wb", buffering=0) as filling:
        while filling.write(bytes(4096)):
            pass
    try:
        yield
    finally:
        libc.umount2(os.fsencode(folder), 2)  # MNT_DETACH


# ---------------------------------------------------------------------------------------------------------
_group = "Settings and servers"


def _set(what: str, code: int, values: dict[str, str], *, index: bool = False, flow: bool = False) -> None:
    said(what, code, "status --index INDEX" if index else "run SOURCE --quiet", environment=values, flow=flow)


_set("a number of workers that is none", 2, {"SITEGRAPH_WORKERS": "many"})
_set("a model that is not there", 2, {"SITEGRAPH_MODEL": "no-such-model"})
_set("a graph store that is none", 2, {"SITEGRAPH_GRAPH": "foo"})
_set("an address of a ledger that is none", 2, {"SITEGRAPH_LEDGER_URL": "nonsense"}, index=True)
_set(
    "a PostgreSQL that does not answer",
    3,
    {"SITEGRAPH_LEDGER_URL": f"postgresql://anna:s3cr3t@{CLOSED}/docs"},
    flow=True,
)


@worst("another ledger than the one of the index", code=2)
def _another_ledger(place: Place) -> list[str]:
    place.environment["SITEGRAPH_LEDGER_URL"] = f"postgresql://anna:s3cr3t@{CLOSED}/docs"
    (place.index() / "ledger.json").write_text('{"ledger": "the index folder"}\n')
    return ["status", "--index", "index"]


@worst("a rollback where the ledger is not", code=1)
def _no_ledger(place: Place) -> list[str]:
    for file in place.index().glob("ledger.sqlite*"):
        file.unlink()
    return ["rollback", "--index", "index"]


_set("a graphics card that is not there", 2, {"SITEGRAPH_DEVICE": "cuda"}, flow=True)
_set("Neo4j without an address", 2, {"SITEGRAPH_GRAPH": "neo4j"}, flow=True)
_set(
    "a Neo4j that does not answer",
    3,
    {
        "SITEGRAPH_GRAPH": "neo4j",
        "SITEGRAPH_NEO4J_URI": f"bolt://{CLOSED}",
        "SITEGRAPH_NEO4J_PASSWORD": "s3cr3t",
    },
    flow=True,
)
_set(
    "an object storage that does not answer",
    3,
    {
        "SITEGRAPH_RAW_URL": "s3://docs/raw",
        "AWS_ENDPOINT_URL": f"http://{CLOSED}",
        "AWS_ACCESS_KEY_ID": "anna",
        "AWS_SECRET_ACCESS_KEY": "s3cr3t",
    },
    flow=True,
)
said("a sitegraph.toml that is no TOML", 2, "status", files={"sitegraph.toml": "workers =\n"})
said("a sitegraph.toml with an unknown key", 2, "status", files={"sitegraph.toml": "worker = 2\n"})
said(
    "a Prefect server that does not answer",
    3,
    "run SOURCE --quiet",
    environment={"PREFECT_API_URL": f"http://{CLOSED}/api"},
    alone=True,
)
said(
    "an address of a Prefect server that is none",
    2,
    "run SOURCE --quiet",
    environment={"PREFECT_API_URL": "prefect.example.org"},
    alone=True,
)
