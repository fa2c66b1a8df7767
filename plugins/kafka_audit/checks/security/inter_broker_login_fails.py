from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.inter_broker import Listener
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.read import BROKEN, WORKS, EdgeReading, reading_of
from kafka_audit.model.text import brokers, start_upper

_CODE = "KA412"
_CANNOT = {Confidence.MEASURED: "cannot", Confidence.INFERRED: "most likely cannot", Confidence.SUSPECTED: "possibly cannot"}
_OF_NO_FAULT = "compare users, passwords and certificates of broker {target} with the other brokers"
_OF_A_HANDSHAKE = (
    "find the reason in the logs of both sides: the certificate of broker {target}, its issuer, TLS versions, or the "
    "certificates of clients"
)


@check(code=_CODE, severity=Severity.CRITICAL, by_files=True)
def inter_broker_login_fails(view: ClusterView) -> Judgements:
    """The controller or another broker cannot log in to a broker: certificate, mechanism or password."""
    between, facts = view.inter_broker, facts_of(view)
    names = sorted({listener.name for listener in map(between.listener, between.brokers) if listener is not None})
    for broker in between.brokers:
        offered = between.offered(broker)
        for name in (name for name in names if offered is None or name in offered):
            yield _of_endpoint(facts, broker, Listener(name=name, protocol=between.protocol(broker, name)))
    if not names:
        error, needs = "no inter-broker listener is known", "DescribeConfigs on Cluster, or `properties` in the cluster file"
        yield view.unknown("cluster", error, needs, who="any broker")


def _of_endpoint(facts: Facts, broker: int, listener: Listener) -> Judgement:
    """Return the judgement of an endpoint on which brokers hear others."""
    edges = [edge for edge in facts.edges.into(broker) if edge.at(listener.name)]
    logs_in = listener.protocol not in {None, "PLAINTEXT"}
    reading = reading_of(facts, _CODE, [*edges, facts.edges.log_in(broker, listener)] if logs_in else [])
    status, reported = _verdict(facts, broker, listener, reading)
    symptom, accepted = facts.symptom(broker), facts.accepted(broker)
    # Who is connected stays so: without a symptom it is the next connection that fails.
    latent = status is Status.FAIL and symptom is None and (accepted is not None or facts.between.kraft)
    return facts.view.judge(
        f"broker/{broker}/listener/{listener.name}",
        status,
        _words(facts, broker, listener, reading) | reported,
        confidence=reading.confidence if status is Status.FAIL else Confidence.MEASURED,
        severity=Severity.HIGH if latent else None,
        symptom=symptom,
        out_of_isr=facts.edges.absent(broker) or None,
    )


def _verdict(facts: Facts, broker: int, listener: Listener, reading: EdgeReading) -> tuple[Status, dict[str, object]]:
    if listener.protocol is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
        return Status.UNKNOWN, {"error": "the protocol of the listener is unknown", "needs": needs}
    if listener.protocol == "PLAINTEXT":
        return Status.NOT_APPLICABLE, {"reason": f"listener {listener.name} is PLAINTEXT"}
    symptom, shown = facts.symptom(broker), [observation.text for observation in reading.shown]
    if reading.state == BROKEN:
        if reading.confidence is Confidence.MEASURED:
            return Status.FAIL, {"why": "; ".join(shown[:2])}
        why = f"{shown[0] if shown else 'no other known cause is left'}{f', and {symptom}' if symptom else ''}"
        return Status.FAIL, {"why": why, "rivals": tuple(fault.named(_CODE) for fault in reading.rivals) or None}
    in_sync = _in_sync(facts, broker, listener)
    if not reading.doubts and (reading.state == WORKS or (in_sync and not symptom)):
        why = facts.accepted(broker) or in_sync or "certificate, mechanism and password match, as far as they apply"
        return Status.PASS, {"why": why}
    error = next(iter(reading.doubts), None) or symptom or "no source shows whether logins work"
    if any(edge.effect.state == "passing" for edge in facts.edges.into(broker) if edge.at(listener.name)):
        error = f"{error}; its view was empty or stale in only one sample"
    files = f"server.properties of broker {broker} and of the others (`properties` in the cluster file)"
    if {*facts.between.brokers} <= facts.view.settings.files.keys():  # they were read
        files = f"an audit after broker {broker} receives updates again, or a line about a login in its log"
    return Status.UNKNOWN, {
        "error": error,
        "needs": f"`ca_file` in the cluster file and {files}" if listener.encrypted else files,
    }


def _in_sync(facts: Facts, broker: int, listener: Listener) -> str:
    """Return that all brokers that use a listener follow a KRaft broker; "" where one does not, or it leads nothing."""
    users = {*facts.between.users.get(listener.name, ())} - {broker}
    shows = facts.between.kraft and users and users <= facts.followers(broker)
    return f"in the ISR of what it leads: {brokers(sorted(users))}" if shows else ""


def _words(facts: Facts, broker: int, listener: Listener, reading: EdgeReading) -> dict[str, object]:
    controller = facts.between.controller
    more: tuple[int, ...] = ()
    if reading.fault is not None:  # whom else the same fault keeps out
        every = reading_of(facts, _CODE, [facts.edges.log_in(broker, listener)])
        more = every.sources if every.fault is reading.fault else ()
    sources = tuple(sorted({*reading.sources, *more})) or facts.between.users.get(listener.name, ())
    whom = f"controller {controller}" if controller in sources else brokers(sources) if sources else "other brokers"
    handshake = reading.state == BROKEN and reading.fault is None and reading.confidence is Confidence.MEASURED
    kind = "handshake" if handshake else reading.fault.name if reading.fault else None
    default = (_OF_A_HANDSHAKE if handshake else _OF_NO_FAULT).format(target=broker)
    return {
        "broker": broker,
        "who": f"broker {broker}",
        "listener": listener.name,
        "protocol": listener.protocol or "unknown",
        "from": tuple(sources) or None,
        "source": "the controller" if controller in sources else "the brokers that cannot log in",
        "whom": start_upper(whom),
        "cannot": _CANNOT[reading.confidence],
        "kind": kind,
        "why": "",
        "repair": reading.filled(reading.fault.remedy, sources) if reading.fault else default,
    }
