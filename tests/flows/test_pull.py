"""Copies of a published index: brought by new files alone, and refused where anything differs."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fsspec
import pytest

from indexes.copies.fetching import wanted_files
from indexes.copies.places import open_place
from indexes.copies.pull import PullOptions, PullReport, pull
from indexes.layout import IndexLayout, load_manifest
from indexes.publish.current import read_current, write_current
from indexes.publish.generation import PublisherKeys, load_generation, signature_of
from schemas.errors import WHAT_TO_DO, ConfigError, DamageFound, GuardRefused, SitegraphError
from schemas.ids import sha256_hex
from tests.fakes.copies import copy_index, link_parts_to_a_full_disk
from tests.fakes.damage import flip as flip_at
from tests.fakes.damaged_index import PAGES, QUESTIONS, write_house
from tests.fakes.running_service import running
from tests.fakes.signing_keys import KeyPair, make_keys, openssl_verifies
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here

pytestmark = pytest.mark.server

NOW = 1_800_000_000.0
flip = flip_at(0.5)
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Published:
    """An index as it was after its first and after its second generation, both signed."""

    first: Path
    second: Path
    keys: KeyPair


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Pages published twice, with a change in between; nobody writes to what is given."""
    folder = tmp_path_factory.mktemp("published")
    keys, source = make_keys(folder / "keys"), write_house(folder)
    publisher = sitegraph_here(folder / "prefect", SITEGRAPH_SIGNING_KEY=str(keys.private))
    assert publisher.run(source, folder / "index")["generation"] == 1
    copy_index(folder / "index", folder / "first")
    (folder / "house" / "travel.md").write_text(PAGES["travel.md"].replace("120", "130"))
    assert publisher.run(source, folder / "index")["generation"] == 2
    return Published(folder / "first", folder / "index", keys)


@pytest.fixture
def elsewhere(published: Published, tmp_path: Path) -> Path:
    """A copy of the second generation that a test may harm."""
    return copy_index(published.second, tmp_path / "elsewhere")


def bring(
    url: Path | str, to: Path, *, trust: Path | None = None, now: float = NOW, **options: object
) -> PullReport:
    """Pull as the command does."""
    chosen = PullOptions(**options)  # type: ignore[arg-type]
    return pull(
        open_place(str(url)), to, options=chosen, trust=PublisherKeys(trust) if trust else None, now=now
    )


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """`python -m http.server` over a folder."""
    command = [
        sys.executable,
        "-u",
        "-m",
        "http.server",
        "0",
        "--bind",
        "127.0.0.1",
        "--directory",
        str(folder),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split(" port ")[1].split()[0]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def test_openssl_takes_the_signature_of_a_generation(published: Published) -> None:
    layout = IndexLayout(published.second)
    assert openssl_verifies(published.keys, layout.generation(2), signature_of(layout, 2))
    assert not openssl_verifies(published.keys, layout.generation(1), signature_of(layout, 2))


def test_a_copy_over_http_answers_as_the_index_does_and_takes_no_run(
    sitegraph: Sitegraph, published: Published, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    with web_server(published.second) as url:
        pulled = sitegraph.call(
            "pull", url, "--to", str(copy), "--trust", str(published.keys.public), "--format", "json"
        )
        again = sitegraph.call("pull", url, "--to", str(copy), "--format", "json")

    assert pulled.returncode == 0, pulled.stderr
    report = json.loads(pulled.stdout)
    assert (report["generation"], report["signed"], report["fetched_files"]) == (2, True, report["files"])
    assert json.loads(again.stdout)["fetched_files"] == 0
    for question in QUESTIONS:
        there = sitegraph.call("query", question, "--index", str(published.second), "--format", "json")
        here = sitegraph.call("query", question, "--index", str(copy), "--format", "json")
        assert here.returncode == 0, here.stderr
        assert here.stdout == there.stdout
    assert sitegraph.call("verify", "--index", str(copy)).stdout == "generation 2: intact\n"
    ran = sitegraph.call("run", str(published.second.parent / "house.yaml"), "--index", str(copy))
    assert (ran.returncode, "is a copy of http://" in ran.stderr) == (2, True), ran.stderr


def test_a_damaged_copy_is_found_and_repaired(
    sitegraph: Sitegraph, published: Published, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    bring(published.second, copy)
    flip(next((copy / "lance").rglob("data/*.lance")))

    found = sitegraph.call("verify", "--index", str(copy))
    assert (found.returncode, "sitegraph pull" in found.stderr) == (1, True), found.stderr

    assert sitegraph.call("pull", str(published.second), "--to", str(copy), "--repair").returncode == 0
    assert sitegraph.call("verify", "--index", str(copy)).returncode == 0


def test_the_next_generation_brings_new_files_and_the_old_ones_go_after_a_grace(
    published: Published, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    whole = bring(published.first, copy)
    would = bring(published.second, copy, dry_run=True)
    assert read_current(copy) == 1

    moved = bring(published.second, copy)

    assert (moved.before, moved.generation, moved.removed_files) == (1, 2, 0)
    assert (would.fetched_files, would.fetched_bytes) == (moved.fetched_files, moved.fetched_bytes)
    assert moved.fetched_files < whole.fetched_files
    assert IndexLayout(copy).generation(1).exists()
    later = bring(published.second, copy, now=NOW + HOUR)
    assert later.removed_files > 0
    assert not IndexLayout(copy).generation(1).exists()
    fresh = tmp_path / "fresh"
    bring(published.second, fresh)
    assert names_in(copy) == names_in(fresh)


def test_a_pull_that_was_cut_off_fetches_the_rest_alone(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexes.copies.fetching import Fetching

    copy, done = tmp_path / "copy", []
    fetch = Fetching.fetch

    def cut(self: Fetching, file: object) -> None:
        if len(done) == 10:
            raise KeyboardInterrupt
        done.append(file)
        fetch(self, file)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Fetching, "fetch", cut)
        with pytest.raises(KeyboardInterrupt):
            bring(published.second, copy)
    assert not IndexLayout(copy).current.exists()

    rest = bring(published.second, copy)

    assert rest.fetched_files <= rest.files - 10
    assert read_current(copy) == 2


def test_a_pull_beside_a_publish_starts_again_from_the_new_generation(
    published: Published, tmp_path: Path
) -> None:
    """What it was about to fetch is pruned before it comes."""
    there, copy = tmp_path / "there", tmp_path / "copy"
    copy_index(published.first, there)

    def publish(_generation: int, _files: int, _bytes: int) -> None:
        if read_current(there) == 1:
            shutil.rmtree(there)
            copy_index(published.second, there)
            shutil.rmtree(there / "authority")
            shutil.copytree(published.second / "authority", there / "authority")
            (there / "authority" / "1.arrow").unlink()

    report = pull(open_place(str(there)), copy, options=PullOptions(), trust=None, now=NOW, begin=publish)

    assert report.generation == read_current(copy) == 2


def names_in(root: Path) -> set[str]:
    """Paths of all files, but for the marker of copies."""
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(".")} - {"COPY.json"}


def _named(root: Path, pattern: str) -> Path:
    manifest = json.loads(IndexLayout(root).generation(2).read_text())
    names = sorted({**manifest["files"], **manifest["encoder"]})
    return root / next(name for name in names if Path(name).match(pattern))


def _rewrite_manifest(root: Path, change: Callable[[dict[str, object]], None]) -> None:
    """As somebody would who can write there: `CURRENT` names the changed manifest."""
    path = IndexLayout(root).generation(2)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    write_current(root, 2)


def _climb(record: dict[str, object]) -> None:
    record["files"] = {**record["files"], "lance/../../outside": f"3:{sha256_hex('out')}"}  # type: ignore[dict-item]


def _grow(record: dict[str, object]) -> None:
    files = dict(record["files"])  # type: ignore[call-overload]
    record["files"] = {**files, next(iter(files)): f"{10**14}:{'0' * 64}"}


def _foreign_signature(root: Path) -> None:
    key = make_keys(root.parent / "foreign").private
    from indexes.publish.generation import Signer

    layout = IndexLayout(root)
    signature_of(layout, 2).write_bytes(Signer(key).sign(layout.generation(2).read_bytes()))


HARM: dict[str, Callable[[Path], None]] = {
    "CURRENT": lambda root: (root / "CURRENT").write_text("2\n" + "0" * 64 + "\n") and None,  # type: ignore[func-returns-value]
    "index.json": lambda root: flip(root / "index.json"),
    "manifest": lambda root: flip(IndexLayout(root).generation(2)),
    "manifest and CURRENT": lambda root: _rewrite_manifest(root, lambda r: r.update(run_id="other")),
    "flipped signature": lambda root: flip(signature_of(IndexLayout(root), 2)),
    "foreign signature": _foreign_signature,
    "no signature": lambda root: signature_of(IndexLayout(root), 2).unlink(),
    "rows": lambda root: flip(_named(root, "*/data/*.lance")),
    "manifest of a table": lambda root: flip(_named(root, "*/_versions/*.manifest")),
    "tag of a table": lambda root: flip(_named(root, "*/tags/gen-2.json")),
    "authority": lambda root: flip(root / "authority" / "2.arrow"),
    "weights of the encoder": lambda root: flip(_named(root, "encoder*/encoder.onnx.data")),
    "tokenizer": lambda root: flip(_named(root, "encoder*/tokenizer.json")),
    "encoder.json": lambda root: flip(_named(root, "encoder*/encoder.json")),
    "search index": lambda root: flip(_named(root, "*/_indices/*/*")),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM.keys())
def test_whatever_was_tampered_with_is_refused_and_the_copy_stays_where_it_was(
    published: Published, elsewhere: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    copy = tmp_path / "copy"
    bring(published.first, copy, trust=published.keys.public)
    before = (copy / "CURRENT").read_bytes()
    harm(elsewhere)

    with pytest.raises((DamageFound, GuardRefused)):
        # index.json and encoder of the copy are whole: a copy that has none is the one to be deceived.
        bring(elsewhere, tmp_path / "new", trust=published.keys.public)
    assert not IndexLayout(tmp_path / "new").current.exists()

    try:
        bring(elsewhere, copy, trust=published.keys.public)
    except SitegraphError:
        assert (copy / "CURRENT").read_bytes() == before


@pytest.mark.parametrize("change", [_climb, _grow])
def test_a_manifest_that_names_places_outside_or_absurd_sizes_writes_nothing(
    elsewhere: Path, tmp_path: Path, change: Callable[[dict[str, object]], None]
) -> None:
    """Without trust, so that nothing but the rules for manifests stands in its way."""
    _rewrite_manifest(elsewhere, change)

    with pytest.raises((DamageFound, ConfigError)):
        bring(elsewhere, tmp_path / "new")

    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "new").exists()


def test_an_old_generation_replayed_is_refused_where_signatures_count(
    published: Published, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    bring(published.second, copy, trust=published.keys.public)

    with pytest.raises(GuardRefused, match="went back from generation 2 to 1"):
        bring(published.first, copy, trust=published.keys.public)
    assert read_current(copy) == 2

    assert bring(published.first, copy, trust=published.keys.public, accept_rollback=True).generation == 1


def test_readers_ask_for_a_signature_where_trust_is_set(
    sitegraph: Sitegraph, published: Published, elsewhere: Path
) -> None:
    trust = str(published.keys.public)
    asked = ("query", QUESTIONS[0], "--index", str(elsewhere))
    assert sitegraph.call(*asked, SITEGRAPH_TRUST=trust).returncode == 0
    _foreign_signature(elsewhere)

    refused = sitegraph.call(*asked, SITEGRAPH_TRUST=trust)

    assert (refused.returncode, "is not signed with a key of" in refused.stderr) == (4, True), refused.stderr
    assert sitegraph.call(*asked).returncode == 0


def test_a_served_index_is_pulled_with_its_token_and_gives_nothing_else(
    sitegraph: Sitegraph, published: Published, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    with running(published.second, "--workers", "1", SITEGRAPH_SERVE_TOKEN="open-sesame") as (_, port):
        url = f"http://127.0.0.1:{port}/index"
        refused = sitegraph.call("pull", url, "--to", str(copy))
        pulled = sitegraph.call("pull", url, "--to", str(copy), SITEGRAPH_PULL_TOKEN="open-sesame")
        secret = sitegraph.call(
            "pull", f"{url}/ledger.sqlite/..", "--to", str(tmp_path / "x"), SITEGRAPH_PULL_TOKEN="open-sesame"
        )

    assert (refused.returncode, "SITEGRAPH_PULL_TOKEN" in refused.stderr) == (2, True), refused.stderr
    assert pulled.returncode == 0, pulled.stderr
    assert secret.returncode == 2
    assert sitegraph.call("query", QUESTIONS[0], "--index", str(copy)).returncode == 0


def test_an_index_in_a_bucket_is_read_through_a_copy_that_follows_it(
    sitegraph: Sitegraph, published: Published, bucket_url: str, tmp_path: Path
) -> None:
    upload(published.first, f"{bucket_url}/house")
    asked = ("query", QUESTIONS[0], "--index", f"{bucket_url}/house", "--format", "json")
    cache = {"SITEGRAPH_CACHE": str(tmp_path / "cache")}

    cold, warm = (sitegraph.call(*asked, **cache) for _ in range(2))
    upload(published.second, f"{bucket_url}/house")
    next_one = sitegraph.call(*asked, **cache)

    assert cold.returncode == 0, cold.stderr
    assert "downloading generation 1" in cold.stderr
    assert (warm.stderr, warm.stdout) == ("", cold.stdout)
    assert "downloading generation 2" in next_one.stderr
    local = sitegraph.call("query", QUESTIONS[0], "--index", str(published.second), "--format", "json")
    assert next_one.stdout == local.stdout


def test_a_bucket_that_is_gone_leaves_readers_their_copy(
    sitegraph: Sitegraph, published: Published, bucket_url: str, tmp_path: Path
) -> None:
    upload(published.first, f"{bucket_url}/house")
    asked = ("query", QUESTIONS[0], "--index", f"{bucket_url}/house")
    cache = {"SITEGRAPH_CACHE": str(tmp_path / "cache")}
    assert sitegraph.call(*asked, **cache).returncode == 0

    answered = sitegraph.call(*asked, **cache, AWS_ENDPOINT_URL="http://127.0.0.1:9")

    assert (answered.returncode, "answering from the copy" in answered.stderr) == (0, True), answered.stderr


def test_a_full_disk_is_told_in_one_line_and_the_copy_stays_as_it_was(
    sitegraph: Sitegraph, published: Published, tmp_path: Path
) -> None:
    there, cache = copy_index(published.first, tmp_path / "there"), tmp_path / "cache"
    with web_server(there) as url:
        asked = ("query", QUESTIONS[0], "--index", url)
        assert sitegraph.call(*asked, SITEGRAPH_CACHE=str(cache)).returncode == 0
        copy = next(cache.glob("copies/*/*/CURRENT")).parent
        shutil.rmtree(there)
        layout = IndexLayout(copy_index(published.second, there))
        manifest, index = load_generation(layout, 2), load_manifest(layout)
        link_parts_to_a_full_disk(copy, wanted_files(manifest, index, with_raw=True, subject=url))

        queried = sitegraph.call(*asked, SITEGRAPH_CACHE=str(cache))
        pulled = sitegraph.call("pull", url, "--to", str(copy), "--quiet")

    line = f"sitegraph: {copy}: the disk is full. {WHAT_TO_DO}\n"
    assert (queried.returncode, pulled.returncode, pulled.stderr) == (1, 1, line), queried.stderr
    assert queried.stderr.endswith(line)
    assert "answering from the copy" not in queried.stderr
    assert read_current(copy) == 1


def upload(index: Path, url: str) -> None:
    """Put an index folder into a bucket, as its writer leaves it; `CURRENT` last."""
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    paths = (path for path in sorted(index.rglob("*")) if path.is_file() and "sqlite" not in path.name)
    for path in sorted(paths, key=lambda path: path.name == "CURRENT"):
        files.pipe_file(f"{url}/{path.relative_to(index).as_posix()}", path.read_bytes())
