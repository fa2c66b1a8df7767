"""Whether controllers follow unclean.leader.election.enable, and its value for topics without a setting of their own."""

from collections.abc import Collection, Iterable, Mapping

from kafka_audit.cluster.settings import Settings
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.tables import BrokerConfig, FileRelease
from kafka_audit.model.tables.views import DEFAULT_SOURCE

UNCLEAN = "unclean.leader.election.enable"
_VERSION = "inter.broker.protocol.version"
FOR_ALL = 3
"""Kafka's ConfigSource: DYNAMIC_DEFAULT_BROKER_CONFIG, which controllers use as well."""


def not_yet_used(view: ClusterView) -> bool:
    """Return whether every broker is known to be of a release of KRaft whose controllers ignore the setting."""
    return view.kraft and ignored_by_all(view.of(FileRelease), view.settings.answers, view.inter_broker.brokers)


def ignored_by_all(
    files: Iterable[FileRelease], answers: Mapping[int, Mapping[str, BrokerConfig]], brokers: Collection[int]
) -> bool:
    """Return whether every broker of a KRaft cluster is known to be of a release whose controllers ignore the setting.

    What release dedicated controllers run is not read; they are taken for alike. Lint gives the release of each file.
    """
    follows = behaviour("unclean_by_setting").holds_in
    given = [version_numbers(row.version) for row in files]
    if given:
        return follows(given) is False
    rows = [answers.get(broker, {}).get(_VERSION) for broker in brokers]
    minors = [row.value.partition("-")[0] for row in rows if row is not None and row.value and row.source == DEFAULT_SOURCE]
    known = [version_numbers(minor) for minor in minors if minor.replace(".", "").isdecimal()]
    return len(known) == len(rows) and follows(known) is False


def default_of_topics(settings: Settings, brokers: Collection[int], voters: Collection[int], *, kraft: bool) -> bool | None:
    """Return the value for topics without a setting of their own; None where those that may elect differ, or were not read.

    The controller decides by its own setting: with ZooKeeper any broker may be it, in KRaft the voters. A default of all brokers
    that was set at run time holds for each of them.
    """
    rows = (settings.answers.get(broker, {}).get(UNCLEAN) for broker in brokers)
    if any(row is not None and row.source == FOR_ALL and _is_true(row.value) for row in rows):
        return True
    electing = (voters or settings.with_controller_role) if kraft else brokers
    found = [settings.running(node, UNCLEAN) for node in electing]
    values = {_is_true(setting.value) if setting.known else None for setting in found}
    return values.pop() if len(values) == 1 else None


def _is_true(value: str | None) -> bool:
    return (value or "").strip().lower() == "true"
