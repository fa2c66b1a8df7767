"""Kafka's command line tools as the audited release has them: pages are written for the newest, older ones lack options.

An option that a release lacks is never printed; `behaviour.yaml` says which came when. What is older than 2.8 keeps its metadata
in ZooKeeper, so an older tool that uses ZooKeeper replaces it; that is the only option until 2.1 to 2.6, and it was removed in
3.0. A newer option for the login (4.2, KIP-1147) is not needed: the older ones remain.

Here alone a command gets the file of an administrator's login, for the listener that it asks; no template has to name it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_audit.checks.repair import zookeeper_address
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.model.commands import (
    LONGEST_VALUE,
    Code,
    Command,
    CommentLine,
    Line,
    Part,
    Prose,
    SettingLine,
    command,
    remark,
    setting,
)
from kafka_audit.model.tables import BrokerApi, BrokerView
from kafka_audit.model.text import is_plain_word

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
_SERVER, _CONTROLLER = "--bootstrap-server", "--bootstrap-controller"
_ELECTION, _UNCLEAN = "kafka-leader-election.sh", "unclean.leader.election.enable=true"
_COMMAND_CONFIG, _ADMIN = "--command-config", "admin.properties"
_LOGIN = MappingProxyType({_ELECTION: "--admin.config", "kafka-cluster.sh": "--config"})
"""The option of a tool that names the file of its login, where it is not `--command-config`."""
_OPEN = "PLAINTEXT"
_DRY_RUN = "--dry-run"
_ANY_BROKER, _ANY_ZOOKEEPER, _ANY_CLUSTER = "BROKER:9092", "ZOOKEEPER:2181", "CLUSTER"
_LONGEST_ADDRESS = 261  # a DNS name, brackets of IPv6, and the port

Words = tuple[str, ...]
Changed = Words | SettingLine | CommentLine


def oldest_release(view: ClusterView) -> Release | None:
    """Return the lowest possible release of the oldest broker; None if none is known.

    In KRaft the levels of metadata.version show it, with ZooKeeper the APIs on offer.
    """
    if view.kraft:
        found = [known for broker in view.inter_broker.brokers if (known := minor_releases(view, broker)) is not None]
        exact = [(oldest[0], oldest[1]) for oldest, newest in found if oldest == newest]
        return min(exact, default=None)
    offered: dict[int, dict[int, int]] = {}
    for row in view.of(BrokerApi):
        if row.broker_id >= 0:
            offered.setdefault(row.broker_id, {})[row.api_key] = row.max_version
    return min(map(_release, offered.values()), default=None)


def _release(offered: dict[int, int]) -> Release:
    by_api = (release for key, release in _CAME_WITH if key in offered)
    by_fetch = (release for version, release in _FETCH_OF if offered.get(_FETCH, 0) >= version)
    return next(by_api, None) or next(by_fetch, _OLDEST)


def _is_address(text: str) -> bool:
    return is_plain_word(text) and len(text) <= _LONGEST_ADDRESS


def _answering(view: ClusterView) -> str:
    """Return the address of a broker that answers, the one that lists most brokers; a placeholder if none does.

    One that does not follow the controllers lists what was.
    """
    rows = [row for row in view.newest(BrokerView) if row.broker_id >= 0 and _is_address(row.address)]
    late = view.quorum.now.late
    best = min(rows, key=lambda row: (row.broker_id in late, -row.brokers_listed, row.broker_id), default=None)
    return _ANY_BROKER if best is None else best.address


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The tools of a release, and the logins that the listeners of a cluster need.

    Attributes:
        release: None if it is not known; commands then stay as they are written.
        zookeeper: its address, with the chroot.
        server: a broker that answered this audit, and lists most brokers: where a page names any broker.
        protocols: by address that a broker advertises; None where it is unknown.
        asked: protocols of the listeners that the audit itself used, or that files describe: where a reader's address is.
        controllers: protocols of the listeners of KRaft controllers.
        controller: the broker that is the controller, with ZooKeeper.
        cluster: the name of the cluster, where a page names any.
    """

    release: Release | None
    zookeeper: str
    server: str = _ANY_BROKER
    protocols: Mapping[str, str | None] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    controllers: frozenset[str] = frozenset()
    controller: int | None = None
    cluster: str = _ANY_CLUSTER

    @classmethod
    def of(cls, view: ClusterView) -> "Tools":
        """Return the tools of the oldest broker."""
        between, endpoints = view.inter_broker, view.endpoints.known
        at_listener = {(endpoint.broker_id, endpoint.listener): endpoint.protocol for endpoint in endpoints}
        protocols = {endpoint.address: endpoint.protocol for endpoint in endpoints}
        asked = {at_listener.get((row.broker_id, row.listener)) or protocols.get(row.address) for row in view.of(BrokerView)}
        if not endpoints:  # files alone
            asked = {between.protocol(broker, name) for broker in between.brokers for name in between.offered(broker) or ()}
        return cls(
            release=oldest_release(view),
            zookeeper=zookeeper_address(view),
            server=_answering(view),
            protocols=protocols,
            asked=frozenset(filter(None, asked)),
            controllers=frozenset(filter(None, map(between.controller_protocol, between.brokers))),
            controller=view.controller,
            cluster=view.snapshot.cluster,
        )

    def line(self, line: Line) -> Line:
        """Return a command as this release takes it, and as this cluster lets it in; what is no command stays."""
        if not isinstance(line, Command):
            return line
        stages: list[Words] = []
        for stage in line.stages:
            older = self._as_released(self.with_login(self._with_addresses(stage)))
            if not isinstance(older, tuple):
                return older
            stages.append(older)
        return replace(line, stages=tuple(stages))

    def prose(self, text: Prose) -> Prose:
        """Return sentences with their commands as this release takes them, and what an older one needs besides."""
        return tuple(shown for part in text for shown in self._parts(part))

    def by_zookeeper(self, words: Words) -> Words:
        """Return a command that asks ZooKeeper instead of a broker."""
        return _instead_of_server(words, "--zookeeper", self.zookeeper)

    def lacks_login(self, words: Words) -> bool:
        """Return whether a command names the file of a login, for which its tool has no option yet."""
        return _COMMAND_CONFIG in words and self.lacks("tool_logins_of_disks")

    def lacks(self, name: str) -> bool:
        """Return whether the release is known not to do what a row of `behaviour.yaml` names."""
        return self.release is not None and not behaviour(name).holds(self.release)

    def _parts(self, part: Part) -> Prose:
        if not isinstance(part, Command):
            return (part,)
        shown = self.line(part)
        if isinstance(shown, CommentLine):
            return (Code(text=" ".join(shown.words)),)
        elected = isinstance(shown, Command) and part.stages[0][0] == _ELECTION and _UNCLEAN in shown.stages[0]
        return (shown, *self._ended(shown)) if isinstance(shown, Command) and elected else (shown,)

    def _ended(self, shown: Command) -> Prose:
        """Return how an unclean election ends that an older release allows to a whole topic, until its setting is removed."""
        words = shown.stages[0]
        controller = (
            "the broker that is the controller" if self.controller is None else f"broker {self.controller}, the controller"
        )
        applied = (
            ""
            if self.release is not None and not self.lacks("unclean_at_once")
            else f" and restart {controller}: Kafka 1.1 and 2.0 apply it only then"
        )
        removed = (*words[: words.index("--add-config")], "--delete-config", _UNCLEAN.partition("=")[0])
        return (f"{applied}. As soon as the partition has a leader, run ", replace(shown, stages=(removed,)))

    def _with_addresses(self, words: Words) -> Words:
        """Name a broker, the ZooKeeper and the name of this cluster where a page has any."""
        known = {_ANY_BROKER: self.server} | ({_ANY_CLUSTER: self.cluster} if words[0] == "kafka-audit" else {})
        if len(self.zookeeper) <= LONGEST_VALUE:
            known[_ANY_ZOOKEEPER] = self.zookeeper
        return tuple(known.get(word, word) for word in words)

    def _as_released(self, words: Words) -> Changed:
        for tool, name, older in _OLDER:
            if words[0] == tool and self.lacks(name):
                changed = older(self, words)
                if not isinstance(changed, tuple):
                    return changed
                words = changed
        return words

    def with_login(self, words: Words) -> Words:
        """Name the file of the administrator's login where the listener that is asked needs one, and where none does, do not."""
        option = _LOGIN.get(words[0], _COMMAND_CONFIG)
        at = _value_of(words, _SERVER) or _value_of(words, _CONTROLLER)
        if at is None:
            return words
        needed = self.controllers if words[at - 1] == _CONTROLLER else self._protocols_at(words[at])
        if needed == {_OPEN}:
            return _without(words, (option, _ADMIN))
        if not needed or option in words or _COMMAND_CONFIG in words:
            return words
        return (*words[: at + 1], option, _ADMIN, *words[at + 1 :])

    def _protocols_at(self, address: str) -> frozenset[str]:
        """Return the protocol of an address; of a placeholder, those of the addresses that may stand for it."""
        if asked := self.protocols.get(address):
            return frozenset({asked})
        return self.asked or frozenset(filter(None, self.protocols.values()))


def _value_of(words: Words, option: str) -> int | None:
    """Return where the value of an option is, None without one."""
    at = words.index(option) + 1 if option in words else len(words)
    return at if at < len(words) else None


def _instead_of_server(words: Words, *instead: str) -> Words:
    """Return a command with other options in place of the broker's address and the login there."""
    at = _value_of(words, _SERVER)
    if at is None:
        return words
    rest = words[at + 1 :]
    return (*words[: at - 1], *instead, *(rest[2:] if rest[:1] == (_COMMAND_CONFIG,) else rest))


def _without(words: Words, pair: tuple[str, str]) -> Words:
    """Return a command without an option that has this value."""
    at = _value_of(words, pair[0])
    return words if at is None or words[at] != pair[1] else (*words[: at - 1], *words[at + 1 :])


def _election(tools: Tools, words: Words) -> Words:
    if "unclean" in words:
        at = _value_of(words, "--topic")
        topic = "TOPIC" if at is None else words[at]
        start = ("kafka-configs.sh", "--zookeeper", tools.zookeeper, "--alter", "--entity-type", "topics", "--entity-name")
        return (*start, topic, "--add-config", _UNCLEAN)
    some = () if "--all-topic-partitions" in words else ("--path-to-json-file", "partitions.json")
    return ("kafka-preferred-replica-election.sh", "--zookeeper", tools.zookeeper, *some)


def _reassignment(tools: Tools, words: Words) -> Words | CommentLine:
    if "--cancel" in words:
        return remark("kafka-reassign-partitions.sh of Kafka 2.6 or later")
    if "--list" in words:
        return ("zookeeper-shell.sh", tools.zookeeper, "get", "/admin/reassign_partitions")
    at = _value_of(words, _SERVER)
    if at is None or "--generate" in words or tools.lacks_login(words):
        return tools.by_zookeeper(words)
    # Plans are in ZooKeeper; a broker takes those that name log dirs, too.
    return (*words[: at - 1], "--zookeeper", tools.zookeeper, *words[at - 1 :])


def _log_dirs(tools: Tools, words: Words) -> Words | CommentLine:
    return remark("kafka-log-dirs.sh of Kafka 2.1 or later") if tools.lacks_login(words) else words


def _acls(tools: Tools, words: Words) -> Words:
    return _instead_of_server(words, "--authorizer-properties", f"zookeeper.connect={tools.zookeeper}")


def _in_sync_filter(_tools: Tools, words: Words) -> Words:
    older = {"--under-min-isr-partitions", "--at-min-isr-partitions"}
    return tuple("--under-replicated-partitions" if word in older else word for word in words)


def _settings_of(kind: str, words: Words) -> bool:
    at = _value_of(words, "--entity-type")
    return at is not None and words[at] == kind


def _topic_settings(tools: Tools, words: Words) -> Words:
    return tools.by_zookeeper(words) if _settings_of("topics", words) else words


def _users(tools: Tools, words: Words) -> Words:
    return tools.by_zookeeper(words) if _settings_of("users", words) else words


def _loggers(_tools: Tools, words: Words) -> Words | SettingLine:
    at = _value_of(words, "--add-config")
    if not _settings_of("broker-loggers", words) or at is None:
        return words
    logger, _, level = words[at].partition("=")
    return setting(f"log4j.logger.{logger}", level)


def _cluster_id(tools: Tools, words: Words) -> Words:
    if "cluster-id" not in words:
        return words
    by_log = tools.lacks("id_in_meta_properties")
    older = command("grep 'Cluster ID =' server.log" if by_log else "grep cluster.id LOG_DIR/meta.properties")
    return older.stages[0]


def _dry_run(_tools: Tools, words: Words) -> Words | CommentLine:
    if _DRY_RUN not in words:
        return words
    return remark(
        f"validate with kafka-features.sh of Kafka {behaviour('tool_dry_run').first} or later: older ones change the level"
    )


def _voters(_tools: Tools, words: Words) -> Words | CommentLine:
    if not {"add-controller", "remove-controller"} & {*words}:
        return words
    return remark(f"kafka-metadata-quorum.sh of Kafka {behaviour('tool_voters').first} or later")


def _by_broker(tools: Tools, words: Words) -> Words:
    """Return a command that asks a broker in place of a controller."""
    at = _value_of(words, _CONTROLLER)
    if at is None:
        return words
    login = _value_of(words, _COMMAND_CONFIG)
    rest = words[at + 1 :] if login is None else (*words[at + 1 : login - 1], *words[login + 1 :])
    return tools.with_login((*words[: at - 1], _SERVER, tools.server, *rest))


_OLDER: tuple[tuple[str, str, Callable[[Tools, Words], Changed]], ...] = (
    (_ELECTION, "tool_elections", _election),
    ("kafka-reassign-partitions.sh", "tool_reassignments", _reassignment),
    ("kafka-log-dirs.sh", "tool_logins_of_disks", _log_dirs),
    ("kafka-acls.sh", "tool_acls", _acls),
    ("kafka-topics.sh", "tool_min_isr_filters", _in_sync_filter),
    ("kafka-topics.sh", "tool_topics", Tools.by_zookeeper),
    ("kafka-configs.sh", "tool_loggers", _loggers),
    ("kafka-configs.sh", "tool_topic_settings", _topic_settings),
    ("kafka-configs.sh", "tool_users", _users),
    ("kafka-cluster.sh", "tool_cluster_id", _cluster_id),
    ("kafka-features.sh", "tool_dry_run", _dry_run),
    ("kafka-metadata-quorum.sh", "tool_voters", _voters),
    ("kafka-metadata-quorum.sh", "tool_asks_controllers", _by_broker),
)
"""A tool, the row of `behaviour.yaml` with what it is called with, and what an older release takes."""
