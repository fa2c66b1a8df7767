"""Take a snapshot on the worker host of a bed: the arguments of `Cluster` come as JSON, the rows go out as JSON."""

import json
import sys
from dataclasses import asdict

from kafka_audit.collect.snapshot import take_snapshot
from kafka_audit.model.cluster import Cluster, Limits, Vantage, ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import TABLES


def main():
    described = json.loads(sys.argv[1])
    vantages = tuple(Vantage(**{**vantage, "command": tuple(vantage["command"])}) for vantage in described.pop("vantages", []))
    connect = described.pop("zookeeper")
    zookeeper = None if connect is None else ZookeeperAccess(connect=connect)
    limits = Limits(**described.pop("limits", {}))
    cluster = Cluster(name="bed", zookeeper=zookeeper, vantages=vantages, limits=limits, **described)
    lines = []
    try:
        snapshot = take_snapshot(cluster, snapshot_id="s", say=lines.append)
    except UsageError as error:
        sys.exit(f"usage: {error}")
    rows = {}
    for table in TABLES:
        rows[table.__name__] = [asdict(row) for row in snapshot.of(table)]
    json.dump({"cluster_id": snapshot.cluster_id, "said": lines, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main()
