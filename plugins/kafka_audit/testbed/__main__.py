"""Start a cluster with a fault in it: ``python -m kafka_audit.testbed --fault 000:2 -- kafka-audit run bed``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_audit.testbed.bed import Bed
from kafka_audit.testbed.errors import BedError
from kafka_audit.testbed.jars import RELEASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafka_audit.testbed.cluster import Cluster

FAULTS = """faults (may be given several times, put in one after the other):
  000            all brokers advertise an address that only clients reach
  000:2  000:0,1 only these brokers; 000:controller only the controller, which stays it
  controller:1   broker 1 becomes the controller
  cut:1:2        broker 1 reaches the services of broker 2 no more (zk for ZooKeeper, worker for the client side)
  topic:late     create topic late now; a topic made after 000 keeps its full ISR in ZooKeeper
  stop:1  kill:1  suspend:1   the broker gets SIGTERM, SIGKILL, SIGSTOP"""


def say(step: str) -> None:
    """Tell a step on standard error, which leaves standard output to the command."""
    sys.stderr.write(f"bed: {step}\n")
    sys.stderr.flush()


def put_fault(bed: Bed, cluster: Cluster, fault: str) -> None:
    """Put a fault, written as in FAULTS, into a cluster.

    Raises:
        BedError: there is no such fault or broker.
    """
    kind, _, rest = fault.partition(":")
    try:
        match kind:
            case "000":
                ids = [cluster.controller_id() or 0] if rest == "controller" else [int(one) for one in rest.split(",") if one]
                cluster.advertise_through_forward(ids or None)
            case "controller":
                cluster.make_controller(int(rest))
            case "cut":
                hosts = {str(broker.id): broker.host for broker in cluster.brokers.values()}
                hosts |= {"zk": cluster.zookeeper.host, "worker": bed.worker}
                source, target = rest.split(":")
                bed.cut(hosts[source], hosts[target])
            case "stop" | "kill":
                cluster.brokers[int(rest)].stop(hard=kind == "kill")
            case "topic":
                cluster.create_topic(rest, next(iter(spread(1, 3, list(cluster.brokers)).values())))
            case "suspend":
                cluster.brokers[int(rest)].suspend()
            case _:
                message = f"no fault {fault!r}\n{FAULTS}"
                raise BedError(message)
    except (KeyError, ValueError) as error:
        message = f"cannot read fault {fault!r} ({error})\n{FAULTS}"
        raise BedError(message) from error


def spread(topics: int, partitions: int, ids: Sequence[int]) -> dict[str, dict[int, list[int]]]:
    """Return assignments for topics ``topic-0``, … with leaders dealt out in turn and up to three replicas."""
    ring, width = len(ids), min(3, len(ids))
    return {
        f"topic-{topic}": {one: [ids[(topic + one + step) % ring] for step in range(width)] for one in range(partitions)}
        for topic in range(topics)
    }


def run(options: argparse.Namespace, folder: Path) -> int:
    """Start the cluster, put the faults in, run the command or wait for Ctrl-C; return the command's exit code."""
    with Bed(folder, say=say) as bed:
        cluster = bed.cluster(options.version, options.brokers, options.chroot)
        for name, assignment in spread(options.topics, 3, list(cluster.brokers)).items():
            cluster.create_topic(name, assignment)
        cluster.await_settled()
        for fault in options.fault:
            put_fault(bed, cluster, fault)
        config = bed.folder / "clusters.yaml"
        config.write_text(cluster.clusters_yaml("bed"))
        bed.say(f"ready: cluster «bed» in {config}; controller is broker {cluster.controller_id()}; logs below {bed.folder}")
        if options.command:
            environment = {**os.environ, "KAFKA_AUDIT_BED": str(bed.folder)}
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
        prog="python -m kafka_audit.testbed",
        description=__doc__,
        epilog=FAULTS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", default="3.9.1", choices=sorted(RELEASES), help="Kafka version (default 3.9.1)")
    parser.add_argument("--brokers", type=int, default=3, help="how many (default 3)")
    parser.add_argument("--chroot", default="", help="path in ZooKeeper, such as /kafka")
    parser.add_argument("--topics", type=int, default=2, help="topics to create, three partitions each (default 2)")
    parser.add_argument("--fault", action="append", default=[], help="what to break, see below")
    parser.add_argument("--folder", type=Path, help="folder for clusters.yaml, data and logs (default: a temporary one, removed)")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="run this on the worker host, then end")
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
