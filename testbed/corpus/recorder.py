"""Record snapshots for the tests of diagnoses: ``python -m testbed.corpus.recorder [NAME…]``."""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from kafka_audit.store import Store
from testbed.corpus import rivals
from testbed.corpus.actions import carry_out
from testbed.corpus.auditing import Auditor
from testbed.corpus.recorded import CLUSTERS, SUFFIX, Recording, packed, recordings
from testbed.corpus.runner import Stage
from testbed.errors import BedError

__all__ = ["main", "rivals"]  # whose actions steps of recordings name

QUICK = {"replica.lag.time.max.ms": "5000"}  # followers that do not follow fall out of the ISR within seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and record; a cluster that could not be started or broken is reported and left out."""
    parser = argparse.ArgumentParser(prog="python -m testbed.corpus.recorder", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    names = parser.parse_args(arguments).names or list(recordings())
    failed = 0
    for name in names:
        try:
            say(f"{name}: {record(recordings()[name])}")
        except (BedError, subprocess.SubprocessError) as error:
            failed += 1
            say(f"{name}: NOT RECORDED: {error}")
    return int(failed > 0)


def record(recording: Recording) -> str:
    """Start a cluster, break it, write its snapshot, and return what the audit says of it today.

    Raises:
        BedError: the cluster could not be started or broken.
    """
    stage = Stage(Auditor(), say, properties=QUICK)
    try:
        scene = stage.prepare(recording.preset, recording.version, audited=recording.compared)
        carry_out(scene, recording.steps)
        snapshot, report = stage.audit(stage.healthy or None)
        folder = scene.cluster.folder
        store = Store(str(folder / "audits" / "store"))
        previous = store.read(stage.healthy) if recording.compared else None
        content = packed(store.read(snapshot), previous, str(folder.parent))
    finally:
        stage.clear()
    (CLUSTERS / f"{recording.name}{SUFFIX}").write_bytes(content)
    incidents = [f"{incident['cause']} {incident['confidence']}: {incident['headline']}" for incident in report["incidents"]]
    return f"{len(content)} bytes; {'; '.join(incidents) or 'no incident'}"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
