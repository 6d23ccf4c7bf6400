"""A stage of a run in a process that was started by hand: values come on standard input and go out as JSON.

python -m tests.fakes.stage_process fetch < values.json
"""

import json
import sys

from flows import tasks
from flows.run.values import Batch, ComparedSource, Embedded, FetchedBatch, ParsedBatch, Run
from schemas.records import from_record, to_record

ARGUMENTS = {"fetch": (Batch,), "parse": (Batch, FetchedBatch), "embed": (ComparedSource,)}
"""What each stage is given besides the run."""


def main() -> None:
    """Run the stage that is named, for the run and with the values that standard input holds."""
    stage, record = sys.argv[1], json.load(sys.stdin)
    values = [
        from_record(kind, value) for kind, value in zip(ARGUMENTS[stage], record["values"], strict=True)
    ]
    run = from_record(Run, record["run"])
    done: FetchedBatch | ParsedBatch | Embedded
    if stage == "fetch":
        done = tasks.fetch(run, *values, None)
    elif stage == "parse":
        done = tasks.parse(run, *values)
    else:
        done = tasks.embed(run, *values)
    print(json.dumps(to_record(done)))


if __name__ == "__main__":
    main()
