"""The commands before and after a change, run on the worker host of the bed."""

import json
import subprocess
import sys
from types import SimpleNamespace


def gate_of(bed, folder):
    """Return a function that runs a command of the gate for an entry of a cluster file; it returns exit code and report."""

    def run(command, entry, *options):
        config = folder / "clusters.yaml"
        config.write_text(json.dumps({"clusters": {"prod": entry}}))
        where = ["--config", str(config), "--out", str(folder / "store"), "--format", "json"]
        completed = bed.worker.popen(
            [sys.executable, "-m", "kafka_audit.cli", command, "prod", *where, *options], stdout=subprocess.PIPE, cwd=folder
        )
        output, _ = completed.communicate()
        return SimpleNamespace(code=completed.returncode, report=json.loads(output))

    return run
