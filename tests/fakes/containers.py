"""Runs the services of a compose file without a container engine, on this machine's own programs.

Each service gets a root folder in which the image's files, users, volumes and mounts lie where the files say, with the
environment and the commands that they say; all share one network in which each is found by its name. What stands
for the images: for ours, this checkout and the packages of this environment; for PostgreSQL's, this machine's.
Needs root, for namespaces and other users.
"""

import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.compose_file import Compose, Service, read_compose
from tests.fakes.image_file import Stage, copies, is_ignored, read_patterns, read_stages
from tests.fakes.postgres_server import find_binaries
from tests.fakes.prefect_server import REPO, poll

_LENT = ("bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr")
"""Top folders of the machine that every root folder has, for looking at."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What the image's own start does: the server answers on its socket alone until the databases are made.
_POSTGRES = """
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" > /tmp/password
    initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --no-sync --encoding=UTF8 \
        --auth-local=trust --auth-host=scram-sha-256 >/dev/null
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -c unix_socket_directories=/tmp -c fsync=off" -w start >/dev/null
    psql -h /tmp -U "$POSTGRES_USER" -d postgres -qc "CREATE DATABASE \\"$POSTGRES_DB\\""
    for file in /docker-entrypoint-initdb.d/*.sql; do
        psql -h /tmp -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v ON_ERROR_STOP=1 -qf "$file"
    done
    pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp -c fsync=off
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What a container begins with: its files, and what it runs as."""

    files: Path
    environment: Mapping[str, str]
    folder: str
    user: str
    command: tuple[str, ...]
    lent: Mapping[str, Path] = field(default_factory=dict)


class Containers:
    """The services of a compose file; `log` gives what one has printed."""

    def __init__(self, compose: Compose, images: Mapping[str, Image], home: Path, holder: int) -> None:
        self.compose = compose
        self._images = images
        self._home = home
        self._holder = holder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def up(self) -> None:
        """Start every service that no profile holds back, each when what it needs is there."""
        for service in self.compose.services.values():
            if not service.profiles:
                self._start(service)

    def log(self, name: str) -> str:
        """Everything that a service has printed."""
        return (self._home / f"{name}.log").read_text(errors="replace")

    def run(self, name: str, *command: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command with the files, user and environment of a service, as `exec` does."""
        started = self._command(self.compose.services[name], command)
        return subprocess.run(started, capture_output=True, text=True, timeout=timeout, check=False)

    def wait(self, name: str, condition: str, *, timeout: float = 120) -> None:
        """Wait until a service has come to a condition of `depends_on`."""
        poll(lambda: self._is(name, condition), timeout=timeout, what=f"{name} to be {condition}", interval=0.5)

    def _is(self, name: str, condition: str) -> bool | None:
        ended = self._running[name].poll()
        if condition == "service_completed_successfully":
            assert ended in (None, 0), f"{name} ended with {ended}\n{self.log(name)}"
            return True if ended == 0 else None
        assert ended is None, f"{name} ended with {ended}\n{self.log(name)}"
        test = self.compose.services[name].test
        assert test and test[0] == "CMD", f"{name} has no health check"
        return True if self.run(name, *test[1:]).returncode == 0 else None

    def _start(self, service: Service) -> None:
        if service.name in self._running:
            return
        for other, condition in service.needs.items():
            self._start(self.compose.services[other])
            self.wait(other, condition)
        image = self._images[service.image]
        with (self._home / f"{service.name}.log").open("wb") as log:
            self._running[service.name] = subprocess.Popen(
                self._command(service, service.command or image.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _command(self, service: Service, command: Sequence[str]) -> list[str]:
        image, root = self._images[service.image], self._home / "roots" / service.name
        if not root.exists():
            shutil.copytree(image.files, root, symlinks=True)
            subprocess.run(["cp", "-a", f"{image.files}/.", root], check=True)
        environment = {"HOME": _home_of(root, image.user), **image.environment, **service.environment}
        script = [
            *_lend(root, image.lent),
            *(line for mount in service.mounts for line in self._mount(service, root, mount.target)),
            *(_place(root, target, text) for target, text in service.files.items()),
            shlex.join(
                [
                    *("exec", "chroot", f"--userspec={image.user}", f"--groups={image.user.partition(':')[2]}"),
                    *(str(root), "/usr/bin/env", "-i", "-C", image.folder),
                    *(f"{name}={value}" for name, value in environment.items()),
                    *command,
                ]
            ),
        ]
        inside = ["nsenter", f"--target={self._holder}", "--net", "--pid", "unshare", "--mount"]
        return [*inside, "bash", "-ec", "\n".join(script)]

    def _mount(self, service: Service, root: Path, target: str) -> list[str]:
        mount = next(mount for mount in service.mounts if mount.target == target)
        inside = f"{root}{target}"
        source = self._volume(service, mount.source, target) if mount.named else self.compose.folder / mount.source
        place, source = shlex.quote(inside), shlex.quote(str(source.resolve()))  # type: ignore[assignment]
        lines = [f"mount --bind {source} {place}"]
        if mount.read_only:
            lines.append(f"mount -o remount,bind,ro {place}")
        return lines

    def _volume(self, service: Service, name: str, target: str) -> Path:
        """A named volume; a new one takes over what the image has at that place, and its owner."""
        assert name in self.compose.volumes, f"{name} is no volume"
        folder = self._home / "volumes" / name
        if not folder.exists():
            folder.parent.mkdir(exist_ok=True)
            subprocess.run(
                ["cp", "-a", f"{self._images[service.image].files}{target}", folder], check=True
            )
        return folder


@contextmanager
def running_containers(
    *files: Path, environ: Mapping[str, str], home: Path, repo: Path = REPO
) -> Iterator[Containers]:
    """Give the services of compose files, not yet started; all end with the block."""
    _check_rights()
    compose = read_compose(*files, environ=environ)
    images = {
        "sitegraph": build_image(repo, home / "image"),
        "postgres:16": _postgres_image(home / "postgres-image"),
    }
    for image in images.values():
        _name_hosts(image.files, compose)
    with _network() as holder:
        yield Containers(compose, images, home, holder)


def build_image(repo: Path, files: Path) -> Image:
    """Do what deploy/Dockerfile says, but for installing: this environment's packages are lent to it."""
    build, final = read_stages(repo / "deploy" / "Dockerfile")
    _copy_machine(files)
    for stage in (build, final):
        _copy_context(stage, repo, files)
    (files / "opt" / "venv").mkdir(parents=True)
    lent = {"/opt/venv": Path(sys.prefix), sys.prefix: Path(sys.prefix), sys.base_prefix: Path(sys.base_prefix)}
    for step in final.texts("RUN"):
        if "apt-get" not in step:
            script = [*_lend(files, {}), shlex.join(["chroot", str(files), "/bin/sh", "-ec", step])]
            subprocess.run(["unshare", "--mount", "bash", "-ec", "\n".join(script)], check=True, timeout=60)
    # Installed code is found without this; here it lies where the first stage puts it.
    environment = {**final.environment({"PATH": _PATH}), "PYTHONPATH": build.last("WORKDIR")}
    return Image(
        files=files,
        environment=environment,
        folder=final.last("WORKDIR"),
        user=_numbers(files, final.last("USER") if final.texts("USER") else "root"),
        command=final.command(),
        lent=lent,
    )


def _postgres_image(files: Path) -> Image:
    bindir = find_binaries()
    if bindir is None:
        _give_up("no PostgreSQL server programs found")
    _copy_machine(files)
    owner = pwd.getpwnam("postgres")
    data = "/var/lib/postgresql/data"
    (files / data.lstrip("/")).mkdir(parents=True, mode=0o700)
    shutil.chown(files / data.lstrip("/"), owner.pw_uid, owner.pw_gid)
    return Image(
        files=files,
        environment={"PATH": f"{bindir}:{_PATH}", "PGDATA": data},
        folder="/",
        user=f"{owner.pw_uid}:{owner.pw_gid}",
        command=("bash", "-c", _POSTGRES),
    )


def _copy_machine(files: Path) -> None:
    """Begin as a Debian image does: /etc, empty folders, and links where /bin is one."""
    files.mkdir(parents=True)
    subprocess.run(["cp", "-a", "/etc", files / "etc"], check=True)
    for name in ("dev", "home", "opt", "proc", "root", "run", "srv", "sys", "tmp", "var"):
        (files / name).mkdir()
    for name in _LENT:
        if Path("/", name).is_symlink():
            (files / name).symlink_to(os.readlink(f"/{name}"))
        elif Path("/", name).is_dir():
            (files / name).mkdir()


def _copy_context(stage: Stage, repo: Path, files: Path) -> None:
    """Copy what a stage copies of the files that git knows, those left out that .dockerignore names."""
    patterns = read_patterns(repo / ".dockerignore")
    listed = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=repo, text=True
    )
    context = [name for name in listed.splitlines() if not is_ignored(name, patterns)]
    for sources, target in copies(stage):
        for source in sources:
            found = [name for name in context if name == source or name.startswith(f"{source}/")]
            assert found, f"COPY {source}: no such file in the build context"
            for name in found:
                inner = Path(name).relative_to(source) if name != source else Path()
                if name == source and len(sources) > 1:
                    inner = Path(source).name  # type: ignore[assignment]
                place = files / target.lstrip("/") / inner
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(repo / name, place)


def _lend(root: Path, more: Mapping[str, Path]) -> list[str]:
    """Mount what every container has of the machine, and what one has besides."""
    places = {f"/{name}": Path("/", name) for name in _LENT if not Path("/", name).is_symlink()}
    lines = []
    for target, source in {**places, **more}.items():
        if source.is_dir():
            place = shlex.quote(f"{root}{target}")
            lines += [f"mkdir -p {place}", f"mount --bind {shlex.quote(str(source))} {place}"]
            lines.append(f"mount -o remount,bind,ro {place}")
    here = shlex.quote(str(root))
    own = [f"mount -t proc proc {here}/proc", f"mount --rbind /dev {here}/dev"]
    return [*lines, *own, f"mount -t tmpfs -o mode=1777 tmpfs {here}/tmp"]


def _place(root: Path, target: str, text: str) -> str:
    place = shlex.quote(f"{root}{target}")
    return f"mkdir -p $(dirname {place}); printf %s {shlex.quote(text)} > {place}; chmod 444 {place}"


def _name_hosts(files: Path, compose: Compose) -> None:
    """Give each service an address of its own, as the network of the containers does."""
    names = [f"127.0.1.{number} {name}" for number, name in enumerate(sorted(compose.services), 1)]
    (files / "etc" / "hosts").unlink(missing_ok=True)
    (files / "etc" / "hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))


def _numbers(files: Path, user: str) -> str:
    known = [line.split(":") for line in (files / "etc" / "passwd").read_text().splitlines()]
    name = user.partition(":")[0]
    uid, gid = next((fields[2], fields[3]) for fields in known if name in (fields[0], fields[2]))
    return f"{uid}:{gid}"


def _home_of(root: Path, user: str) -> str:
    known = [line.split(":") for line in (root / "etc" / "passwd").read_text().splitlines()]
    return next((fields[5] for fields in known if fields[2] == user.partition(":")[0]), "/")


@contextmanager
def _network() -> Iterator[int]:
    """Give the process that holds a network and a list of processes of their own; with it they all end."""
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    waiting = "ip link set lo up; echo ready; exec sleep infinity"
    with subprocess.Popen([*command, "sh", "-ec", waiting], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            yield int(children.split()[0])
        finally:
            process.kill()


def _check_rights() -> None:
    tried = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "ip", "link", "set", "lo", "up"]
    try:
        subprocess.run(tried, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.CalledProcessError):
        _give_up("namespaces and root are needed, and the program ip")
    if os.geteuid() != 0:
        _give_up("root is needed, to be other users")


def _give_up(reason: str) -> None:
    message = f"the services of the compose file cannot be run here: {reason}"
    pytest.fail(message) if os.environ.get("REQUIRE_ALL") == "1" else pytest.skip(message)


def ask(containers: Containers, service: str, url: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send a request from inside a service; give status and JSON."""
    script = (
        "import json,sys,urllib.error as e,urllib.request as u\n"
        "url,body,headers=json.loads(sys.argv[1])\n"
        "data=None if body is None else json.dumps(body).encode()\n"
        "request=u.Request(url,data,{'Content-Type':'application/json',**headers})\n"
        "try: answer=u.build_opener(u.ProxyHandler({})).open(request,timeout=30)\n"
        "except e.HTTPError as error: answer=error\n"
        "print(json.dumps([answer.status,json.load(answer)]))\n"
    )
    done = containers.run(service, "python", "-c", script, json.dumps([url, body, headers]))
    assert done.returncode == 0, done.stderr
    status, answer = json.loads(done.stdout)
    return status, answer
