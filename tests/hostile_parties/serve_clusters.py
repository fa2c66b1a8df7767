"""Many small honest clusters as one process, for a network namespace: `python -m hostile_parties.serve_clusters COUNT NETWORK`.

Cluster n is at NETWORK.n.10 to NETWORK.n.13, which must be addresses of the namespace. Prints a line of JSON: the `entries` of a
cluster file, the id of each cluster (`ids`), and the address of a broker that sends a byte a second (`drips`). Ends with stdin.
"""

import json
import sys
from contextlib import ExitStack

from hostile_parties.broker import HostileBroker
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import drip


def cluster_id(number):
    """Return the id of a cluster."""
    return f"fake{number:02}".ljust(22, "x")


def main():
    """Serve until stdin ends."""
    count, network = int(sys.argv[1]), sys.argv[2]
    with ExitStack() as stack:
        clusters = [
            stack.enter_context(HostileCluster(cluster_id=cluster_id(number), network=f"{network}.{number}"))
            for number in range(count)
        ]
        drips = stack.enter_context(HostileBroker(0))
        drips.script["accept"] = drip(1, announced=10_000)
        entries = [cluster.entry() for cluster in clusters]
        described = {"entries": entries, "ids": [cluster_id(number) for number in range(count)], "drips": drips.address}
        sys.stdout.write(json.dumps(described) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
