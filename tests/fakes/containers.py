"""Runs the services of a compose file without a container engine, on this machine's own programs.

Each service gets a root folder in which the image's files, users, volumes and mounts lie where the files say,
with the environment and the commands that they say; all share one network in which each is found by its name.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.fakes.compose_file import Compose, Mount, Service, read_compose
from tests.fakes.images import Image, build_image, build_postgres, lend
from tests.fakes.prefect_server import REPO, poll


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

    def fill(self, volume: str, folder: Path, *, service: str) -> None:
        """Let a volume hold *folder*'s files before a service that mounts it is started."""
        known = self.compose.services[service]
        mount = next(mount for mount in known.mounts if mount.source == volume)
        place, user = self._volume(known, mount), self._images[known.image].user
        shutil.copytree(folder, place, dirs_exist_ok=True)
        subprocess.run(["chown", "-R", user, place], check=True)

    def log(self, name: str) -> str:
        """Everything that a service has printed."""
        return (self._home / f"{name}.log").read_text(errors="replace")

    def run(self, name: str, *command: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command with the files, user and environment of a service, as `exec` does."""
        started = self._command(self.compose.services[name], command)
        return subprocess.run(started, capture_output=True, text=True, timeout=timeout, check=False)

    def wait(self, name: str, condition: str, *, timeout: float = 300) -> None:
        """Wait until a service has come to a condition of `depends_on`."""
        poll(
            lambda: self._is(name, condition), timeout=timeout, what=f"{name} to be {condition}", interval=1.5
        )

    def _is(self, name: str, condition: str) -> bool | None:
        ended = self._running[name].poll()
        if condition == "service_completed_successfully":
            assert ended in (None, 0), f"{name} ended with {ended}\n{self.log(name)}"
            return True if ended == 0 else None
        assert ended is None, f"{name} ended with {ended}\n{self.log(name)}"
        test = self.compose.services[name].test
        assert test is not None, f"{name} has no health check"
        assert test[0] == "CMD"
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
            root.mkdir(parents=True)
            subprocess.run(["cp", "-a", f"{image.files}/.", root], check=True)
        environment = {"HOME": _home_of(root, image.user), **image.environment, **service.environment}
        script = [
            *lend(root, image.lent),
            *(line for mount in service.mounts for line in self._mount(service, root, mount)),
            *(_place(root, target, text) for target, text in service.files.items()),
            "exec " + shlex.join(_become(root, image, environment) + list(command)),
        ]
        inside = ["nsenter", f"--target={self._holder}", "--net", "--pid", "unshare", "--mount"]
        return [*inside, "bash", "-ec", "\n".join(script)]

    def _mount(self, service: Service, root: Path, mount: Mount) -> list[str]:
        given = self.compose.folder / mount.source
        source = self._volume(service, mount) if mount.named else given.resolve()
        place = shlex.quote(f"{root}{mount.target}")
        lines = [f"mount --bind {shlex.quote(str(source))} {place}"]
        return [*lines, f"mount -o remount,bind,ro {place}"] if mount.read_only else lines

    def _volume(self, service: Service, mount: Mount) -> Path:
        """A named volume; a new one takes over what the image has at that place, and its owner."""
        assert mount.source in self.compose.volumes, f"{mount.source} is no volume"
        folder = self._home / "volumes" / mount.source
        if not folder.exists():
            folder.parent.mkdir(exist_ok=True)
            subprocess.run(
                ["cp", "-a", f"{self._images[service.image].files}{mount.target}", folder], check=True
            )
        return folder


@contextmanager
def running_containers(
    *files: Path, environ: Mapping[str, str], home: Path, repo: Path = REPO
) -> Iterator[Containers]:
    """Return the services of compose files, not yet started; all end with the block."""
    _check_rights()
    compose = read_compose(*files, environ=environ)
    try:
        postgres = build_postgres(home / "postgres-image")
    except LookupError as error:
        _give_up(str(error))
    images = {"sitegraph": build_image(repo, home / "image"), "postgres:16": postgres}
    for image in images.values():
        _name_hosts(image.files, compose)
    with _network() as holder:
        yield Containers(compose, images, home, holder)


def _name_hosts(files: Path, compose: Compose) -> None:
    """Give each service an address of its own, as the network of the containers does."""
    names = [f"127.0.1.{number} {name}" for number, name in enumerate(sorted(compose.services), 1)]
    (files / "etc" / "hosts").unlink(missing_ok=True)
    (files / "etc" / "hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))


def _become(root: Path, image: Image, environment: Mapping[str, str]) -> list[str]:
    """Begin a command line: into a root folder, as the image's user, with this environment alone."""
    user = [f"--userspec={image.user}", f"--groups={image.user.partition(':')[2]}"]
    values = [f"{name}={value}" for name, value in environment.items()]
    return ["chroot", *user, str(root), "/usr/bin/env", "-i", "-C", image.folder, *values]


def _place(root: Path, target: str, text: str) -> str:
    place = shlex.quote(f"{root}{target}")
    return f"mkdir -p $(dirname {place}); printf %s {shlex.quote(text)} > {place}; chmod 444 {place}"


def _home_of(root: Path, user: str) -> str:
    known = [line.split(":") for line in (root / "etc" / "passwd").read_text().splitlines()]
    return next((fields[5] for fields in known if fields[2] == user.partition(":")[0]), "/")


@contextmanager
def _network() -> Iterator[int]:
    """Return the process that holds a network and a list of processes of their own; with it they all end."""
    command = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "unshare",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    waiting = "ip link set lo up; echo ready; exec sleep infinity"
    with subprocess.Popen(
        [*command, "--mount-proc", "sh", "-ec", waiting], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            yield int(children.split()[0])
        finally:
            process.kill()


def _check_rights() -> None:
    tried = [
        "unshare",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--mount-proc",
        "ip",
        "link",
        "set",
        "lo",
        "up",
    ]
    try:
        subprocess.run(tried, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.CalledProcessError):
        _give_up("namespaces and root are needed, and the program ip")
    if os.geteuid() != 0:
        _give_up("root is needed, to be other users")


def _give_up(reason: str) -> NoReturn:
    message = f"the services of the compose file cannot be run here: {reason}"
    pytest.fail(message) if os.environ.get("REQUIRE_ALL") == "1" else pytest.skip(message)


def ask(containers: Containers, service: str, url: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send a request from inside a service; give status and JSON."""
    script = (
        "import json,sys,urllib.error as e,urllib.request as u\n"
        "url,body,headers=json.loads(sys.argv[1])\n"
        "data=None if body is None else json.dumps(body).encode()\n"
        "request=u.Request(url,data,{'Content-Type':'application/json',**headers})\n"
        "try: answer=u.build_opener(u.ProxyHandler({})).open(request,timeout=120)\n"
        "except e.HTTPError as error: answer=error\n"
        "print(json.dumps([answer.status,json.load(answer)]))\n"
    )
    done = containers.run(service, "python", "-c", script, json.dumps([url, body, headers]))
    assert done.returncode == 0, done.stderr
    status, answer = json.loads(done.stdout)
    return status, answer
