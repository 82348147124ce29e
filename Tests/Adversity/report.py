"""The result of a soak run: as text for people, and as the last section of Tests/Adversity/README.md."""
import datetime
import json
import os

from programs import ROOT
from world import MEMORY_LIMIT

DOCUMENT = ROOT / "Tests/Adversity/README.md"
HEADING = "## The last result\n"
# Only the terminal and .build/soak.json have these rows.
NOT_RECORDED = ("tolerated in adversities", "counts", "log events")


class Report:
    def __init__(self, world, options, seconds, in_group):
        self.violations = dict(world.violations)
        self.result = {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "minutes": round(seconds / 60, 1),
            "seed": options.seed, "cores": os.cpu_count(), "memory cgroup": f"{MEMORY_LIMIT} MiB" if in_group else "not to be had",
            "requests of people": world.requests, "requests and connections of adversities": world.connections,
            "answers": dict(sorted(world.answers.items())), "tolerated in adversities": dict(sorted(world.tolerated.items())),
            "counts": dict(sorted(world.counts.items())), "largest": {name: round(value, 1) for name, value in sorted(world.maxima.items())},
            "slowest answer, seconds": {name: round(value, 2) for name, value in sorted(world.slowest.items())},
            "log bytes": world.log_bytes, "log events": dict(world.log_events.most_common()), "violations": self.violations}

    def rows(self):
        for name, value in self.result.items():
            if name == "violations":
                continue
            if isinstance(value, dict):
                value = ", ".join(f"{key}: {each:,}" for key, each in value.items())
            yield name, f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)

    def text(self):
        lines = [f"{name:42} {value}" for name, value in self.rows()]
        lines += [f"VIOLATED {count} times: {sentence}" for sentence, count in self.violations.items()]
        return "\n".join(["", *lines, "soak: " + ("FAILED" if self.violations else "every bound held")])

    def record(self):
        """Replaces the last section of the document, and keeps the figures for programs in .build."""
        before = DOCUMENT.read_text().partition(HEADING)[0]
        verdict = "Every bound held." if not self.violations else "**Violated:** " + "; ".join(self.violations)
        table = "\n".join(f"| {name} | {value} |" for name, value in self.rows() if name not in NOT_RECORDED)
        DOCUMENT.write_text(f"{before}{HEADING}\n{verdict}\n\n| | |\n| --- | --- |\n{table}\n")
        (ROOT / ".build/soak.json").write_text(json.dumps(self.result, indent=2) + "\n")
