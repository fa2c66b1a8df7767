"""Certificates of the controllers' listener that are replaced: trust on every node first, then the key stores, one by one."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import product

from kafka_audit.clients.targets import CONTROLLER_LISTENER
from kafka_audit.compare.addresses import address_text
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.quorum.facts import QuorumFacts, files_are_read, gate_item, voters_follow
from kafka_audit.migration.quorum.planned_steps import PlannedStep, StepCommands, leader_last, one_by_one, while_one_restarts
from kafka_audit.model.commands import Line, command, remark
from kafka_audit.model.tables import Certificate
from kafka_audit.model.text import clean, listing, ranges

_TRUST = ("ssl.truststore.location", "ssl.truststore.certificates")
_KEYS = ("ssl.keystore.location", "ssl.keystore.certificate.chain")
_CLIENTS = "ssl.client.auth"


def controller_certificate_items(facts: QuorumFacts) -> Iterator[HeadedItem]:
    """Yield what stands against the rotation now."""
    yield from voters_follow(facts)
    if facts.tls is None:
        needs = "Needed: DescribeConfigs on Cluster, or server.properties of a node (`properties` in the cluster file)"
        yield gate_item("not_known", "KA412", "cluster", "Cannot determine whether the controllers' listener has TLS", needs)
    elif not facts.tls:
        remedy = "To introduce TLS is another change: `kafka-audit before-migration CLUSTER --kind listeners-or-security`."
        yield gate_item("blockers", "KA412", "cluster", "The controllers' listener has no TLS, so it has no certificate", remedy)
    yield from files_are_read(facts, facts.nodes, "the key and trust stores", whole=True)
    shared = [node for node in facts.voters if node in facts.view.inter_broker.brokers and _is_shared(facts, node)]
    if shared:
        message = (
            f"Brokers {listing(shared)} use one key store for all listeners: clients and brokers get the new certificate, too"
        )
        remedy = "Clients must trust the new CA first, or give the controllers' listener a key store of its own."
        yield gate_item("warnings", "KA412", f"broker/{shared[0]}", message, remedy)
    for row in sorted(controller_certificates(facts), key=lambda row: (row.host, row.port)):
        yield gate_item("information", "KA412", "cluster", f"Controllers show {clean(certificate_text(row), 1000)}")


def controller_certificates(facts: QuorumFacts) -> tuple[Certificate, ...]:
    """Return the certificates that addresses of controllers showed in the newest sample."""
    rows = facts.view.newest(Certificate)
    return tuple(row for row in rows if row.listener == CONTROLLER_LISTENER and row.broker_id < 0)


def certificate_text(row: Certificate) -> str:
    """Return what is shown at an address, by whom it was issued, and when it holds."""
    begin, end = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (row.not_before_ms, row.not_after_ms))
    where = address_text(row.host, row.port)
    return f"{where}: {row.subject} by {row.issuer}, {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M}"


def _is_shared(facts: QuorumFacts, node: int) -> bool:
    """Return whether a node's controller listener uses the key store of its other listeners."""
    names, keys = facts.listeners(node), facts.view.settings
    return (
        bool(names)
        and any(keys.get(node, key).known and facts.value(node, key) for key in _KEYS)
        and not any(facts.value(node, f"listener.name.{name.lower()}.{key}") for name in names for key in _KEYS)
    )


def _asks_clients(facts: QuorumFacts) -> bool:
    """Return whether a controller asks for certificates, or may do so."""
    asked = [facts.view.settings.at(node, name, _CLIENTS) for node in facts.voters for name in facts.listeners(node)[:1]]
    return not asked or any(found.value not in {None, "none"} or not found.known for found in asked)


def controller_certificate_steps(facts: QuorumFacts) -> Iterator[PlannedStep]:
    """Yield the steps; none where the listener has no TLS."""
    if facts.tls is False:
        return
    run = StepCommands(facts)
    controllers, brokers = leader_last(facts, facts.voters), facts.brokers
    restarts = f"{one_by_one(controllers, 'controller')}{', then on each broker' if brokers else ''}"
    yield PlannedStep(
        text=(
            f"{restarts}: add the new CA to the trust store of the controllers' listener, keep the old one, restart. Continue "
            "when the node follows without a lag."
        ),
        halfway=(
            "Nothing breaks: both certificates are trusted where the new CA was added, and no node shows a new one yet. "
            f"{while_one_restarts(facts)}"
        ),
        lines=(
            command("keytool -importcert -noprompt -alias NEW_CA -file new-ca.pem -keystore TRUST_STORE"),
            *_settings_named(facts, facts.nodes, _TRUST),
            run.replication(),
        ),
    )
    yield PlannedStep(
        text=f"Check that the trust store of each node holds the new CA: {listing(facts.nodes, 30)}.",
        halfway=(
            "A node that was left out refuses controllers with a new certificate: a voter does not follow them, and a broker is "
            "fenced as soon as such a controller leads."
        ),
        lines=(command("keytool -list -keystore TRUST_STORE -alias NEW_CA"),),
    )
    yield PlannedStep(
        text=(
            f"{one_by_one(controllers, 'controller')}: replace the key store of the controllers' listener, and restart. Continue "
            "when the controller follows without a lag and shows the new certificate."
        ),
        halfway=f"Controllers show old and new certificates, and every node trusts both. {while_one_restarts(facts)}",
        lines=(
            *_settings_named(facts, facts.voters, _KEYS),
            *(run("echo | openssl s_client -connect {address}", address=facts.address(node)) for node in controllers),
            run.replication(),
        ),
    )
    if _asks_clients(facts) and brokers:
        yield PlannedStep(
            text=(
                "If controllers require certificates of their clients (`ssl.client.auth`): replace each broker's key store, one "
                "at a time, and restart it. Names in `super.users` and ACLs must match the new subjects first."
            ),
            halfway="Brokers show old and new certificates. A subject without ClusterAction is refused: KA401.",
            lines=(run.replication(),),
        )
    yield PlannedStep(
        text="Remove the old CA from the trust stores, one node at a time, when no node shows a certificate that it issued.",
        halfway="A node with an old certificate is refused wherever the old CA is gone.",
        lines=(command("keytool -delete -alias OLD_CA -keystore TRUST_STORE"), run.replication()),
    )
    yield run.comparison("another certificate at each address of `controllers`, and all voters follow")


def _settings_named(facts: QuorumFacts, nodes: Iterable[int], keys: tuple[str, ...]) -> Iterator[Line]:
    """Yield where the stores of nodes are, as far as their files say so; nodes with the same place are one line."""
    found: dict[tuple[str, str], list[int]] = {}
    for node in nodes:
        for name, key in product(facts.listeners(node)[:1], keys):
            if place := facts.view.settings.at(node, name, key).value:
                found.setdefault((key, place), []).append(node)
    for (key, place), users in found.items():
        yield remark("{key} is {place} at nodes {users}", key=key, place=place, users=ranges(users).replace(" ", ""))
