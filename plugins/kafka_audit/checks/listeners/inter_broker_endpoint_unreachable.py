"""KA302."""

from collections.abc import Iterator
from typing import Any

from kafka_audit.checks import check
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.address.lost_packets import LOST
from kafka_audit.faults.edges import REPLICATE
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.solver import Diagnosis, diagnosed
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.text import brokers, listing


@check(code="KA302", severity=Severity.CRITICAL, parts=("brokers", "views"))
def inter_broker_endpoint_unreachable(view: ClusterView) -> Iterator[Judgement]:
    """A broker cannot reach the address that another broker, or it itself, advertises for inter-broker traffic."""
    facts = facts_of(view)
    for broker in view.brokers:
        yield _Cut(facts, broker).judged()


_LAYERS = {"address": "tcp", "protocol": "api"}
"""Where a connection fails by the causes that were measured, if it does."""


class _Cut:
    """What is known of the edges that end at one broker."""

    def __init__(self, facts: Facts, broker: int) -> None:
        self._facts, self._view, self._broker = facts, facts.view, broker
        self._edges = facts.edges.into(broker)
        self._edge = next((edge for edge in self._edges if edge.effect.state == "missing"), self._edges[0])
        self._paths = facts.used_paths(broker)
        self._symptom = facts.symptom(broker)

    def judged(self) -> Judgement:
        diagnosis = diagnosed(self._facts, self._edge)
        if self._edge.endpoint is None:
            # Without settings no listener is known in KRaft. It is known that no follower replicates, and what may be the cause.
            undecided = self._edge.kind == REPLICATE and self._symptom is not None and diagnosis.leading is None
            return self._by_diagnosis(diagnosis) if undecided else self._unknown(**self._no_endpoint())
        if self._paths.closed:
            return self._by_probes()
        if diagnosis.measured and diagnosis.measured[0].fault.check == "KA302" and diagnosis.measured[0].fault.layer != "tcp":
            return self._by_diagnosis(diagnosis)
        unmeasured = tuple(sorted(self._view.brokers.keys() - set(self._paths.open)))
        if self._symptom is not None:
            leads = diagnosis.confidence("KA302") is not None
            # Views that are old have checks of their own; followers that do not follow have none but this one.
            own = any(fault.check == "KA302" for fault in diagnosis.kinds)
            alone = own and self._edge.kind == REPLICATE and self._limits_known() and not self._catches_up(diagnosis)
            if leads or alone or (unmeasured and not set(self._edge.sources) <= set(self._paths.open)):
                return self._by_diagnosis(diagnosis)
        losing = self._facts.at_their_brokers(self._paths.losing)
        if losing and (self._symptom or self._paths.whole):
            severity = None if self._symptom else Severity.HIGH
            return self._fail(losing, severity=severity, cannot="cannot always", layer="packets", cause="packets", why=LOST)
        return self._by_paths(unmeasured)

    def _by_paths(self, unmeasured: tuple[int, ...]) -> Judgement:
        """Pass where every host gets there, or say what is not known."""
        if self._paths.losing and not (self._symptom or self._paths.whole):
            return self._elsewhere(self._paths.losing, "lose large packets")
        if not unmeasured and (self._symptom is None or self._limits_known()):
            return self._view.judge(self._resource, Status.PASS, self._evidence())
        if not unmeasured:
            return self._unknown(error=f"{self._symptom}, and every probe connects", needs="DescribeConfigs on Cluster")
        if self._paths.moving or any(edge.effect.state == "passing" for edge in self._edges):
            needs = "another audit: this was seen once, or the cluster changed between two samples"
            return self._unknown(error="in motion", needs=needs)
        error, needs = f"tcp was probed only from {brokers(self._paths.open)}", f"a probe from {brokers(unmeasured)}"
        if not self._paths.open:
            error, needs = "no symptom was found, and no probe was made", "a vantage with role broker"
        return self._unknown(error=error, needs=self._paths.needs or needs)

    def _limits_known(self) -> bool:
        """Return whether a limit on connections would have been read: it lets a probe connect, and closes what comes after."""
        return self._broker in self._facts.between.settings.brokers

    def _by_probes(self) -> Judgement:
        """Fail by probes from brokers' own hosts: HIGH where nothing is broken yet."""
        closed, controller = self._facts.cut_from(self._broker), self._view.controller
        if not closed:
            return self._elsewhere(self._paths.closed, "fail")
        failed = self._paths.failed.get(controller if controller in closed else closed[0])
        error = (failed and failed.error) or "an unknown error"
        return self._fail(
            closed,
            severity=None if self._facts.is_broken(self._broker, closed) else Severity.HIGH,
            cannot="cannot",
            layer=failed and failed.layer,
            why=f"{failed and failed.layer} failed with {error}",
            error=error,
        )

    def _elsewhere(self, sources: tuple[int, ...], how: str) -> Judgement:
        """Say that vantages are probably on other hosts than their brokers'; without probes of these, what would show it."""
        error = f"probes from the vantages of {brokers(sources)} {how}, and nothing is missing that they would explain"
        unlike = {*sources} - {*self._facts.at_their_brokers(sources)}
        astray = tuple(source for source in unlike if self._facts.used_paths(source).fails(source))
        if not astray:
            return self._unknown(error=error, needs=f"a probe of {brokers(unlike or {self._broker})} from the broker's own host")
        error += f"; that of {brokers(astray)} fails at its own broker too, and is probably on another host"
        return self._unknown(error=error, needs="a vantage on each broker's own host: let its `command` run `hostname`")

    def _by_diagnosis(self, diagnosis: Diagnosis) -> Judgement:
        """Fail by what shows elsewhere, unless another cause leads; a log of a side that is cut off measures it."""
        confidence, rivals = diagnosis.confidence("KA302"), tuple(fault.named("KA302") for fault in diagnosis.kinds)
        own = any(fault.check == "KA302" for fault in diagnosis.usual)
        if confidence is None and (diagnosis.leading is not None or not own):
            needs = "a vantage with role broker"
            if diagnosis.leading is not None and diagnosis.leading.fault.in_progress:
                rivals, needs = (diagnosis.leading.fault.named("KA302"),), f"another audit, or {needs}"
            explained = f"{self._symptom}, which {' or '.join(rivals) or 'no known fault'} explains"
            return self._unknown(error=explained, needs=needs)
        sources, leading = diagnosis.edge.sources, None if diagnosis.leading is None else diagnosis.leading.fault.kind
        if confidence is Confidence.MEASURED:
            return self._fail(
                sources,
                severity=None if self._symptom else Severity.HIGH,
                cannot="cannot",
                layer=_LAYERS.get(leading or ""),
                cause=leading,
                why=diagnosis.measured[0].shown_by[0].text,
            )
        led = (candidate for candidate in diagnosis.candidates if candidate.fault.kind == leading)
        shown = [observation.text for candidate in led for observation in candidate.shown_by]
        reported: dict[str, object] = {"cause": leading, "why": "; ".join([self._symptom or "", *shown])}
        if confidence is Confidence.INFERRED:
            return self._fail(sources, confidence=confidence, cannot="most likely cannot", **reported)
        others = tuple(fault.named("KA302") for fault in diagnosis.rivals(leading or "address"))
        reported["why"] = f"{reported['why']}; not ruled out: {listing(others, 3)}"
        reported["undecided"] = tuple(fault.word for fault in diagnosis.usual) if confidence is None else None
        return self._fail(sources, confidence=Confidence.SUSPECTED, cannot="possibly cannot", rivals=others, **reported)

    @staticmethod
    def _catches_up(diagnosis: Diagnosis) -> bool:
        return diagnosis.leading is not None and diagnosis.leading.fault.in_progress

    def _fail(self, sources: tuple[int, ...], **reported: Any) -> Judgement:  # noqa: ANN401
        """Return a failure; `sources` are the brokers that cannot reach this one."""
        subject = brokers(sources)
        if sources == (self._view.controller,):
            subject = f"controller {sources[0]}"
        evidence, endpoint = {**self._evidence(), "from": sources, "who": subject}, self._edge.endpoint
        if endpoint is None:
            evidence |= {"where": "its inter-broker address, which was not read", "host": "HOST", "port": "PORT"}
        else:
            evidence["where"] = f"{endpoint.address}, its inter-broker address ({endpoint.listener})"
        return self._view.judge(self._resource, Status.FAIL, evidence, **reported)

    def _unknown(self, *, error: str, needs: str) -> Judgement:
        return self._view.judge(self._resource, Status.UNKNOWN, self._evidence(), error=error, needs=needs)

    @property
    def _resource(self) -> str:
        return f"broker/{self._broker}" if self._edge.endpoint is None else self._edge.endpoint.resource

    def _evidence(self) -> dict[str, object]:
        """Return what every judgement shows."""
        endpoint = self._edge.endpoint
        return {
            "target": f"broker {self._broker}",
            "broker": self._broker,
            "controller": self._view.controller,
            "host": endpoint and endpoint.host,
            "port": endpoint and endpoint.port,
            "listener": endpoint and endpoint.listener,
            "protocol": endpoint and endpoint.protocol,
            "symptom": self._symptom,
            "vantage": self._paths.vantage,
            "open": self._paths.open,
        }

    def _no_endpoint(self) -> dict[str, str]:
        listener = self._edge.listener
        if listener is None:
            return {"error": "its inter-broker listener is unknown", "needs": "DescribeConfigs on Cluster"}
        own = f"DescribeConfigs on Cluster, {file_of(self._broker)}, or a bootstrap address of listener {listener.name}"
        return {"error": f"the address of its listener {listener.name} is unknown", "needs": own}
