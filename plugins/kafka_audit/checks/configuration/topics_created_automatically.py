"""KA705."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

_KEY = "auto.create.topics.enable"


@check(
    code="KA705",
    severity=Severity.LOW,
    by_files=True,
    says={
        Status.FAIL: "Topics are created automatically at {who}: {key} is true ({why})",
        Status.PASS: "Broker {broker} does not create topics automatically ({source})",
        Status.UNKNOWN: "Cannot determine whether {who} creates topics automatically ({error})",
    },
)
def topics_created_automatically(view: ClusterView) -> Iterator[Judgement]:
    """Brokers create topics automatically when a client uses them.

    ## Why it matters
    A misspelt name becomes a topic with default partitions and replicas, and records go there unnoticed. A deleted topic that
    clients still use is created again, empty.

    ## Fails when
    `auto.create.topics.enable` in effect is true, which is the default.

    ## Not known when
    The settings of the broker were not read (DescribeConfigs or server.properties).

    ## Passes only when
    It is false.

    ## What to do
    Make sure that clients that rely on it create topics by other means (Kafka Streams and Connect do this themselves). Then set
    `{key}=false` on all brokers, including {who}, and restart them one at a time: the setting is not dynamic.

    ## References
    KIP-361 (consumers can disable it); Kafka documentation, "Broker Configs".
    """
    effective = Effective(view)
    yield from unread_judgements(effective, "KA705")
    yield from one_finding(view, "KA705", _judged(effective))


def _judged(effective: Effective) -> Iterator[Judgement]:
    for broker in filter(effective.was_read, effective.brokers):
        found = effective.get(broker, _KEY)
        if not found.known:
            yield unknown_judgement(effective, "KA705", broker, f"{_KEY} is unknown")
            continue
        why = f"set in {found.source}" if found.explicit else "Kafka's default"
        evidence = {"broker": broker, "who": f"broker {broker}", "key": _KEY, "why": why, "source": found.source}
        yield effective.view.judge("KA705", f"broker/{broker}", Status.FAIL if found.true else Status.PASS, evidence)
