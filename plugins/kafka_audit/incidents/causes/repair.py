"""Steps that several causes share, with exact hosts, ports and files in them."""

from collections.abc import Iterable

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.model.advertised_listeners import parts
from kafka_audit.model.finding import Step
from kafka_audit.model.tables import EligibleReplicas, SourceRead
from kafka_audit.model.text import brokers, clean, listing, word


def connect_commands(endpoints: tuple[AdvertisedEndpoint, ...], limit: int = 10) -> tuple[str, ...]:
    """Return one `nc` command for each endpoint: it opens a connection, sends nothing, and prints the error."""
    return _connections((e.host, e.port) for e in endpoints[:limit])


def advertise(case: Case, *broken: tuple[AdvertisedEndpoint, str]) -> str:
    """Return the whole setting of one broker with addresses replaced: Kafka no longer advertises what it does not contain.

    If the whole setting is unknown, it is not invented: a comment describes the change.
    """
    broker, wanted = broken[0][0].broker_id, {endpoint.listener: address for endpoint, address in broken}
    setting = case.view.settings.get(broker, "advertised.listeners").value
    if setting is not None:
        reported = [*parts(setting)]
    else:  # in KRaft the other listeners are unknown
        own_endpoints = () if case.view.kraft else case.view.endpoints.of(broker)
        reported = [(e.listener, f"{e.listener}://{e.address}") for e in own_endpoints]
    if wanted.keys() <= {name for name, _ in reported}:
        replaced = (f"{clean(name)}://{wanted[name]}" if name in wanted else clean(part) for name, part in reported)
        return f"advertised.listeners={','.join(replaced)}"
    changes = ", ".join(f"the listener of port {endpoint.port} at {address}" for endpoint, address in broken)
    return f"# advertised.listeners of broker {broker}: {changes}, all others as they are"


def reconnect_commands(reads: Iterable[SourceRead], limit: int = 5) -> tuple[str, ...]:
    """Return one `nc` for each address that reads which failed were sent to, ZooKeeper's connection string taken apart."""
    return connect_commands_to(read.target for read in reads)[:limit]


def connect_commands_to(texts: Iterable[str]) -> tuple[str, ...]:
    """Return one `nc` for each address in these texts, connection strings taken apart."""
    return _connections(dict.fromkeys(address for text in texts for address in addresses_of(text)))


def _connections(addresses: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    return tuple(f"nc -vz -w 3 {word(host)} {port}" for host, port in addresses)


def zookeeper_shell(case: Case, *requests: str) -> tuple[str, ...]:
    """Return a command for each request, e.g. `ls /brokers/ids`, at the address (with its chroot) that the audit itself asked."""
    asked = [read.target for read in case.view.last_reads if read.observer == "zookeeper"]
    address = word(asked[0]) if asked else "<zookeeper.connect>"
    return tuple(f"zookeeper-shell.sh {address} {request}" for request in requests)


def prove(case: Case) -> Step:
    """Return the last step of every repair: ask again."""
    codes = sorted({root.code for root in case.roots})
    return Step(
        kind="prove",
        text=f"Audit again: exit 0, and {listing(codes)} resolved.",
        commands=(f"kafka-audit run {word(case.view.snapshot.cluster)} --config clusters.yaml --out DIR --fail-on high",),
    )


def do_not(text: str) -> Step:
    """Return a warning."""
    return Step(kind="do_not", text=text)


def last_in_sync(case: Case, them: str) -> tuple[Step, ...]:
    """Return what comes before the start of brokers that may hold the only records of partitions without a leader."""
    steps = (
        do_not(
            f"start {them} with an empty disk: partitions without leader may have their only records there. The broker would "
            "lead an empty log, and the followers truncate to it."
        ),
    )
    if not case.view.kraft:
        return steps
    text = (
        "See which brokers hold every acknowledged record. With eligible leader replicas (Kafka 4.0 and later) a broker in `Elr` "
        "does, although the ISR does not list it: start it first."
    )
    eligible = {broker for row in case.view.newest(EligibleReplicas) for broker in row.eligible}
    if eligible:
        text += f" Here: {brokers(eligible)}."
    command = "kafka-topics.sh --bootstrap-server <broker>:9092 --describe --unavailable-partitions"
    return (Step(kind="see", text=text, commands=(command,)), *steps)
