from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.listeners.inter_broker import InterBroker, Listener
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.faults.facts import facts_of

_CALLBACK = "sasl.server.callback.handler.class"


@check(code="KA405", severity=Severity.CRITICAL, by_files=True)
def scram_user_missing(view: ClusterView) -> Judgements:
    """The user that a broker logs in as has no SCRAM credential for the inter-broker mechanism."""
    between = view.inter_broker
    facts = facts_of(view)
    let_in = between.kraft or any(map(facts.accepted, between.brokers))  # in KRaft no view shows which logins succeeded
    latent = let_in and not any(map(facts.symptom, between.brokers))
    for broker in between.brokers:
        judgement = _of_broker(view, broker)
        yield replace(judgement, severity=Severity.HIGH) if latent and judgement.status is Status.FAIL else judgement
    yield from no_brokers(view)


def _of_broker(view: ClusterView, broker: int) -> Judgement:
    """Return whether there is a credential for the user that a broker logs in as."""
    between = view.inter_broker
    listener, mechanism = between.listener(broker), between.mechanism(broker).value
    evidence = {"broker": broker, "who": f"broker {broker}", "mechanism": mechanism or "", "user": ""}
    file = f"server.properties of broker {broker} (`properties` in the cluster file)"
    if listener is not None and listener.protocol is not None and not listener.logs_in:
        evidence["reason"] = f"listener {listener.name} is {listener.protocol}"
        return view.judge(f"broker/{broker}", Status.NOT_APPLICABLE, evidence)
    if mechanism and not mechanism.startswith("SCRAM-"):
        evidence["reason"] = f"it logs in with {mechanism}"
        return view.judge(f"broker/{broker}", Status.NOT_APPLICABLE, evidence)
    users = _users(between, broker, listener, mechanism) if listener and mechanism else set()
    if listener is None or not mechanism or len(users) != 1:
        return view.unknown(f"broker/{broker}", "its login is unknown", file, evidence)
    evidence |= {"user": next(iter(users)), "listener": listener.name}
    evidence["key"] = f"listener.name.{listener.name.lower()}.{mechanism.lower()}.sasl.jaas.config"
    known = view.logins.known_users(broker, listener.name, mechanism)
    if _kept_elsewhere(between, listener, mechanism):
        evidence |= {"error": "a custom callback handler stores the credentials", "needs": f"the class in {_CALLBACK}"}
    elif known is None:
        ask = "an audit that reads /config/users" if not between.kraft else "a broker that answers DescribeUserScramCredentials"
        evidence |= {"error": "SCRAM users were not read", "needs": ask}
    else:
        evidence["advice"] = "kraft" if between.kraft else "zookeeper"
        return view.judge(f"broker/{broker}", Status.PASS if evidence["user"] in known else Status.FAIL, evidence)
    return view.judge(f"broker/{broker}", Status.UNKNOWN, evidence)


def _users(between: InterBroker, broker: int, listener: Listener, mechanism: str) -> set[str]:
    where = (broker, canonical_listener(listener.name), mechanism)
    own = (login for login in between.settings.logins_of.get(broker, ()) if login.side == "client")
    return {login.username for login in own if (login.broker_id, canonical_listener(login.listener), login.mechanism) == where}


def _kept_elsewhere(between: InterBroker, listener: Listener, mechanism: str) -> bool:
    key = f"{mechanism.lower()}.{_CALLBACK}"
    if between.settings.keys.isdisjoint({key, f"listener.name.{listener.name.lower()}.{key}"}):
        return False
    return any(between.settings.at(broker, listener.name, key).state in {"set", "hidden"} for broker in between.brokers)
