"""KA702."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement
from kafka_audit.checks.configuration.overrides import dynamic_overrides, faults_of, overrides_were_read
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
        Status.FAIL: "Broker {broker} has a dynamic {key}={value}, {fault}",
        Status.PASS: "Broker {broker} has {count:# dynamic setting|# dynamic settings}; all agree with its file and "
        "with the other brokers",
        Status.UNKNOWN: "Cannot determine whether dynamic settings override the configuration of {who} ({error})",
    },
)
def dynamic_override(view: ClusterView) -> Iterator[Judgement]:
    """A dynamic setting contradicts server.properties, or is set on some brokers only.

    ## Why it matters
    A dynamic setting survives restarts and overrides the file. Changes to the file then have no effect. A dynamic setting on
    some brokers only is usually left from a test or an incident.

    ## Fails when
    A setting in `/config/brokers` (KRaft: a setting that DescribeConfigs reports as dynamic) has a different value than the
    broker's server.properties. Or a broker has its own dynamic setting that another broker lacks or has with a different value.
    Addresses, keystores and throttles of a reassignment are specific to a broker and do not count.

    ## Not known when
    The dynamic settings were not read (`/config/brokers` in ZooKeeper or DescribeConfigs). Or the broker has dynamic settings and
    its server.properties was not read.

    ## Passes only when
    There are no dynamic settings, or all brokers have them and no file contradicts them. A file without the key does not
    contradict it.

    ## What to do
    To see the settings, run `kafka-configs.sh --bootstrap-server BROKER:9092 --describe --entity-type brokers --entity-name
    {broker}`.

    The setting applies to {scope}. If `{key}={value}` is intended, add it to server.properties of all brokers. Then, or if it is
    not intended, delete the dynamic setting; this takes effect immediately. For one broker run `kafka-configs.sh
    --bootstrap-server BROKER:9092 --alter --entity-type brokers --entity-name {broker} --delete-config {key}`. For all
    brokers use `--entity-default` instead of `--entity-name {broker}`.

    With eligible leader replicas (KIP-966; Kafka 4.0, on in new clusters from 4.1) `min.insync.replicas` of all brokers cannot be
    deleted: set it with `--entity-default --add-config min.insync.replicas=NUMBER`. The value in server.properties has no
    effect there.

    ## References
    KIP-226 (dynamic broker configuration); Kafka documentation, "Updating Broker Configs".
    """
    effective = Effective(view)
    found = {
        broker: dynamic_overrides(effective, broker) for broker in effective.brokers if overrides_were_read(effective, broker)
    }
    for broker in effective.brokers:
        if broker not in found:
            error, needs = "dynamic settings were not read", "read on /config/brokers in ZooKeeper, or DescribeConfigs on Cluster"
            yield unknown_judgement(effective, "KA702", broker, error, needs)
            continue
        faults = [judgement for override in found[broker].values() for judgement in faults_of(effective, found, broker, override)]
        yield from faults
        if found[broker] and broker not in effective.settings.files and not faults:
            needs = f"server.properties of broker {broker} (`properties` in the cluster file)"
            yield unknown_judgement(effective, "KA702", broker, "it has dynamic settings, and its file was not read", needs)
        elif not faults:
            count = len(found[broker]) or "no"
            yield view.judge("KA702", f"broker/{broker}", Status.PASS, broker=broker, count=count)
    yield from no_brokers(view, "KA702")
