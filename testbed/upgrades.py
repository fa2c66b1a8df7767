"""A rolling upgrade of a cluster of the bed: what Kafka itself says of a pair of releases.

refusal = upgraded(cluster, "4.3.0")        # None: every node runs, and every replica is in sync after each restart
"""

import re
import time

from testbed.brokers import STEP_SECONDS, BaseCluster
from testbed.errors import BedError
from testbed.jars import kafka_jars
from testbed.kraft import KraftCluster
from testbed.servers import Server

LOOK_SECONDS = 1.0
_REASON = re.compile(r"^(?:\S*Exception|Caused by|.*\b(?:ERROR|FATAL)\b).*", re.MULTILINE)
_MOST = 6  # lines of a refusal


def upgraded(cluster: BaseCluster, version: str) -> str | None:
    """Restart each node with the software of a release, controllers first, over its own data.

    Returns:
        None where all of them run and all replicas are in sync after each restart; else what the node that was restarted last
        writes, or which replicas are missing.
    """
    jars = kafka_jars(version)
    for server in cluster.controllers.values() if isinstance(cluster, KraftCluster) else ():
        server.signal_stop()
        server.await_end(STEP_SECONDS)
        server.jars = jars
        server.launch()
    for broker in cluster.brokers.values():
        server = broker.server
        server.signal_stop()
        server.await_end(STEP_SECONDS)
        server.jars = jars
        _forget(server)
        try:
            broker.start()
            cluster.await_settled()
        except BedError as error:
            return _reason(server) or str(error)
        if (missing := await_replicas(cluster)) is not None:
            return missing
    return None


def _forget(server: Server) -> None:
    """Empty the logs, so that what they say is of the new software."""
    for log in server.log_dir.glob("*.log"):
        log.write_text("")


def _reason(server: Server) -> str:
    text = "\n".join(log.read_text(errors="replace") for log in sorted(server.log_dir.glob("*.log")))
    return "\n".join(list(dict.fromkeys(match[0] for match in _REASON.finditer(text)))[:_MOST])


def await_replicas(cluster: BaseCluster) -> str | None:
    """Wait until every partition has all its replicas in sync; return which has not."""
    deadline = time.monotonic() + STEP_SECONDS
    while True:
        missing = {
            f"{topic}/{number}: {state['isr']} of {state['replicas']}"
            for view in cluster.views().values()
            for topic, partitions in view.topics.items()
            for number, state in partitions.items()
            if len(state["isr"]) < len(state["replicas"])
        }
        if not missing:
            return None
        if time.monotonic() > deadline:
            return f"not in sync: {', '.join(sorted(missing))}"
        time.sleep(LOOK_SECONDS)
