"""Root folders made as deploy/Dockerfile says, but for installing: they stand for the services' images.

Of ours, the files are this checkout's and the packages this environment's; of PostgreSQL's, the programs are
this machine's.
"""

import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.image_file import Stage, copies, is_ignored, read_patterns, read_stages
from tests.fakes.postgres_server import find_binaries

_LENT = ("bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr")
"""Top folders of the machine that every root folder has, for looking at."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What the image's own start does: the server answers on its socket alone until the databases are made.
_POSTGRES = """
set -e
SETTINGS="-c unix_socket_directories=/tmp -c fsync=off"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" > /tmp/password
    initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --no-sync --encoding=UTF8 \
        --auth-local=trust --auth-host=scram-sha-256 >/dev/null
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -D "$PGDATA" -o "-c listen_addresses='' $SETTINGS" -w start >/dev/null
    psql -h /tmp -U "$POSTGRES_USER" -d postgres -qc "CREATE DATABASE \\"$POSTGRES_DB\\""
    for file in /docker-entrypoint-initdb.d/*.sql; do
        psql -h /tmp -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v ON_ERROR_STOP=1 -qf "$file"
    done
    pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' $SETTINGS
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


def build_image(repo: Path, files: Path) -> Image:
    """Do what deploy/Dockerfile says, but for installing: this environment's packages are lent to it."""
    build, final = read_stages(repo / "deploy" / "Dockerfile")
    _copy_machine(files)
    for stage in (build, final):
        _copy_context(stage, repo, files)
    (files / "opt" / "venv").mkdir(parents=True)
    lent = {
        "/opt/venv": Path(sys.prefix),
        sys.prefix: Path(sys.prefix),
        sys.base_prefix: Path(sys.base_prefix),
    }
    for step in final.texts("RUN"):
        if "apt-get" not in step:
            script = [*lend(files, {}), shlex.join(["chroot", str(files), "/bin/sh", "-ec", step])]
            subprocess.run(["unshare", "--mount", "bash", "-ec", "\n".join(script)], check=True, timeout=300)
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


def build_postgres(files: Path) -> Image:
    bindir = find_binaries()
    if bindir is None:
        raise LookupError("no PostgreSQL server programs found")
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


def lend(root: Path, more: Mapping[str, Path]) -> list[str]:
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


def _numbers(files: Path, user: str) -> str:
    known = [line.split(":") for line in (files / "etc" / "passwd").read_text().splitlines()]
    name = user.partition(":")[0]
    uid, gid = next((fields[2], fields[3]) for fields in known if name in (fields[0], fields[2]))
    return f"{uid}:{gid}"
