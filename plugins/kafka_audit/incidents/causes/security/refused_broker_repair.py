"""Repair of KA401, KA403 and KA412, with the exact principal, the broker that takes the command, and the lines of each file."""

from collections.abc import Iterable

from kafka_audit.configuration.acl_command import acl_command
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, CLUSTER
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.incidents.causes.candidates import handshake, login_log, rights_log
from kafka_audit.incidents.causes.repair import do_not, prove, server_properties
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.incidents.tools import zookeeper_address
from kafka_audit.model.commands import Command, Line, command, continued, remark, setting
from kafka_audit.model.finding import Finding, Status, Step
from kafka_audit.model.text import brokers, clean

_FIRST = 5


def refused_steps(case: Case) -> tuple[Step, ...]:
    """Return what to see, the quick and the lasting repair, the proof, and what makes it worse."""
    if case.roots[0].code == "KA412":
        return (_see_login(case), *_login(case), prove(case), *_login_warnings())
    if other_rules(case):
        return (_see_rights(case), _rules(case), prove(case), *_rights_warnings(case))
    repair = _take_away(case) if case.roots[0].code == "KA403" else _give(case)
    lasting = (*_super_users(case), *_listener(case))
    return (_see_rights(case), *repair, *lasting, prove(case), *_rights_warnings(case))


def other_rules(case: Case) -> tuple[Finding, ...]:
    """Return the findings that mapping rules of the case's brokers differ, where these derive the principal that is refused."""
    if case.roots[0].code != "KA401":
        return ()
    failed = [finding for finding in case.findings if finding.status is Status.FAIL and finding.resource.broker in case.brokers]
    derived = {finding.resource.broker for finding in failed if finding.code == "KA404"}
    differ = [finding for finding in failed if finding.code == "KA701" and finding.text("key") == SSL_RULES]
    return tuple(differ) if {finding.resource.broker for finding in differ} == derived == {*case.brokers} else ()


def _rules(case: Case) -> Step:
    commands: list[Line] = []
    for finding in other_rules(case)[:_FIRST]:
        broker, own = finding.resource.broker, finding.text("value")
        commands += [
            remark("server.properties of broker {broker} which has {own}", broker=broker, own=own),
            setting(SSL_RULES, finding.text("usual")),
        ]
    return Step(
        kind="lasting",
        text=f"Give {brokers(case.brokers)} the {SSL_RULES} of the other brokers; Kafka reads them only at start.",
        commands=tuple(commands),
        cost="A restart; leaders move and move back. Clients with a certificate then have another principal there.",
    )


def acl_tool(case: Case) -> Command:
    """Return kafka-acls.sh pointed where it works: a broker whose view is filled, else ZooKeeper itself (not in 4.x)."""
    view = case.view
    filled = [b for b in view.named_brokers if view.views_of(b) and b not in case.empty and view.endpoints.of(b)]
    if filled:
        other = [b for b in filled if b not in case.brokers] or filled
        address = view.endpoints.of(other[0])[-1].address
        return command("kafka-acls.sh --bootstrap-server {address} --command-config admin.properties", address=address)
    asked = [read.target for read in view.last_reads if read.observer == "zookeeper"]
    if not view.zookeeper_read and not asked:
        return command("kafka-acls.sh --bootstrap-server BROKER_THAT_LISTS_BROKERS:9092 --command-config admin.properties")
    return command("kafka-acls.sh --authorizer-properties {zookeeper}", zookeeper=f"zookeeper.connect={zookeeper_address(view)}")


def principals(case: Case) -> tuple[str, ...]:
    """Return the principals that have no right, a placeholder where none is known."""
    names = dict.fromkeys(principal for root in case.roots for principal in root.texts("principal"))
    return tuple(names) or ("User:INTER_BROKER_USER",)


def _see_rights(case: Case) -> Step:
    line = "grep CLUSTER_AUTHORIZATION_FAILED server.log" if case.view.kraft else "grep 'Received error' state-change.log"
    return Step(
        kind="see",
        text=f"See it yourself (reads only): {rights_log(case)}, server.log and kafka-authorizer.log of {brokers(case.brokers)}, "
        "and the ACLs. The line about the request names principal and listener.",
        commands=(
            command(f"{line} | tail -3"),
            command("grep -A1 'handling request' server.log | tail -4"),
            command("grep 'is Denied' kafka-authorizer.log | grep -i ClusterAction | tail -3"),
            continued(acl_tool(case), "--list --cluster"),
        ),
    )


def _give(case: Case) -> Iterable[Step]:
    names = principals(case)
    cost = f"Refused updates are not retried; a restart of {brokers(case.brokers)} is required."
    if ANONYMOUS in names:
        cost += " Any client that connects to that listener can then act as a broker: keep this for an hour, not permanently."
    yield Step(
        kind="quick",
        text=f"Give the right by an ACL, then restart {brokers(case.brokers)}"
        + (
            "."
            if not _empty(case)
            else f". Send the command to another broker or to ZooKeeper; {brokers(case.brokers)} cannot process it."
        ),
        commands=tuple(acl_command(name, "ClusterAction", CLUSTER, tool=acl_tool(case)) for name in names[:_FIRST]),
        cost=cost,
    )


def _empty(case: Case) -> bool:
    return not case.empty.isdisjoint(case.brokers)


def _take_away(case: Case) -> Iterable[Step]:
    names, between = {*principals(case), ANY_PRINCIPAL}, case.view.inter_broker
    found = dict.fromkeys(
        acl
        for broker in case.brokers
        for acl in between.acls(broker) or ()
        if (acl.permission, acl.resource_type) == ("DENY", "Cluster")
        and acl.operation in {"ClusterAction", "All"}
        and acl.principal in names
    )
    yield Step(
        kind="quick",
        text=f"Remove the ACLs that deny it, then restart {brokers(case.brokers)}; another ALLOW does not help.",
        commands=tuple(
            acl_command(acl.principal, acl.operation, CLUSTER, tool=acl_tool(case), host=acl.host, permission="DENY", remove=True)
            for acl in list(found)[:_FIRST]
        ),
        cost="Other principals that these ACLs denied are no longer denied: deny them by name.",
    )


def _super_users(case: Case) -> Iterable[Step]:
    """Name the principal in super.users, unless every client without a login has it."""
    names = [name for name in principals(case)[:_FIRST] if name != ANONYMOUS]
    if not names:
        return
    commands: list[Line] = []
    for broker in case.brokers[:_FIRST]:
        known = case.view.inter_broker.super_users(broker)
        present = ["AS_IT_IS_NOW"] if known is None else sorted(known)
        line = ";".join([*present, *names])
        commands += [server_properties(broker), setting("super.users", line)]
    single = len(case.brokers) == 1
    yield Step(
        kind="lasting",
        text=f"Add the inter-broker principal to super.users of {brokers(case.brokers)}, as on every broker; "
        f"it is read only at start{'' if single else ', so restart one after the other'}.",
        commands=tuple(commands),
        cost="A restart; leaders move and move back.",
    )


def _listener(case: Case) -> Iterable[Step]:
    """Offer a listener with authentication for brokers, if every client is ANONYMOUS."""
    if ANONYMOUS not in principals(case):
        return
    own_endpoints = [e for b in case.brokers for e in case.view.endpoints.of(b) if (e.protocol or "").startswith("SASL")]
    if not own_endpoints:
        text = (
            "Add a listener with a login for brokers, and its JAAS configuration, to every broker; then make it the inter-broker "
            "listener (inter.broker.listener.name). This is better than rights for ANONYMOUS."
        )
        yield Step(kind="lasting", text=text, cost="Two rolling restarts of all brokers.")
        return
    yield Step(
        kind="lasting",
        text="Use an inter-broker listener with a login on every broker; this is better than rights for ANONYMOUS.",
        commands=(
            setting("inter.broker.listener.name", own_endpoints[0].listener),
            setting("sasl.mechanism.inter.broker.protocol", "ONE_OF_SASL_ENABLED_MECHANISMS"),
            setting("super.users", "AS_IT_IS_NOW;User:USER_OF_THE_BROKERS"),
            remark("and no security.inter.broker.protocol: Kafka refuses both together"),
        ),
        cost="A rolling restart of all brokers; a broker without that login in its JAAS configuration does not start.",
    )


def _rights_warnings(case: Case) -> Iterable[Step]:
    if ANONYMOUS in principals(case):
        yield do_not(f"add {ANONYMOUS} to super.users: every client without a login becomes a super user.")
    yield do_not("set allow.everyone.if.no.acl.found: it opens the cluster to every client.")
    if case.view.zookeeper_read:
        yield do_not("rely on `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it reads only ZooKeeper.")


def _see_login(case: Case) -> Step:
    shows = [handshake(e) for e in case.endpoints[:_FIRST] if e.protocol in {"SSL", "SASL_SSL", None}]
    return Step(
        kind="see",
        text=f"See it yourself (reads only): {login_log(case)}, newest lines, and what is shown there.",
        commands=(
            command("grep -E 'Authentication failed|SSL handshake failed|Failed to map name' server.log | tail -3"),
            *shows,
        ),
    )


def _login(case: Case) -> Iterable[Step]:
    repairs = dict.fromkeys(root.text("repair") for root in case.roots)
    kinds = {root.text("kind") for root in case.roots}
    texts = [clean(text) for text in repairs if text]
    restart = f"A restart of {brokers(case.brokers)}: running brokers take no other login, only certificates and SCRAM users."
    costs = {"certificate": "None: the running broker reads the keystore.", "clock": "None: each handshake reads the clock."}
    yield Step(
        kind="quick",
        text=f"Repair the login: {'; '.join(texts[:_FIRST]) or 'compare users, passwords and certificates with the others'}.",
        commands=tuple(_keystore(case)) if "certificate" in kinds else (),
        cost=f"{costs.get(next(iter(kinds)) or '', restart) if len(kinds) == 1 else restart} "
        "The controller sends a failed update again with its next connection.",
    )


def _keystore(case: Case) -> Iterable[Line]:
    for endpoint in case.endpoints[:_FIRST]:
        yield remark(
            "keystore with a certificate for {host} that the running broker {broker} reads again",
            host=endpoint.host,
            broker=endpoint.broker_id,
        )
        yield command(
            "kafka-configs.sh --bootstrap-server BROKER:9092 --command-config admin.properties --alter --entity-type brokers "
            "--entity-name {broker} --add-config listener.name.{listener}.ssl.keystore.location=KEYSTORE",
            broker=endpoint.broker_id,
            listener=endpoint.listener.lower(),
        )


def _login_warnings() -> Iterable[Step]:
    yield do_not("turn ssl.endpoint.identification.algorithm off: any certificate of that CA could then act as a broker.")
