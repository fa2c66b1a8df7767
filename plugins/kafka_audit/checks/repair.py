"""Steps that several causes share, with exact hosts, ports and files in them."""

from collections.abc import Iterable

from kafka_audit.checks import ClusterView
from kafka_audit.checks.incident import Case
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.releases import releases
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.addresses.advertised_listeners import parts
from kafka_audit.model.commands import Command, CommentLine, Line, command, remark, setting
from kafka_audit.model.finding import Step
from kafka_audit.model.tables import EligibleReplicas, SourceRead
from kafka_audit.model.text import brokers, clean, listing

_ELIGIBLE = (4, 0)
"""The release from which on Kafka has eligible leader replicas."""


def connect_commands(endpoints: tuple[AdvertisedEndpoint, ...], limit: int = 10) -> tuple[Command, ...]:
    """Return one `nc` command for each endpoint: it opens a connection, sends nothing, and prints the error."""
    return _connections((e.host, e.port) for e in endpoints[:limit])


def handshake_commands(endpoints: Iterable[AdvertisedEndpoint]) -> tuple[Command, ...]:
    """Return what shows the handshake and the certificate at each endpoint: where a connection opens, `nc` says nothing more."""
    return tuple(
        command(
            "echo | openssl s_client -connect {address} -servername {host} -verify_hostname {host}",
            address=e.address,
            host=e.host,
        )
        for e in endpoints
    )


def advertise(case: Case, *broken: tuple[AdvertisedEndpoint, str]) -> tuple[Line, ...]:
    """Return the whole setting of one broker with addresses replaced: Kafka no longer advertises what it does not contain.

    A comment names the broker. If the whole setting is unknown, it is not invented: the comment describes the change.
    """
    broker, wanted = broken[0][0].broker_id, {endpoint.listener: address for endpoint, address in broken}
    held = case.view.settings.get(broker, "advertised.listeners").value
    if held is not None:
        reported = [*parts(held)]
    else:  # in KRaft the other listeners are unknown
        own_endpoints = () if case.view.kraft else case.view.endpoints.of(broker)
        reported = [(e.listener, f"{e.listener}://{e.address}") for e in own_endpoints]
    if wanted.keys() <= {name for name, _ in reported}:
        replaced = (f"{name}://{wanted[name]}" if name in wanted else part for name, part in reported)
        return server_properties(broker), setting("advertised.listeners", ",".join(replaced))
    changes = ", ".join(
        f"the listener of port {endpoint.port} at {{address_{number}}}" for number, (endpoint, _) in enumerate(broken)
    )
    addresses = {f"address_{number}": address for number, (_, address) in enumerate(broken)}
    return (remark(f"advertised.listeners of broker {broker}: {changes}, all others as they are", **addresses),)


def server_properties(broker: int) -> CommentLine:
    """Return the comment before settings of one broker."""
    return remark("server.properties of broker {broker}", broker=broker)


def reconnect_commands(reads: Iterable[SourceRead], limit: int = 5) -> tuple[Command, ...]:
    """Return one `nc` for each address that reads which failed were sent to, ZooKeeper's connection string taken apart."""
    return connect_commands_to(read.target for read in reads)[:limit]


def srvr_commands(members: Iterable[str], limit: int = 5) -> tuple[Command, ...]:
    """Return what asks servers of ZooKeeper for their state: one that hangs takes the connection, so a deadline ends it."""
    places = [place for member in members for place in addresses_of(member)][:limit]
    return tuple(command("echo srvr | nc -w 3 {host} {port}", host=host, port=port) for host, port in places)


def connect_commands_to(texts: Iterable[str]) -> tuple[Command, ...]:
    """Return one `nc` for each address in these texts, connection strings taken apart."""
    return _connections(dict.fromkeys(address for text in texts for address in addresses_of(text)))


def _connections(addresses: Iterable[tuple[str, object]]) -> tuple[Command, ...]:
    return tuple(command("nc -vz -w 3 {host} {port}", host=host, port=port) for host, port in addresses)


def prove(case: Case) -> Step:
    """Return the last step of every repair: ask again."""
    codes = sorted({root.code for root in case.roots})
    return Step(
        kind="prove",
        text=f"Audit again with the same options: {listing(codes)} resolved; exit 0 when no other incident is left.",
        # No options: another store has no earlier report, so that nothing would be resolved in it.
        commands=(command("kafka-audit run {cluster}", cluster=case.view.snapshot.cluster),),
    )


def do_not(text: str) -> Step:
    """Return a warning."""
    return Step(kind="do_not", text=text)


def last_in_sync(case: Case, them: str) -> tuple[Step, ...]:
    """Return what comes before the start of brokers that may hold the only records of partitions without a leader."""
    empty = f"start {them} with an empty disk: "
    lost, alone = [one for one in case.explained if one.code == "KA601"], single_copies(case)
    if alone and len(alone) == len(lost):
        steps = (do_not(f"{empty}{listing(alone, 3)} {'has' if len(alone) == 1 else 'have'} no other replica."),)
    else:
        steps = (
            do_not(
                f"{empty}partitions without leader may have their only records there. The broker would lead an empty log, and "
                "the followers truncate to it."
            ),
        )
    if not case.view.kraft:
        return steps
    text = "See which brokers hold every acknowledged record: those in `Isr`."
    if _may_have_eligible_replicas(case.view):
        text = (
            "See which brokers hold every acknowledged record. With eligible leader replicas (Kafka 4.0 and later) a broker in "
            "`Elr` does, although the ISR does not list it: start it first."
        )
    waited_for = {broker for row in case.view.newest(EligibleReplicas) if row.leader is None for broker in row.eligible}
    eligible = waited_for - set(case.view.brokers)  # one that is in service would lead if it could
    if eligible:
        text += f" Here: {brokers(eligible)}."
    commands = (command("kafka-topics.sh --bootstrap-server BROKER:9092 --describe --unavailable-partitions"),)
    return (Step(kind="see", text=text, commands=commands), *steps)


def single_copies(case: Case) -> tuple[str, ...]:
    """Return the partitions without leader that have no other replica than that on a broker of the case."""
    lost = (one for one in case.explained if one.code == "KA601" and len(one.numbers("replicas")) == 1)
    places = (one.resource.topic_partition for one in lost)
    return tuple(f"{clean(place[0])}-{place[1]}" for place in places if place)


def _may_have_eligible_replicas(view: ClusterView) -> bool:
    """Return whether a broker is of Kafka 4.0 or later, or of a release that is not known."""
    known = [releases(view, broker) for broker in view.brokers]
    return not known or any(not found or version_numbers(found[-1]) >= _ELIGIBLE for found in known)


def zookeeper_address(view: ClusterView) -> str:
    """Return the address (with its chroot) at which the audit asked ZooKeeper."""
    return view.derived(_asked_zookeeper)


def _asked_zookeeper(view: ClusterView) -> str:
    asked = next((read.target for read in view.last_reads if read.observer == "zookeeper"), "-")
    return "ZOOKEEPER:2181" if asked.startswith("-") else asked
