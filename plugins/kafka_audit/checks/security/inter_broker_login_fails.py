"""KA412."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.cluster.listeners.inter_broker import Listener
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.login_faults import Fault, fault_of_clock, fault_of_handshake, fault_of_line
from kafka_audit.faults.solver import diagnosed, told_apart
from kafka_audit.faults.tls.clock_wrong import clock_wrong
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import brokers, start_upper

_Verdict = tuple[Status, Confidence, Fault | None, Mapping[str, object]]
_CANNOT = {Confidence.MEASURED: "cannot", Confidence.INFERRED: "most likely cannot", Confidence.SUSPECTED: "possibly cannot"}


class _Login:
    """Logins at one endpoint."""

    def __init__(self, facts: Facts, broker: int, listener: Listener) -> None:
        self._facts, self._view, self._between = facts, facts.view, facts.between
        self._listener, self._broker = listener, broker
        self._symptom, self._accepted = facts.symptom(broker), facts.accepted(broker)
        self._lines = facts.view.logs.counting("KA412", broker, listener.name)
        self._users = self._between.users.get(listener.name, ())

    def judged(self) -> Judgement:
        status, confidence, fault, reported = self._weighed()
        evidence = {**self._words(fault, confidence, reported), **reported}
        judgement = self._view.judge(f"broker/{self._broker}/listener/{self._listener.name}", status, evidence)
        if status is not Status.FAIL:
            return judgement
        # Who is connected stays so: without a symptom it is the next connection that fails.
        latent = self._symptom is None and (self._accepted is not None or self._between.kraft)
        return replace(judgement, confidence=confidence, severity=Severity.HIGH if latent else None)

    def _weighed(self) -> _Verdict:
        if self._listener.protocol is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {self._broker}"
            return Status.UNKNOWN, Confidence.MEASURED, None, {"error": "the protocol of the listener is unknown", "needs": needs}
        if self._listener.protocol == "PLAINTEXT":
            reason = {"reason": f"listener {self._listener.name} is PLAINTEXT"}
            return Status.NOT_APPLICABLE, Confidence.MEASURED, None, reason
        faults = self._facts.logins(self._broker, self._listener)
        sure = next((fault for fault in faults if fault.confidence is Confidence.MEASURED and not self._refuted(fault)), None)
        if sure is None and self._lines:
            sure = self._of_line(self._lines[0])
        if sure is not None:
            return Status.FAIL, Confidence.MEASURED, sure, {}
        return self._by_view(faults[0] if faults else None)

    def _of_line(self, line: LogLine) -> Fault:
        """Return what a line of a log reports; of a handshake that failed, the cause that something besides shows."""
        refused = self._view.logs.refused(line)
        fault = fault_of_line(line, refused)
        edges = [edge for edge in self._facts.edges.into(self._broker) if edge.at(self._listener.name)]
        measured = [
            candidate for edge in edges for candidate in diagnosed(self._facts, edge).measured if candidate.fault.layer == "tls"
        ]
        causes = told_apart(measured)
        names = {candidate.fault.name for candidate in causes}
        if fault.kind != "handshake" or len(names) != 1:
            return fault
        if causes[0].fault.observe is clock_wrong:
            return fault_of_clock(causes[0].shown_by[0].text, causes[0].edge.sources)
        shown = [
            observation.text
            for cause in causes
            for observation in cause.shown_by
            if not observation.observer.startswith("log of ")
        ]
        return fault_of_handshake(names.pop(), self._broker, refused, *shown[:1], fault.text) or fault

    def _by_view(self, doubt: Fault | None) -> _Verdict:
        """Judge where no fault is sure: by what was let in, by what fits, by what else is ruled out."""
        if doubt is None and self._accepted is not None:
            return Status.PASS, Confidence.MEASURED, None, {"why": self._accepted}
        edges = [edge for edge in self._facts.edges.into(self._broker) if edge.at(self._listener.name)]
        missing = next((edge for edge in edges if edge.effect.state == "missing"), None)
        diagnosis = diagnosed(self._facts, missing or edges[0]) if edges else None
        fits = diagnosis is not None and not any(candidate.possible for candidate in diagnosis.of_check("KA412"))
        if doubt is None and fits:
            why = "certificate, mechanism and password match, as far as they apply"
            return Status.PASS, Confidence.MEASURED, None, {"why": why}
        clock = (
            None
            if diagnosis is None
            else next((candidate for candidate in diagnosis.measured if candidate.fault.observe is clock_wrong), None)
        )
        if clock is not None:
            return Status.FAIL, Confidence.MEASURED, fault_of_clock(clock.shown_by[0].text, clock.edge.sources), {}
        confidence = None if diagnosis is None else diagnosis.confidence("KA412")
        if diagnosis is not None and confidence is not None:
            rivals = tuple(fault.named("KA412") for fault in diagnosis.rivals("login"))
            shown = [observation.text for candidate in diagnosis.of_check("KA412") for observation in candidate.shown_by]
            why = f"{', '.join(shown[:1]) or 'no other known cause is left'}, and {self._symptom}"
            left = {candidate.fault.name for candidate in diagnosis.of_check("KA412") if candidate.possible}
            if doubt is None and len(left) == 1 and confidence is Confidence.INFERRED:
                doubt = fault_of_handshake(left.pop(), self._broker, self._users)
            return Status.FAIL, confidence, doubt, {"why": why, "rivals": rivals} if rivals else {"why": why}
        if doubt is not None and doubt.name_differs and self._facts.edges.own_view(self._broker) is None and self._others_named():
            why = f"{doubt.text}, but those of the other brokers name theirs"
            return Status.FAIL, Confidence.INFERRED, doubt, {"why": why}
        error = (doubt.text if doubt else None) or self._symptom or "no source shows whether logins work"
        if any(edge.effect.state == "passing" for edge in edges):
            error = f"{error}; its view was empty or stale in only one sample"
        return Status.UNKNOWN, Confidence.MEASURED, None, {"error": error, "needs": self._deciding()}

    def _refuted(self, fault: Fault) -> bool:
        """A name that does not match is no fault if the controller compares names and still logged in."""
        return fault.name_differs and self._accepted is not None

    def _others_named(self) -> bool:
        """Return whether the certificates of other brokers name their hosts, as they must where names are compared."""
        shown = (self._view.logins.certificate(broker, self._listener.name) for broker in self._between.brokers)
        others = [certificate for certificate in shown if certificate is not None and certificate.broker_id != self._broker]
        return bool(others) and all(certificate.name_matches for certificate in others)

    def _deciding(self) -> str:
        sources = f"server.properties of broker {self._broker} and of the others (`properties` in the cluster file)"
        return f"`ca_file` in the cluster file and {sources}" if self._listener.encrypted else sources

    def _words(self, fault: Fault | None, confidence: Confidence, reported: Mapping[str, object]) -> dict[str, object]:
        controller, default = self._between.controller, self._users
        sources = fault.sources if fault else default
        whom = f"controller {controller}" if controller in sources else brokers(sources) if sources else "other brokers"
        repair = (
            fault.repair
            if fault
            else f"compare users, passwords and certificates of broker {self._broker} with the other brokers"
        )
        return {
            "broker": self._broker,
            "who": f"broker {self._broker}",
            "listener": self._listener.name,
            "protocol": self._listener.protocol or "unknown",
            "from": tuple(sources) or None,
            "source": "the controller" if controller in sources else "the brokers that cannot log in",
            "whom": start_upper(whom),
            "cannot": _CANNOT[confidence],
            "kind": fault.kind if fault else None,
            "why": fault.text if fault else "",
            "repair": repair,
            "symptom": self._symptom,
            "out_of_isr": self._facts.edges.absent(self._broker) or None,
        } | dict(reported)


@check(code="KA412", severity=Severity.CRITICAL, by_files=True)
def inter_broker_login_fails(view: ClusterView) -> Iterator[Judgement]:
    """The controller or another broker cannot log in to a broker: certificate, mechanism or password."""
    judged = tuple(_login_judgements(view))
    yield from judged
    if not judged:
        error, needs = "no inter-broker listener is known", "DescribeConfigs on Cluster, or `properties` in the cluster file"
        yield view.judge("cluster", Status.UNKNOWN, who="any broker", error=error, needs=needs)


def _login_judgements(view: ClusterView) -> Iterator[Judgement]:
    """Yield a judgement for each endpoint on which brokers hear others."""
    between, facts = view.inter_broker, facts_of(view)
    names = sorted({listener.name for listener in map(between.listener, between.brokers) if listener is not None})
    for broker in between.brokers:
        for name in names:
            offered = between.offered(broker)
            if offered is None or name in offered:
                listener = Listener(name=name, protocol=between.protocol(broker, name))
                yield _Login(facts, broker, listener).judged()
