"""Start a cluster with a fault of the corpus in it: ``python -m testbed --fault unclean_topic -- kafka-audit run bed``."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from testbed.bed import Bed
from testbed.corpus.actions import carry_out
from testbed.corpus.catalogue import VERSIONS, faults, presets
from testbed.corpus.scene import started
from testbed.errors import BedError


def say(step: str) -> None:
    """Print a step to standard error; standard output is for the command."""
    sys.stderr.write(f"bed: {step}\n")
    sys.stderr.flush()


def run(options: argparse.Namespace, folder: Path) -> int:
    """Start the cluster, put the fault in, run the command or wait for Ctrl-C; return the command's exit code."""
    fault = faults()[options.fault] if options.fault else None
    usual = next(iter(fault.versions)) if fault else "3.9.1 ZooKeeper"
    with Bed(folder, say=say) as bed:
        scene = started(bed, presets()[fault.preset if fault else options.preset], options.version or usual)
        carry_out(scene, fault.steps if fault else ())
        config = bed.folder / "clusters.yaml"
        config.write_text(yaml.safe_dump({"clusters": {"bed": scene.entry}}, sort_keys=False))
        bed.say(f"ready: cluster «bed» in {config}; logs below {bed.folder}")
        if options.command:
            environment = {**os.environ, "KAFKA_AUDIT_BED": str(bed.folder)}
            environment |= scene.cluster.secured.audit_environment() if scene.cluster.secured else {}
            # Ctrl-C is for the command, the bed ends after it. SIG_IGN would be inherited by the command, a handler is not.
            signal.signal(signal.SIGINT, lambda *_: None)
            return bed.worker.popen(options.command, env=environment, stdin=None).wait()
        bed.say("run a command on the worker host: " + " ".join([*bed.worker.enter, "COMMAND …"]))
        bed.say("Ctrl-C ends the bed")
        signal.pause()
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run."""
    known = "\n".join(f"  {fault.id:36} {fault.title}" for fault in faults().values())
    parser = argparse.ArgumentParser(
        prog="python -m testbed",
        description=__doc__,
        epilog=f"faults:\n{known}\n\nKAFKA_AUDIT_BED: the folder of clusters.yaml; KAFKA_AUDIT_PASSWORD: the auditor's password.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        choices=VERSIONS,
        metavar="VERSION",
        help=f"{', '.join(VERSIONS)} (default: the first that the fault is run on)",
    )
    parser.add_argument("--fault", choices=faults(), metavar="FAULT", help="a fault of the corpus, see below (default: none)")
    parser.add_argument(
        "--preset", choices=presets(), metavar="PRESET", default="plain", help="of `presets.yaml`, without a fault (plain)"
    )
    parser.add_argument("--folder", type=Path, help="for clusters.yaml, data and logs (default: a temporary one)")
    parser.add_argument(
        "command", nargs="*", metavar="-- COMMAND", help="a command to run on the worker host; the cluster ends after it"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if options.folder:
            return run(options, options.folder)
        with tempfile.TemporaryDirectory(prefix="kafka-audit-bed-", ignore_cleanup_errors=True) as folder:
            return run(options, Path(folder))
    except BedError as error:
        say("\n".join([str(error), *getattr(error, "__notes__", [])]))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
