"""Start a cluster with a fault in it: ``python -m testbed --fault 000:2 -- kafka-audit run bed``."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from testbed import presets
from testbed.bed import Bed
from testbed.brokers import BaseCluster
from testbed.cluster import Cluster
from testbed.errors import BedError
from testbed.faults import FAULTS, put_fault, spread
from testbed.jars import RELEASES, release

SECURITY = """security (instead of one open PLAINTEXT listener; brokers log in as kafka, the bed as admin, an audit as auditor):
  004                one broker, PLAINTEXT and SASL_PLAINTEXT, an authorizer, ANONYMOUS between brokers: incident 004
  scram              SASL_PLAINTEXT with SCRAM everywhere, an authorizer; no fault, but the auditor has no rights
  split              listeners CLIENT and INTERNAL, both PLAINTEXT; no fault
  no-super-user:2    as scram, but kafka is no super user on broker 2
  wrong-san:2  expired:2  foreign-issuer:2  renewed-issuer:2   SSL everywhere; peers reject the certificate of broker 2
  for-servers:2      SSL everywhere; broker 2 demands client certificates, and those of the others are for servers alone
  tls-versions:2     SSL everywhere; broker 2 has TLSv1.3 alone, the others TLSv1.2 alone
  unknown-password:2 SASL_PLAINTEXT with PLAIN everywhere; broker 2 has no user kafka
  other-mechanism:2  SASL_PLAINTEXT with SCRAM everywhere; broker 2 has another mechanism between brokers than the others
  unmapped:2  unmatched:2   SSL between brokers; broker 2 lacks the rule that maps certificates, or has one that matches none
The environment variable KAFKA_AUDIT_PASSWORD contains the auditor's password for the command."""


def say(step: str) -> None:
    """Print a step to standard error; standard output is for the command."""
    sys.stderr.write(f"bed: {step}\n")
    sys.stderr.flush()


def controller_of(cluster: BaseCluster) -> str:
    """Return the controller by ZooKeeper; empty in KRaft mode."""
    return f"controller is broker {cluster.controller_id()}; " if isinstance(cluster, Cluster) else ""


def start(bed: Bed, options: argparse.Namespace, preset: presets.Preset) -> BaseCluster:
    """Start a cluster with or without ZooKeeper, as its version has it."""
    if release(options.version).zookeeper:
        return bed.cluster(options.version, chroot=options.chroot, **preset)
    return bed.kraft(options.version, **preset)


def run(options: argparse.Namespace, folder: Path) -> int:
    """Start the cluster, put the faults in, run the command or wait for Ctrl-C; return the command's exit code."""
    with Bed(folder, say=say) as bed:
        preset: presets.Preset = presets.named(options.security) if options.security else {}
        preset.setdefault("brokers", options.brokers)
        cluster = start(bed, options, preset)
        # If the view of the only broker is empty, there are no leaders to wait for.
        if preset.get("settle") != ():
            for name, assignment in spread(options.topics, 3, list(cluster.brokers)).items():
                cluster.create_topic(name, assignment)
            cluster.await_settled(preset.get("settle"))
        for fault in options.fault:
            put_fault(bed, cluster, fault)
        config = bed.folder / "clusters.yaml"
        config.write_text(cluster.clusters_yaml("bed"))
        bed.say(f"ready: cluster «bed» in {config}; {controller_of(cluster)}logs below {bed.folder}")
        if options.command:
            environment = {**os.environ, "KAFKA_AUDIT_BED": str(bed.folder)}
            environment |= cluster.secured.audit_environment() if cluster.secured else {}
            # Ctrl-C is for the command, the bed ends after it. SIG_IGN would be inherited by the command, a handler is not.
            signal.signal(signal.SIGINT, lambda *_: None)
            return bed.worker.popen(options.command, env=environment, stdin=None).wait()
        bed.say("run a command on the worker host: " + " ".join([*bed.worker.enter, "COMMAND …"]))
        bed.say("Ctrl-C ends the bed")
        signal.pause()
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m testbed",
        description=__doc__,
        epilog=f"{SECURITY}\n\n{FAULTS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", default="3.9.1", choices=sorted(RELEASES), help="Kafka version (default 3.9.1)")
    parser.add_argument("--brokers", type=int, default=3, help="number of brokers (default 3)")
    parser.add_argument("--chroot", default="", help="path in ZooKeeper, such as /kafka")
    parser.add_argument("--topics", type=int, default=2, help="topics to create, three partitions each (default 2)")
    parser.add_argument("--security", metavar="PRESET", help="the security of the cluster, see below")
    parser.add_argument("--fault", action="append", default=[], help="the fault, see below")
    parser.add_argument("--folder", type=Path, help="folder for clusters.yaml, data and logs (default: a temporary one, removed)")
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
