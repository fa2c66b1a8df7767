"""How KA412 weighs what was found at each inter-broker endpoint, and puts it into words."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafka_audit.checks.security.cluster_action import ClusterActionResult, cluster_action_results
from kafka_audit.checks.security.login_faults import (
    Fault,
    fault_of_line,
    login_faults,
)
from kafka_audit.cluster.listeners.inter_broker import Listener
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.text import brokers, start_upper

_CANNOT = {Confidence.MEASURED: "cannot", Confidence.INFERRED: "most likely cannot", Confidence.SUSPECTED: "possibly cannot"}


def login_judgements(view: ClusterView, code: str) -> Iterator[Judgement]:
    """Yield a judgement for each endpoint on which brokers hear others."""
    between, rights = view.inter_broker, {result.broker: result for result in cluster_action_results(view)}
    names = sorted({listener.name for listener in map(between.listener, between.brokers) if listener is not None})
    for broker in between.brokers:
        for name in names:
            offered = between.offered(broker)
            if offered is None or name in offered:
                listener = Listener(name=name, protocol=between.protocol(broker, name))
                yield _Login(view, rights[broker], listener).judged(code)


class _Login:
    """Logins at one endpoint."""

    def __init__(self, view: ClusterView, right: ClusterActionResult, listener: Listener) -> None:
        self._view, self._between, self._right, self._listener, self._broker = (
            view,
            view.inter_broker,
            right,
            listener,
            right.broker,
        )
        self._symptom, self._accepted = view.symptoms.lasting(right.broker), view.symptoms.accepted(right.broker)
        self._silent = view.symptoms.silent(right.broker)
        self._moving = view.symptoms.passing(right.broker)
        self._path = view.symptoms.probed(right.broker, listener.name)
        self._lines = view.logs.counting("KA412", right.broker, listener.name)
        self._users = self._between.users.get(listener.name, ())

    def judged(self, code: str) -> Judgement:
        status, fault, reported = self._weighed()
        evidence = {**self._words(fault, reported), **reported}
        judgement = self._view.judge(code, f"broker/{self._broker}/listener/{self._listener.name}", status, evidence)
        if status is not Status.FAIL:
            return judgement
        confidence = fault.confidence if fault else Confidence.INFERRED
        # Who is connected stays so: without a symptom it is the next connection that fails.
        latent = self._symptom is None and (self._accepted is not None or self._between.kraft)
        return replace(judgement, confidence=confidence, severity=Severity.HIGH if latent else None)

    def _weighed(self) -> tuple[Status, Fault | None, Mapping[str, str]]:
        if self._listener.protocol is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {self._broker}"
            return Status.UNKNOWN, None, {"error": "the protocol of the listener is unknown", "needs": needs}
        if self._listener.protocol == "PLAINTEXT":
            return Status.NOT_APPLICABLE, None, {"reason": f"listener {self._listener.name} is PLAINTEXT"}
        faults = login_faults(self._view, self._broker, self._listener)
        sure = next((fault for fault in faults if fault.confidence is Confidence.MEASURED and not self._refuted(fault)), None)
        if sure is None and self._lines:
            sure = fault_of_line(self._lines[0])
        if sure is not None:
            return Status.FAIL, sure, {}
        if faults and self._symptom is not None:
            return Status.FAIL, faults[0], {"why": f"{faults[0].text}, and {self._symptom}"}
        if faults and self._silent and faults[0].kind == "certificate" and self._others_trusted():
            return Status.FAIL, faults[0], {"why": f"{faults[0].text}, but the certificates of the other brokers are"}
        return self._by_view(faults[0] if faults else None)

    def _by_view(self, doubt: Fault | None) -> tuple[Status, Fault | None, Mapping[str, str]]:
        """Judge where no fault is sure: by what was let in, by what fits, by what else is ruled out."""
        error = (doubt.text if doubt else None) or self._symptom or "no source shows whether logins work"
        passes = None if doubt else self._accepted
        if doubt is None and passes is None and self._fits():
            passes = "certificate, mechanism and password match, as far as they apply"
        if passes is not None:
            return Status.PASS, None, {"why": passes}
        if self._symptom is not None and self._path == "open" and self._rights_settled():
            return Status.FAIL, None, {"why": f"{self._symptom}, the probe succeeds, and no right is missing"}
        if self._moving:
            error = f"{error}; its view was empty or stale in one sample only"
        return Status.UNKNOWN, None, {"error": error, "needs": self._deciding()}

    def _refuted(self, fault: Fault) -> bool:
        """A name that does not match is no fault where the controller, which compares names, was let in all the same."""
        return fault.name_differs and self._accepted is not None

    def _others_trusted(self) -> bool:
        others = (
            self._view.logins.certificate(broker, self._listener.name)
            for broker in self._between.brokers
            if broker != self._broker
        )
        return any(shown is not None and shown.trusted for shown in others)

    def _rights_settled(self) -> bool:
        return self._right.status in {Status.PASS, Status.NOT_APPLICABLE}

    def _fits(self) -> bool:
        """Return whether everything that a login needs was seen, and fits; the password of a SCRAM user is never seen."""
        logins, name = self._view.logins, self._listener.name
        if self._listener.encrypted:
            shown = (logins.certificate(entry, name) for entry in {self._broker: None} | dict.fromkeys(self._users))
            if not all(certificate is not None and certificate.trusted and certificate.name_matches for certificate in shown):
                return False
        if not self._listener.logs_in:
            return True
        known = logins.known_users(self._broker, name, "PLAIN") if name in self._between.plain else None
        return bool(known) and bool(logins.offered_mechanisms(self._broker, name))

    def _deciding(self) -> str:
        sources = f"server.properties of broker {self._broker} and of the others (`properties` in the cluster file)"
        return f"`ca_file` in the cluster file and {sources}" if self._listener.encrypted else sources

    def _words(self, fault: Fault | None, reported: Mapping[str, str]) -> dict[str, object]:
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
            "cannot": _CANNOT[fault.confidence if fault else Confidence.INFERRED],
            "kind": fault.kind if fault else None,
            "why": fault.text if fault else "",
            "repair": repair,
            "symptom": self._symptom,
        } | dict(reported)
