"""Writes the entries of a run as a log of inspect_ai, a tool call for each: inspect_log.py LINES LOG"""

import json
import sys
from datetime import datetime, timedelta, timezone

from inspect_ai.event import ToolEvent
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def main(lines: str, log: str) -> None:
    with open(lines, encoding="utf-8") as source:
        events = [
            ToolEvent(
                id=str(at),
                function="entry",
                arguments=json.loads(line),
                result="",
                timestamp=BEGIN + timedelta(milliseconds=10 * at),
            )
            for at, line in enumerate(source)
        ]
    sample = EvalSample(id=1, epoch=1, input="A run", target="", events=events)
    spec = EvalSpec(
        created=BEGIN.isoformat(),
        task="run",
        dataset=EvalDataset(name="run", samples=1),
        model="none",
        config=EvalConfig(),
    )
    write_eval_log(EvalLog(status="success", eval=spec, samples=[sample]), log)


if __name__ == "__main__":
    main(*sys.argv[1:])
