"""The cluster file as commands name it, and the command that lists its clusters.

What audits is imported where it is needed, so that a wrong name or address is refused at once.
"""

import argparse
import contextlib
import json
import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from kafka_audit import settings
from kafka_audit.cli.printing import console
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.labels import all_labels, with_labels
from kafka_audit.model.text import clean, did_you_mean

DEFAULT_CONFIG = "clusters.yaml"
_ADDRESS = re.compile(r"\S+:[0-9]{1,5}")  # no cluster's name has a colon


def cluster_file_path(config: str | None) -> str:
    """Return the cluster file, or a folder of them: the one that is named, else the environment's, else the usual one."""
    return config or os.environ.get("KAFKA_AUDIT_CLUSTERS") or DEFAULT_CONFIG


def codes() -> Collection[str]:
    """Return the codes of all checks."""
    from kafka_audit.checks import catalogue  # noqa: PLC0415 -- it imports all checks

    return catalogue()


def cluster_named(config: str | None, name: str, known: Collection[str] | None) -> Cluster:
    """Return a cluster of the cluster file; raises `UsageError` with the nearest name where there is none like that.

    `known`: the codes of checks, None: those of mutes are not checked.
    """
    file = cluster_file_path(config)
    if _ADDRESS.fullmatch(name):
        msg = f"{name} is an address, and no name of a cluster; did you mean --bootstrap {name}?"
        raise UsageError(msg)
    clusters = settings.load(file, codes=known)
    cluster = clusters.get(name)
    if cluster is None:
        near = did_you_mean(name, clusters) or f"; the clusters are {', '.join(clusters)}"
        msg = f"{file}: cluster {name!r} does not exist{near}"
        raise UsageError(msg)
    return cluster


def clusters_if_any(config: str | None) -> Mapping[str, Cluster]:
    """Return the clusters, for their mutes; none where no file was named and none is there."""
    path = cluster_file_path(config)
    if config is None and not os.path.exists(path):  # noqa: PTH110 -- one call on a name, no path work
        return {}
    return settings.load(path, codes=codes())


def clusters_command(arguments: argparse.Namespace) -> int:
    """List the clusters that have the labels."""
    file = cluster_file_path(arguments.config)
    chosen = with_labels(settings.load(file, codes=codes()), all_labels(arguments.label), file)
    if arguments.format == "json":
        listed = [{"cluster": name, "address": _address(cluster), "labels": cluster.labels} for name, cluster in chosen.items()]
        console.write_result(json.dumps(listed, indent=2))
    else:
        console.write_result(_table([(name, _address(cluster), _labels(cluster)) for name, cluster in chosen.items()]))
    return 0


def _address(cluster: Cluster) -> str:
    """Return how a cluster is reached first, without logins."""
    if cluster.zookeeper is not None:
        return cluster.zookeeper.connect
    return ",".join(cluster.bootstrap) or f"connection {cluster.kafka_conn_id}"


def _labels(cluster: Cluster) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(cluster.labels.items()))


def _table(rows: list[tuple[str, str, str]]) -> str:
    """Return a line for each row: a script takes the first word of a line."""
    shown = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(2)]
    return "\n".join("  ".join([*map(str.ljust, row, widths), row[2]]).rstrip() for row in shown)


def demand_cluster(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a cluster that there is not, before that is imported which takes seconds; tell a terminal of these."""
    cluster = _described(arguments, None)
    say = console.Progress(quiet=getattr(arguments, "quiet", False) or not sys.stderr.isatty())
    say(f"{cluster.name}: loading the checks")


def cluster_without_airflow(arguments: argparse.Namespace) -> Cluster:
    """Return the cluster that is named, or at these addresses; raises UsageError where it needs an Airflow connection."""
    from kafka_audit.collect.brokers.zookeeper_address import zookeeper_of_brokers  # noqa: PLC0415 -- it imports the clients

    cluster = _described(arguments, codes())
    if not getattr(arguments, "bootstrap", None) or arguments.zookeeper or (found := zookeeper_of_brokers(cluster)) is None:
        return cluster
    with contextlib.suppress(UsageError):  # of what a broker says
        cluster = settings.cluster_at(cluster.name, bootstrap=cluster.bootstrap, zookeeper=found)
        arguments.zookeeper = found  # a command may ask for its cluster twice
        say = console.Progress(quiet=getattr(arguments, "quiet", False))
        say(f"its brokers use ZooKeeper at {clean(found)} (zookeeper.connect), which is asked as well")
    return cluster


def _described(arguments: argparse.Namespace, known: Collection[str] | None) -> Cluster:
    if getattr(arguments, "bootstrap", None) or getattr(arguments, "zookeeper", None):
        return _cluster_at(arguments)
    if arguments.cluster is None:
        msg = "name a cluster of the cluster file, or the address of a broker: --bootstrap HOST:PORT"
        raise UsageError(msg)
    path, cluster = cluster_file_path(arguments.config), cluster_named(arguments.config, arguments.cluster, known)
    if cluster.kafka_conn_id is not None:
        msg = f"{path}: {cluster.name}: kafka_conn_id requires Airflow; on the command line, set security instead"
        raise UsageError(msg)
    return cluster


def _cluster_at(arguments: argparse.Namespace) -> Cluster:
    if arguments.cluster is not None or arguments.config is not None:
        named = "--config" if arguments.cluster is None else repr(arguments.cluster)
        msg = f"{named} and an address exclude each other; --name sets the name of a cluster without a cluster file"
        raise UsageError(msg)
    bootstrap = [address for listed in arguments.bootstrap for address in listed.split(",") if address]
    first = bootstrap[0] if bootstrap else arguments.zookeeper
    host = first.partition("/")[0].rpartition(":")[0] or first
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", host).strip("-._")[:80]
    return settings.cluster_at(arguments.name or name or "cluster", bootstrap=bootstrap, zookeeper=arguments.zookeeper)


def what_a_file_adds(cluster: Cluster) -> str:
    """Return what a cluster file lets an audit measure, as lines for its reader: the file, with three lines to fill in."""
    where = [f"bootstrap: {json.dumps([*cluster.bootstrap])}"] if cluster.bootstrap else []
    where += [] if cluster.zookeeper is None else [f"zookeeper: {json.dumps(cluster.zookeeper.connect)}"]
    return f"""\
# A cluster file measures more. clusters.yaml (--save-config clusters.yaml writes it), then: kafka-audit run {cluster.name}
clusters:
  {json.dumps(cluster.name)}:
    {f"{chr(10)}    ".join(where)}
    vantages: {{brokers: {{command: [ssh, "kafka-{{broker_id}}"], role: broker}}}}  # do brokers reach each other?
    logs: {{command: [ssh, "kafka-{{broker_id}}", tail, -n, "20000", /var/log/kafka/server.log]}}
    properties: ["/etc/kafka/server-{{broker_id}}.properties"]
    # where brokers require a login: security: {{protocol: SASL_SSL, mechanism: SCRAM-SHA-512, username: …, password_env: …}}
# clusters.example.yaml documents every key"""


def save_config(arguments: argparse.Namespace, cluster: Cluster) -> None:
    """Write a cluster that was given by its address to a new cluster file; what needs a login to hosts is commented out.

    Raises:
        UsageError: the cluster is one of a cluster file, or the file exists or cannot be written.
    """
    if arguments.cluster is not None:
        msg = f"--save-config writes a cluster that has --bootstrap or --zookeeper; {arguments.cluster} is in a cluster file"
        raise UsageError(msg)
    optional = ("    vantages:", "    logs:", "    properties:")
    lines = [
        f"    # {line.strip()}" if line.startswith(optional) else line for line in what_a_file_adds(cluster).splitlines()[1:]
    ]
    try:
        with Path(arguments.save_config).open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        msg = f"{arguments.save_config} cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
