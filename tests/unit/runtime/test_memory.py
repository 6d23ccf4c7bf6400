"""What a process used itself, not what its parent had used before."""

import subprocess
import sys

from runtime.readings import largest_child_mb, peak_rss_mb

_USE = "x = bytearray({mb} << 20)\nfor i in range(0, len(x), 4096): x[i] = 1"
_ASK = "import subprocess, sys\n{use}\n{then}"


def run(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_a_child_of_a_large_process_reports_its_own_memory() -> None:
    child = "from runtime.readings import peak_rss_mb; print(peak_rss_mb())"
    parent = _ASK.format(use=_USE.format(mb=400), then=f"subprocess.run([sys.executable, '-c', {child!r}])")

    assert run(parent) < 200


def test_memory_counts_once_it_was_used() -> None:
    assert (
        run(f"{_USE.format(mb=300)}\ndel x\nfrom runtime.readings import peak_rss_mb\nprint(peak_rss_mb())")
        > 300
    )


def test_a_child_that_has_ended_and_was_larger_than_we_is_known() -> None:
    grow = _USE.format(mb=400)
    ask = f"subprocess.run([sys.executable, '-c', {grow!r}])\nfrom runtime.readings import largest_child_mb"

    assert run(f"import subprocess, sys\n{ask}\nprint(largest_child_mb())") > 400


def test_a_small_child_is_not_charged_with_our_own_peak() -> None:
    ask = "subprocess.run([sys.executable, '-c', ''])\nfrom runtime.readings import largest_child_mb"

    assert run(_ASK.format(use=_USE.format(mb=400), then=f"{ask}\nprint(largest_child_mb([50.0]))")) == 50


def test_a_process_that_is_gone_has_no_memory() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        assert peak_rss_mb(process.pid) == 0
    assert largest_child_mb() >= 0
