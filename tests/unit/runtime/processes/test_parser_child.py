"""The child's side: what a library prints does not get among the answers."""

import os
import subprocess
import sys
from pathlib import Path

from schemas.ids import canonical_json
from schemas.records import to_record
from tests.fakes.parser_children import NOTE, NOTE_REQUEST, ROOT, parsed_here


def test_what_a_library_prints_does_not_spoil_the_answers(tokenizer: Path) -> None:
    noisy = "\n".join(
        (
            "import os, sys, threading",
            "from pathlib import Path",
            "import runtime.parser_child as child",
            "real = child._build_tasks",
            "def loud(path):",
            "    parse = real(path)[child.Task.PARSE]",
            "    def speak(*order):",
            "        print('printed by a library', flush=True)",
            "        os.write(1, b'written by native code')",
            "        return parse(*order)",
            "    return {child.Task.PARSE: speak}",
            "child._build_tasks = loud",
            "child.main(*sys.argv[1:])",
        )
    )
    watched, held = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", noisy, str(tokenizer), str(watched), "2048"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(watched,),
        cwd=ROOT,
    )
    order = canonical_json({"task": "parse", "seconds": 30, "request": to_record(NOTE_REQUEST)}).encode()
    sizes = b"".join(size.to_bytes(8, "big") for size in (len(order), len(NOTE), 0))
    out, messages = process.communicate(sizes + order + NOTE, timeout=300)
    os.close(watched)
    os.close(held)

    assert b"printed by a library" in messages
    assert b"written by native code" in messages
    assert b"printed" not in out
    assert canonical_json(to_record(parsed_here(NOTE, NOTE_REQUEST, tokenizer))).encode() in out
