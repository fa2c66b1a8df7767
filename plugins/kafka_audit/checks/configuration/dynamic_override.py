"""KA702."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown
from kafka_audit.checks.configuration.overrides import faults_of, overrides, told
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig


@check(
    code="KA702",
    severity=Severity.MEDIUM,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} runs with a dynamic {key}={value}, {fault}",
        Status.PASS: "Broker {broker} runs with {count} dynamic settings, none of them against its file or on some brokers only",
        Status.UNKNOWN: "Cannot determine whether dynamic settings change what {who} runs with ({error})",
    },
)
def dynamic_override(view: ClusterView) -> Iterator[Judgement]:
    """A dynamic setting contradicts server.properties, or holds on some brokers only.

    ## Why it matters
    A dynamic setting outlives every restart and wins over the file, which then says what is not so: whoever changes the file
    changes nothing. On some brokers only, it is mostly what an experiment or a night of firefighting left.

    ## Fails when
    A setting of `/config/brokers` (KRaft: what DescribeConfigs calls dynamic) has another value than the broker's
    server.properties sets. Or a broker has one of its own that another broker has not, or has otherwise; addresses, key stores
    and throttles of a reassignment are a broker's own by nature.

    ## Not known when
    Neither ZooKeeper's `/config/brokers` nor DescribeConfigs of the broker was read, or the broker has dynamic settings and its
    server.properties was not read.

    ## Passes only when
    There is none, or all brokers have it and no file says otherwise. A file that leaves the key out does not contradict it.

    ## What to do
    See them: `kafka-configs.sh --bootstrap-server <broker>:9092 --describe --entity-type brokers --entity-name {broker}`.

    It holds for {scope}. If {key}={value} is meant, write it into server.properties of all brokers as well. Then, or if it is not
    meant, take the dynamic one away, which takes effect at once. That of one broker: `kafka-configs.sh
    --bootstrap-server <broker>:9092 --alter --entity-type brokers --entity-name {broker} --delete-config {key}`. That of all: the
    same with `--entity-default` instead of `--entity-name {broker}`.

    With eligible leader replicas (KIP-966; Kafka 4.0, on in new clusters from 4.1) `min.insync.replicas` of all brokers cannot be
    deleted: set it with `--entity-default --add-config min.insync.replicas=<number>`. The value in server.properties has no
    effect there.

    ## References
    KIP-226 (dynamic broker configuration); Kafka documentation, "Updating Broker Configs".
    """
    effective = Effective(view)
    found = {broker: overrides(effective, broker) for broker in effective.brokers if told(effective, broker)}
    for broker in effective.brokers:
        if broker not in found:
            error, needs = "dynamic settings were not read", "read on /config/brokers in ZooKeeper, or DescribeConfigs on Cluster"
            yield unknown(effective, "KA702", broker, error, needs)
            continue
        faults = [one for override in found[broker].values() for one in faults_of(effective, found, broker, override)]
        yield from faults
        if found[broker] and broker not in effective.settings.files and not faults:
            needs = f"server.properties of broker {broker} (`properties` in the cluster file)"
            yield unknown(effective, "KA702", broker, "it has dynamic settings, and its file was not read", needs)
        elif not faults:
            count = len(found[broker]) or "no"
            yield view.judge("KA702", f"broker/{broker}", Status.PASS, broker=broker, count=count)
    yield from no_brokers(view, "KA702")
