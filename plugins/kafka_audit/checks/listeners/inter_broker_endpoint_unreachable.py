from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.faults.edges import CONTROL, REPLICATE, Edge
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.read import BROKEN, UNDECIDED, EdgeReading, reading_of
from kafka_audit.faults.serve_edges import NETWORK
from kafka_audit.model.text import brokers, listing

_CODE = "KA302"
_CANNOT = {Confidence.MEASURED: "cannot", Confidence.INFERRED: "most likely cannot", Confidence.SUSPECTED: "possibly cannot"}
_VANTAGE = "a vantage with role broker"


@check(code=_CODE, severity=Severity.CRITICAL, parts=("brokers", "views"))
def inter_broker_endpoint_unreachable(view: ClusterView) -> Judgements:
    """A broker cannot reach the address that another broker, or it itself, advertises for inter-broker traffic."""
    facts = facts_of(view)
    for broker in view.brokers:
        edges = facts.edges.into(broker)
        edge = next((edge for edge in edges if edge.effect.state == "missing"), edges[0])
        yield _of_broker(facts, edge, reading_of(facts, _CODE, facts.reached(broker)))


def _of_broker(facts: Facts, edge: Edge, reading: EdgeReading) -> Judgement:
    """Return the judgement of a broker; `edge` is the first one to it without an effect, or the first."""
    view, broker, end, paths = facts.view, edge.target, edge.endpoint, facts.used_paths(edge.target)
    known: dict[str, object] = {
        "target": f"broker {broker}",
        "broker": broker,
        "controller": view.controller,
        "symptom": facts.symptom(broker),
        "vantage": paths.vantage,
        "open": paths.open,
    }
    if end is not None:
        known |= {"host": end.host, "port": end.port, "listener": end.listener, "protocol": end.protocol}
    resource = f"broker/{broker}" if end is None else end.resource
    if _is_cut(facts, edge, reading):
        evidence = known | _cut(edge, reading)
        # What a closed address explains is known by who cannot reach it; of other faults any symptom is one.
        shows = known["symptom"] if evidence.get("layer") not in NETWORK else None
        severity = None if shows or facts.is_broken(broker, reading.sources) else Severity.HIGH
        if severity is not None and evidence.get("cause") == "packets":
            evidence["cannot"] = "cannot always"  # small requests pass
        return view.judge(resource, Status.FAIL, evidence, severity=severity, confidence=reading.confidence)
    error, needs = _gap(facts, edge, reading)
    if not error:
        return view.judge(resource, Status.PASS, known)
    return view.unknown(resource, error, needs, known)


def _is_cut(facts: Facts, edge: Edge, reading: EdgeReading) -> bool:
    one_of_several = reading.state == UNDECIDED and any(fault.check == _CODE for fault in reading.usual)
    if edge.endpoint is None:
        # Without settings no listener is known in KRaft. It is known that no follower replicates, and what may be the cause.
        return edge.kind == REPLICATE and one_of_several
    # A line of a log may be of a moment, as in a roll: it needs an effect that two samples show.
    momentary = facts.symptom(edge.target) is None and all(shown.of_log for shown in reading.shown)
    return (reading.state == BROKEN and not momentary) or (one_of_several and _is_open(facts, edge, reading))


def _is_open(facts: Facts, edge: Edge, reading: EdgeReading) -> bool:
    """Return whether probes leave it open why an edge has no effect.

    Views that are old have checks of their own; followers that do not follow have none but this one. A limit on connections lets
    a probe connect.
    """
    if edge.effect.state != "missing":
        return False
    alone = edge.kind == REPLICATE and edge.target in facts.between.settings.brokers and not reading.in_progress
    connect = {*facts.used_paths(edge.target).open}
    return (alone and bool(reading.found)) or not (connect >= {*edge.sources} or connect >= facts.view.brokers.keys())


def _cut(edge: Edge, reading: EdgeReading) -> dict[str, object]:
    """Return the evidence of a failure: who cannot reach the broker, where, and why."""
    sources, shown = reading.sources, [observation.text for observation in reading.shown]
    subject = f"controller {sources[0]}" if edge.kind == CONTROL and sources == edge.sources else brokers(sources)
    evidence: dict[str, object] = {"from": sources, "who": subject, "cannot": _CANNOT[reading.confidence]}
    if edge.endpoint is None:
        evidence |= {"where": "its inter-broker address, which was not read", "host": "HOST", "port": "PORT"}
    else:
        evidence["where"] = f"{edge.endpoint.address}, its inter-broker address ({edge.endpoint.listener})"
    if reading.state == UNDECIDED:
        evidence["undecided"], shown = tuple(fault.word for fault in reading.usual), []
    else:
        evidence["cause"] = reading.found[0].fault.kind
    if reading.state == BROKEN and reading.confidence is Confidence.MEASURED:
        by_controller = (one.details for one in reading.shown if edge.kind == CONTROL and edge.sources == one.sources)
        details = next(by_controller, reading.shown[0].details)
        why = f"{details['layer']} failed with {details['error']}" if "layer" in details else shown[0]
        return evidence | {"layer": details.get("layer", reading.found[0].fault.layer), "error": details.get("error"), "why": why}
    evidence["why"] = "; ".join([edge.effect.text, *shown])
    if reading.confidence is not Confidence.INFERRED:
        rivals = (fault for fault in reading.rivals if reading.state == BROKEN or fault.layer != "tcp")  # it speaks of an address
        others = tuple(fault.named(_CODE) for fault in rivals)
        evidence |= {"rivals": others, "why": f"{evidence['why']}; not ruled out: {listing(others, 3)}"}
    return evidence


def _gap(facts: Facts, edge: Edge, reading: EdgeReading) -> tuple[str, str]:
    """Return what is not known, and what is needed; nothing where every host gets there."""
    paths, symptom = facts.used_paths(edge.target), facts.symptom(edge.target)
    unmeasured = tuple(sorted(facts.view.brokers.keys() - {*paths.open}))
    if edge.endpoint is None:
        return _no_endpoint(edge)
    if paths.closed or (paths.losing and not (symptom or paths.whole)):
        return _elsewhere(facts, edge.target, paths.closed or paths.losing, "fail" if paths.closed else "lose large packets")
    if _is_open(facts, edge, reading):
        explained = " or ".join(fault.named(_CODE) for fault in reading.explained_by) or "no known fault"
        return f"{symptom}, which {explained} explains", f"another audit, or {_VANTAGE}" if reading.in_progress else _VANTAGE
    if not unmeasured:
        limits_known = symptom is None or edge.target in facts.between.settings.brokers
        return ("", "") if limits_known else (f"{symptom}, and every probe connects", "DescribeConfigs on Cluster")
    if paths.moving or any(edge.effect.state == "passing" for edge in facts.edges.into(edge.target)):
        return "in motion", "another audit: this was seen once, or the cluster changed between two samples"
    error, needs = f"tcp was probed only from {brokers(paths.open)}", f"a probe from {brokers(unmeasured)}"
    if not paths.open:
        error, needs = "no symptom was found, and no probe was made", _VANTAGE
    return error, paths.needs or needs


def _no_endpoint(edge: Edge) -> tuple[str, str]:
    if edge.listener is None:
        return "its inter-broker listener is unknown", "DescribeConfigs on Cluster"
    name = edge.listener.name
    needs = f"DescribeConfigs on Cluster, {file_of(edge.target)}, or a bootstrap address of listener {name}"
    return f"the address of its listener {name} is unknown", needs


def _elsewhere(facts: Facts, broker: int, sources: tuple[int, ...], how: str) -> tuple[str, str]:
    """Say that vantages are probably on other hosts than their brokers'; without probes of these, what would show it."""
    error = f"probes from the vantages of {brokers(sources)} {how}, and nothing is missing that they would explain"
    if facts.is_lost(broker) and all(map(facts.is_where_it_was, sources)):
        return f"{error}: no host reaches it, its own included", f"an address of broker {broker} that is reached (KA301)"
    unlike = {*sources} - {*facts.at_their_brokers(sources)}
    astray = tuple(one for one in unlike if facts.used_paths(one).fails(one) and not facts.is_where_it_was(one))
    if not astray:
        return error, f"a probe of {brokers(unlike or {broker})} from the broker's own host"
    error += f"; that of {brokers(astray)} fails at its own broker too, and is probably on another host"
    return error, "a vantage on each broker's own host: let its `command` run `hostname`"
