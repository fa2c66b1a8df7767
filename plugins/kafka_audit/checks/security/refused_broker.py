"""The incidents of KA401, KA403 and KA412: a broker is reachable, but refuses other brokers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kafka_audit.checks import log_quotes
from kafka_audit.checks.candidates import edges_of
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.checks.repair import server_properties, zookeeper_address
from kafka_audit.configuration.acl_command import acl_command
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, CLUSTER
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.faults.fault import known_faults
from kafka_audit.model.commands import Command, Line, command, continued, remark, setting
from kafka_audit.model.finding import Evidence, Finding, Severity, Status
from kafka_audit.model.tables import Acl
from kafka_audit.model.text import brokers, clean
from kafka_audit.words.sentences import fill

_FIRST = 5
_STALE = {"KA101", "KA102"}
_HANDSHAKE, _CERTIFICATE = "handshake", "invalid_certificate"


def reported(case: Case, key: str) -> tuple[str, ...]:
    """Return the texts of the roots under a key of their evidence, each of them once."""
    texts = (text for root in case.roots for text in (root.text(key), *root.texts(key)) if text)
    return tuple(dict.fromkeys(map(clean, texts)))


def _sources(case: Case) -> set[int]:
    """Return the brokers that are refused."""
    return {source for root in case.roots for source in root.numbers("from")}


def concerns_its_user(case: Case, symptom: Finding) -> bool:
    """Explain super users that differ in the very user that is refused, at whichever broker that was seen."""
    differ = {*symptom.texts("lacks"), *symptom.texts("more")}
    return any(principal in differ for root in case.roots for principal in root.texts("principal"))


def refusal(case: Case) -> StoryFacts:
    """Return the facts: the refusing broker, the refused broker, its principal there, and the remedy."""
    code, other_rules = case.roots[0].code, _differing_rules(case)
    codes, controller, sources = (("KA412",) if code == "KA412" else ("KA401",)), case.view.controller, _sources(case)
    partitions, by_controller = case.view.partitions, controller is not None and (controller in sources or not sources)
    # A broker that was let in before is refused at the next connection or change only.
    now = [root for root in case.roots if root.severity is Severity.CRITICAL]
    failing = replace(case, roots=tuple(now)) if now else case
    refusing = failing.brokers
    down = [broker for broker in case.brokers if broker not in refusing and not case.own_view(broker)]
    facts: dict[str, object] = {
        "shows": bool(now),
        "refusing": refusing,
        "down": tuple(down),
        "later": tuple(broker for broker in case.brokers if broker not in down and not (now and broker in refusing)),
        "granted": _granted(case),
        "anew": by_controller and bool(now) and len(refusing) > 1,
        "idle": tuple(broker for broker in refusing if broker in case.empty) if not case.empty.issuperset(refusing) else (),
        "by_controller": by_controller,
        "itself": refusing == (controller,),
        "others": case.view.kraft or not sources,
        "sources": tuple(sources),
        "principals": reported(case, "principal"),
        "lacks_right": code == "KA401",
        "other_rules": bool(other_rules),
        "reasons": _reasons(case),
        "kinds": reported(case, "kind"),
        "hidden": _hidden(case),
        "led": 0 if case.view.kraft else partitions.led_by(case.empty.intersection(case.brokers)),
        "partitions": partitions.count.partitions,
        "stale": any(finding.code in _STALE for finding in case.explained),
        "by_log": bool(log_quotes.counting_lines(case, codes)),
        "rivals": " or ".join(reported(case, "rivals")),
    }
    return StoryFacts(
        facts=facts | (_repair_of_login(case) if code == "KA412" else _repair_of_rights(case)),
        evidence=(
            *evidence_of(case.roots),
            *evidence_of(other_rules),
            *log_quotes.evidence(case, codes),
            *_ways(case),
            *evidence_of([f for f in case.explained if f not in case.roots], 5),
            *_let_in_elsewhere(case),
        ),
        against=_registry_looks_whole(case),
        confidence=failing.confidence(),
        edges=edges_of(case),
        cause="KA404" if other_rules else None,
    )


def _reasons(case: Case) -> list[str]:
    """Return why a login fails, for a headline, the most exact one first; a reason comes before a handshake without one."""
    kinds, several = sorted(reported(case, "kind"), key=_HANDSHAKE.__eq__), len(case.brokers) > 1
    templates = {fault.name: fault.reason for fault in known_faults()} | {_HANDSHAKE: "TLS handshakes fail"}
    user = bool(_scram_users(case))
    reasons = [fill(templates[kind], {"several": several, "user": user}) for kind in kinds if kind in templates]
    why = [] if several or not kinds else reported(case, "why")
    return [*(part for text in why for part in (text, text.partition(" (")[0])), *filter(None, reasons)]


def _ways(case: Case) -> Iterable[Evidence]:
    """Return the listener, the address and the principal."""
    between, controller = case.view.inter_broker, case.view.controller
    for broker in case.brokers[:10]:
        source = controller if controller is not None else broker
        listener = between.listener(source) or between.listener(broker)
        if listener is None:
            continue
        endpoint = next((e for e in case.view.endpoints.of(broker) if e.listener == listener.name), None)
        where = f" at {clean(endpoint.address)}" if endpoint else ""
        subject = "brokers" if case.view.kraft or controller is None else f"controller {controller}"
        connect = "connect" if subject == "brokers" else "connects"
        principal = between.principal(source, broker)
        names = f", with principal {' or '.join(map(clean, principal.names))}" if principal.names else ""
        text = (
            f"{subject} {connect} to broker {broker} on its inter-broker listener {clean(listener.name)} "
            f"({clean(listener.protocol or 'protocol not known')}){where}{names}: {clean(principal.why)}"
        )
        yield Evidence(observer=f"by {clean(listener.source)}", text=text)


def _let_in_elsewhere(case: Case) -> Iterable[Evidence]:
    code = case.roots[0].code
    passed = [f for f in case.findings if f.code == code and f.status is Status.PASS]
    ids = sorted({f.resource.broker for f in passed if f.resource.broker is not None} - set(case.brokers))
    if ids:
        yield Evidence(observer=brokers(ids), text=f"{code} passes there, for example: {clean(passed[0].message)}")


def _registry_looks_whole(case: Case) -> Iterable[Evidence]:
    if case.view.zookeeper_read and not case.empty.isdisjoint(case.brokers):
        text = f"{brokers(case.brokers)} registered; this is no proof: a broker registers itself even if it refuses others"
        yield Evidence(observer="zookeeper", text=text)


def _hidden(case: Case) -> list[tuple[str, str]]:
    """Return the settings that DescribeConfigs hides, each with the brokers that have it."""
    hidden: dict[str, list[int]] = defaultdict(list)
    for root in case.roots:
        if root.text("hidden") and root.resource.broker is not None:
            hidden[root.text("hidden")].append(root.resource.broker)
    return [(key, brokers(ids)) for key, ids in hidden.items()]


def _granted(case: Case) -> bool:
    """Return whether ACLs allow now what each broker refused since its start."""
    return all(root.evidence.get("until_restart") for root in case.roots)


def _repair_of_rights(case: Case) -> dict[str, Any]:
    """Return the facts of the repair: the exact principal, the broker that takes the command, and the lines of each file."""
    names, rules = _principals(case), _differing_rules(case)
    own_endpoints = [e for b in case.brokers for e in case.view.endpoints.of(b) if (e.protocol or "").startswith("SASL")]
    denied = case.roots[0].code == "KA403"
    gives = not rules and not _granted(case) and case.roots[0].code == "KA401"
    return {
        "list_acls": (continued(_acl_tool(case), "--list --cluster"),),
        "rules": tuple(_rules(rules)),
        "gives": gives,
        "denied": denied,
        "of_others": denied and any(acl.principal == ANY_PRINCIPAL for acl in _denying(case)),
        "acls": tuple(_give(case) if gives else _take_away(case) if denied else ()),
        "by_name": not rules and {*names[:_FIRST]} != {ANONYMOUS},
        "super_users": tuple(_super_users(case)),
        "anonymous": ANONYMOUS in names,
        "no_login": ANONYMOUS in names and not rules and not own_endpoints,
        "login": ANONYMOUS in names and not rules and bool(own_endpoints),
        "login_listener": (setting("inter.broker.listener.name", own_endpoints[0].listener),) if own_endpoints else (),
        "login_settings": (
            setting("sasl.mechanism.inter.broker.protocol", "ONE_OF_SASL_ENABLED_MECHANISMS"),
            setting("super.users", "AS_IT_IS_NOW;User:USER_OF_THE_BROKERS"),
        ),
    }


def _differing_rules(case: Case) -> tuple[Finding, ...]:
    """Return the findings that mapping rules of the case's brokers differ, where these derive the principal that is refused."""
    if case.roots[0].code != "KA401":
        return ()
    failed = [finding for finding in case.findings if finding.status is Status.FAIL and finding.resource.broker in case.brokers]
    derived = {finding.resource.broker for finding in failed if finding.code == "KA404"}
    differ = [finding for finding in failed if finding.code == "KA701" and finding.text("key") == SSL_RULES]
    return tuple(differ) if {finding.resource.broker for finding in differ} == derived == {*case.brokers} else ()


def _rules(differ: Iterable[Finding]) -> Iterator[Line]:
    for finding in [*differ][:_FIRST]:
        broker, own = finding.resource.broker, finding.text("value")
        yield remark("server.properties of broker {broker} which has {own}", broker=broker, own=own)
        yield setting(SSL_RULES, finding.text("usual"))


def _acl_tool(case: Case) -> Command:
    """Return kafka-acls.sh pointed where it works: a broker whose view is filled, else ZooKeeper itself (not in 4.x)."""
    view = case.view
    filled = [b for b in view.named_brokers if case.own_view(b) and b not in case.empty and view.endpoints.of(b)]
    if filled:
        other = [b for b in filled if b not in case.brokers] or filled
        address = view.endpoints.of(other[0])[-1].address
        return command("kafka-acls.sh --bootstrap-server {address} --command-config admin.properties", address=address)
    asked = [read.target for read in view.last_reads if read.observer == "zookeeper"]
    if not view.zookeeper_read and not asked:
        return command("kafka-acls.sh --bootstrap-server BROKER_THAT_LISTS_BROKERS:9092 --command-config admin.properties")
    return command("kafka-acls.sh --authorizer-properties {zookeeper}", zookeeper=f"zookeeper.connect={zookeeper_address(view)}")


def _principals(case: Case) -> tuple[str, ...]:
    """Return the _principals that have no right, a placeholder where none is known."""
    names = dict.fromkeys(principal for root in case.roots for principal in root.texts("principal"))
    return tuple(names) or ("User:INTER_BROKER_USER",)


def _give(case: Case) -> Iterator[Command]:
    tool = _acl_tool(case)
    return (acl_command(name, "ClusterAction", CLUSTER, tool=tool) for name in _principals(case)[:_FIRST])


def _denying(case: Case) -> list[Acl]:
    """Return the ACLs that deny it: beside those of all hosts, one host's is not why all are denied."""
    names, between = {*_principals(case), ANY_PRINCIPAL}, case.view.inter_broker
    found = dict.fromkeys(
        acl
        for broker in case.brokers
        for acl in between.acls(broker) or ()
        if (acl.permission, acl.resource_type) == ("DENY", "Cluster")
        and acl.operation in {"ClusterAction", "All"}
        and acl.principal in names
    )
    return [acl for acl in found if acl.host == "*"] or list(found)


def _take_away(case: Case) -> Iterator[Command]:
    for acl in _denying(case)[:_FIRST]:
        yield acl_command(
            acl.principal, acl.operation, CLUSTER, tool=_acl_tool(case), host=acl.host, permission="DENY", remove=True
        )


def _super_users(case: Case) -> Iterator[Line]:
    """Yield super.users with the principal, unless every client without a login has it."""
    names = [name for name in _principals(case)[:_FIRST] if name != ANONYMOUS]
    for broker in case.brokers[:_FIRST]:
        known = case.view.inter_broker.super_users(broker)
        present = ["AS_IT_IS_NOW"] if known is None else sorted(known)
        yield from (server_properties(broker), setting("super.users", ";".join([*present, *names])))


def _repair_of_login(case: Case) -> dict[str, Any]:
    kinds, scram = {root.text("kind") for root in case.roots}, _scram_users(case)
    named = [root for root in case.roots if root.text("kind") != _HANDSHAKE] or case.roots  # the same reason, of the other side
    repairs = [*dict.fromkeys(clean(text) for root in named if (text := root.text("repair")))]
    return {
        "with_tls": tuple(e for e in case.endpoints[:_FIRST] if e.protocol in {"SSL", "SASL_SSL", None}),
        "repairs": "; ".join(repairs[:_FIRST]),
        "alone": any(root.evidence.get("out_of_isr") for root in case.roots),
        "closed": bool(_closed(case)),
        "keystore": tuple(_keystore(case)) if kinds & {_CERTIFICATE, "untrusted_certificate"} else (),
        "certificate": kinds == {_CERTIFICATE},
        "stores": len(kinds) == 1 and kinds <= {"untrusted_certificate", "client_certificate_refused"},
        "clock": kinds == {"clock_wrong"},
        "scram": scram,
        "scram_alone": bool(scram) and kinds == {"wrong_credentials"},
    }


def _scram_users(case: Case) -> tuple[Command, ...]:
    """Return what gives each user its credential again that the explained findings name; ZooKeeper takes it without a login."""
    named = dict.fromkeys(
        (finding.text("user"), finding.text("mechanism")) for finding in case.explained if finding.code == "KA405"
    )
    at = "--bootstrap-server BROKER:9092 --command-config admin.properties" if case.view.kraft else "--zookeeper {zookeeper}"
    return tuple(
        command(
            f"kafka-configs.sh {at} --alter --entity-type users --entity-name {{user}} "
            "--add-config {mechanism}=[password=PASSWORD]",
            zookeeper=zookeeper_address(case.view),
            user=user,
            mechanism=mechanism,
        )
        for user, mechanism in [*named][:_FIRST]
    )


def _closed(case: Case) -> frozenset[int | None]:
    """Return the brokers that clients do not reach either: no tool changes a setting of theirs while they run."""
    return frozenset(f.resource.broker for f in case.explained if f.code == "KA301" and f.resource.broker in case.brokers)


def _keystore(case: Case) -> Iterable[Line]:
    closed = _closed(case)
    for endpoint in case.endpoints[:_FIRST]:
        broker, listener = endpoint.broker_id, endpoint.listener.lower()
        if broker in closed:
            there = case.view.settings.at(broker, endpoint.listener, "ssl.keystore.location").value or "ssl.keystore.location"
            text = "on the host of broker {broker}, which tools do not reach either: a certificate for {host} into {there}"
            yield remark(text, broker=broker, host=endpoint.host, there=there)
            yield command("kafka-server-stop.sh")
            yield command("kafka-server-start.sh -daemon server.properties")
            continue
        yield remark(
            "keystore with a certificate for {host} that the running broker {broker} reads again",
            host=endpoint.host,
            broker=broker,
        )
        yield command(
            "kafka-configs.sh --bootstrap-server BROKER:9092 --command-config admin.properties --alter --entity-type brokers "
            "--entity-name {broker} --add-config listener.name.{listener}.ssl.keystore.location=KEYSTORE",
            broker=broker,
            listener=listener,
        )
