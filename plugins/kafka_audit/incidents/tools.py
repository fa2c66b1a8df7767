"""Kafka's command line tools as the audited release has them: pages are written for the newest, older ones lack options.

An option that a release lacks is never printed. What is older than 2.8 keeps its metadata in ZooKeeper, so an older tool that
uses ZooKeeper replaces it; that is the only option until 2.1 to 2.6, and it was removed in 3.0.
Sources: KIP-460 and KIP-183 (elections, 2.4), KIP-455 (reassignments, 2.6), KIP-332 (ACLs, 2.1), KIP-377 (topics, 2.2), KIP-351
and KIP-427 (in-sync filters, 2.3 and 2.4), KIP-412 (loggers, 2.4), KIP-554 (SCRAM users, 2.7), KIP-700 (cluster id,
2.8), KAFKA-7335 (cluster id in meta.properties, 2.4).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import BrokerApi
from kafka_audit.model.text import word

Release = tuple[int, int]

_CAME_WITH: tuple[tuple[int, Release], ...] = (
    (65, (3, 0)),  # DescribeTransactions
    (60, (2, 8)),  # DescribeCluster
    (50, (2, 7)),  # DescribeUserScramCredentials
    (48, (2, 6)),  # DescribeClientQuotas
    (46, (2, 4)),  # ListPartitionReassignments
    (44, (2, 3)),  # IncrementalAlterConfigs
)
_FETCH = 1
_FETCH_OF: tuple[tuple[int, Release], ...] = ((10, (2, 1)), (8, (2, 0)))
_OLDEST: Release = (1, 1)
_SERVER = re.compile(
    r"\s{1,9}--bootstrap-server\s{1,9}(?:<[^>]{0,300}>\S{0,300}|\S{1,300})(\s{1,9}--command-config\s{1,9}\S{1,300})?"
)


def oldest_release(view: ClusterView) -> Release | None:
    """Return the lowest possible release of the oldest broker, by the APIs that it offers; None if no broker reported any."""
    offered: dict[int, dict[int, int]] = {}
    for row in view.of(BrokerApi):
        if row.broker_id >= 0:
            offered.setdefault(row.broker_id, {})[row.api_key] = row.max_version
    return min(map(_release, offered.values()), default=None)


def _release(offered: dict[int, int]) -> Release:
    by_api = (release for key, release in _CAME_WITH if key in offered)
    by_fetch = (release for version, release in _FETCH_OF if offered.get(_FETCH, 0) >= version)
    return next(by_api, None) or next(by_fetch, _OLDEST)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The tools of a release; None: not known, so that commands stay as they are written."""

    release: Release | None
    zookeeper: str  # its address, with the chroot

    @classmethod
    def of(cls, view: ClusterView) -> "Tools":
        """Return the tools of the oldest broker."""
        asked = [read.target for read in view.last_reads if read.observer == "zookeeper"]
        release = None if view.kraft else oldest_release(view)
        return cls(release=release, zookeeper=word(asked[0]) if asked else "<zookeeper.connect>")

    def command(self, text: str) -> str:
        """Return a command as this release takes it."""
        if self.release is None:
            return text
        for tool, since, older in _OLDER:
            if tool in text and self.release < since:
                text = older(self, text)
        return text

    def in_text(self, text: str) -> str:
        """Return a text with its commands, between backticks or on indented lines, as this release takes them."""
        spans = re.sub(r"`([^`]*)`", lambda match: f"`{self.command(match[1])}`", text)
        return re.sub(r"^ {4}\S.*$", lambda match: self.command(match[0]), spans, flags=re.MULTILINE)

    def by_zookeeper(self, text: str) -> str:
        """Return a command that asks ZooKeeper instead of a broker."""
        return _SERVER.sub(lambda _: f" --zookeeper {self.zookeeper}", text)


def _election(tools: Tools, text: str) -> str:
    if "unclean" in text:
        topic = match[1] if (match := re.search(r"--topic (\S+)", text)) else "<topic>"
        change = f"--alter --entity-type topics --entity-name {topic} --add-config unclean.leader.election.enable=true"
        return f"kafka-configs.sh --zookeeper {tools.zookeeper} {change}"
    some = "" if "--all-topic-partitions" in text else " --path-to-json-file partitions.json"
    return f"kafka-preferred-replica-election.sh --zookeeper {tools.zookeeper}{some}"


def _reassignment(tools: Tools, text: str) -> str:
    if "--cancel" in text:
        return "kafka-reassign-partitions.sh of Kafka 2.6 or later"
    if "--list" in text:
        return f"zookeeper-shell.sh {tools.zookeeper} get /admin/reassign_partitions"
    return tools.by_zookeeper(text)


def _acls(tools: Tools, text: str) -> str:
    return _SERVER.sub(lambda _: f" --authorizer-properties zookeeper.connect={tools.zookeeper}", text)


def _in_sync_filter(_tools: Tools, text: str) -> str:
    return re.sub(r"--(?:under|at)-min-isr-partitions", "--under-replicated-partitions", text)


def _topic_settings(tools: Tools, text: str) -> str:
    return tools.by_zookeeper(text) if "--entity-type topics" in text else text


def _users(tools: Tools, text: str) -> str:
    return tools.by_zookeeper(text) if "--entity-type users" in text else text


def _loggers(_tools: Tools, text: str) -> str:
    if "--entity-type broker-loggers" not in text:
        return text
    logger = text.rpartition("--add-config ")[2]
    return f"log4j.logger.{logger}"


_OLDER: tuple[tuple[str, Release, Callable[[Tools, str], str]], ...] = (
    ("kafka-leader-election.sh", (2, 4), _election),
    ("kafka-reassign-partitions.sh", (2, 6), _reassignment),
    ("kafka-acls.sh", (2, 1), _acls),
    ("min-isr-partitions", (2, 4), _in_sync_filter),
    ("kafka-topics.sh", (2, 2), Tools.by_zookeeper),
    ("kafka-configs.sh", (2, 4), _loggers),
    ("kafka-configs.sh", (2, 5), _topic_settings),
    ("kafka-configs.sh", (2, 7), _users),
    ("kafka-cluster.sh cluster-id", (2, 4), lambda _tools, _text: "grep 'Cluster ID =' server.log"),
    ("kafka-cluster.sh cluster-id", (2, 8), lambda _tools, _text: "grep cluster.id <log.dirs>/meta.properties"),
)
"""A tool or option, the release that brought it, and what an older one takes."""
