"""Whether controllers follow unclean.leader.election.enable, for KA704 and KA711."""

from kafka_audit.checks.configuration.versions import KEY
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.tables import FileRelease

UNCLEAN = "unclean.leader.election.enable"
_SINCE = (3, 9)
_DEFAULT_SOURCE = 5  # Kafka's ConfigSource: DEFAULT_CONFIG, which is the version of the software


def not_yet_used(view: ClusterView) -> bool:
    """Return whether every broker is known to be of a release of KRaft whose controllers ignore the setting.

    `ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic` returns false up to 3.8. What release dedicated controllers
    run is not read; they are taken for alike. Lint gives the release of each file.
    """
    given = [version_numbers(row.version) for row in view.of(FileRelease)]
    if given:
        return view.kraft and all(release < _SINCE for release in given)
    answers = view.settings.answers
    rows = [answers.get(broker, {}).get(KEY) for broker in view.inter_broker.brokers]
    minors = [row.value.partition("-")[0] for row in rows if row is not None and row.value and row.source == _DEFAULT_SOURCE]
    known = [tuple(map(int, minor.split("."))) for minor in minors if minor.replace(".", "").isdecimal()]
    return view.kraft and bool(known) and len(known) == len(rows) and all(release < _SINCE for release in known)
