"""Causes with the same symptoms: each with its evidence, what rules it out, and the data that would decide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.incidents.causes.repair import connect_commands
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, command
from kafka_audit.model.finding import Status
from kafka_audit.model.text import brokers, clean, listing


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One of several causes with the same symptoms. `verdict` is None while it is possible, otherwise why it is ruled out."""

    name: str  # one word, for a headline
    fault: str  # the same, for a sentence
    code: str
    text: str
    verdict: str | None
    to_know: str


def candidates(case: Case) -> tuple[Candidate, ...]:
    """Return the causes that empty or freeze the views of the case's brokers, in the order in which a connection is made."""
    endpoints = [e for e in (case.view.inter_broker_endpoint(b) for b in case.brokers) if e is not None]
    return (_unreachable(case, endpoints), _unauthorised(case), _tls(case, endpoints), _login(case, endpoints))


def _already_judged(case: Case, code: str) -> str | None:
    """Return why a candidate is ruled out where its own check passed, or does not apply, for every broker concerned."""
    judged = [f for f in case.findings if f.code == code and (f.resource.broker in case.brokers or f.resource.name == "cluster")]
    if judged and all(f.status in {Status.PASS, Status.NOT_APPLICABLE} for f in judged):
        return f"{code} reports: {judged[0].message}"
    return None


def _unreachable(case: Case, endpoints: Sequence[AdvertisedEndpoint]) -> Candidate:
    view, controller = case.view, case.view.controller
    where = "the controller's host" if controller is None else f"the host of controller {controller}"
    paths = [p for e in endpoints for p in view.probes_to(e, "broker") if controller is None or p.from_broker == controller]
    sides = ((f.resource.broker, f.numbers("open")) for f in case.findings if f.code == "KA302")
    is_open = {broker for broker, sources in sides if (sources if controller is None else controller in sources)} >= {
        *case.brokers
    }
    if view.kraft:
        text, to_know = (
            "brokers fetch from the controllers; that connection was not measured",
            "nc from the broker's host to a controller",
        )
    else:
        text = f"no probe ran from {where}" if not paths else f"the probe from {where} has no result"
        to_know = (
            f"{quoting.plain_prose(connect_commands(tuple(endpoints[:1])))} on {where}"
            if endpoints
            else f"a vantage with role broker on {where}"
        )
    verdict = f"a probe from {where} connects" if is_open else _already_judged(case, "KA302")
    return Candidate(
        name="unreachable", fault="an address out of reach", code="KA302", text=text, verdict=verdict, to_know=to_know
    )


def _unauthorised(case: Case) -> Candidate:
    view = case.view
    authorizers = {b: view.inter_broker.authorizer(b) for b in case.brokers}
    with_authorizer = [b for b, setting in authorizers.items() if setting.value]
    unread = [b for b, setting in authorizers.items() if not setting.known]
    verdict = None
    if not with_authorizer and not unread:
        verdict = f"{brokers(case.brokers)} {'runs' if len(case.brokers) == 1 else 'run'} no authorizer"
    text = (
        f"an authorizer is set on {brokers(with_authorizer)}"
        + (", and super.users is hidden" if any(view.inter_broker.super_users(b) is None for b in with_authorizer) else "")
        if with_authorizer
        else f"{brokers(unread)} did not report whether an authorizer is set"
    )
    return Candidate(
        name="unauthorised",
        fault="a missing right (ClusterAction)",
        code="KA401",
        text=text,
        verdict=verdict or _already_judged(case, "KA401"),
        to_know=f"server.properties of {brokers(case.brokers)}, or `CLUSTER_AUTHORIZATION_FAILED` in {rights_log(case)}",
    )


def _tls(case: Case, endpoints: Sequence[AdvertisedEndpoint]) -> Candidate:
    used, reported = _protocols(case, endpoints)
    certificate = quoting.plain_prose((handshake(endpoints[0]),)) if endpoints else "the certificate of the brokers' listener"
    verdict = None
    if reported and not any("SSL" in protocol.split("_") for protocol in used):
        verdict = f"the brokers' listener is {listing(used)}"
    elif endpoints and all(any("tls" in p.passed for p in case.view.probes_to(e, "client")) for e in endpoints):
        verdict = "the auditor's own handshake with name check is accepted"
    return Candidate(
        name="TLS",
        fault="a failed TLS handshake",
        code="KA412",
        text=f"the brokers' listener is {listing(used) or 'not known'}",
        verdict=verdict or _already_judged(case, "KA412"),
        to_know=f"{certificate}, or `SSL handshake failed` in {login_log(case)}",
    )


def handshake(endpoint: AdvertisedEndpoint) -> Command:
    """Return a handshake that checks the certificate's name, as another broker's does."""
    return command(
        "openssl s_client -connect {address} -CAfile ca.pem -verify_hostname {host} -verify_return_error",
        address=endpoint.address,
        host=endpoint.host,
    )


def _login(case: Case, endpoints: Sequence[AdvertisedEndpoint]) -> Candidate:
    used, reported = _protocols(case, endpoints)
    sasl = any(protocol.startswith("SASL") for protocol in used)
    return Candidate(
        name="login",
        fault="a refused login",
        code="KA412",
        text=f"the brokers' listener is {listing(used) or 'not known'}",
        verdict=f"the brokers' listener is {listing(used)}" if reported and not sasl else _already_judged(case, "KA412"),
        to_know=f"server.properties of {brokers(case.brokers)} and the others, or `Authentication failed` in {login_log(case)}",
    )


def _protocols(case: Case, endpoints: Sequence[AdvertisedEndpoint]) -> tuple[list[str], bool]:
    """Return the protocols in question, and whether they are all known; without the settings every listener is in question."""
    known = {e.broker_id for e in endpoints}
    asked: Iterable[AdvertisedEndpoint] = (
        endpoints if known >= set(case.brokers) else [e for b in case.brokers for e in case.view.endpoints.of(b)]
    )
    used = {e.protocol for e in asked}
    return sorted(clean(p) for p in used if p), bool(used) and None not in used


def rights_log(case: Case) -> str:
    """Return where the controller writes that it has no right; controller.log has only `… was unsuccessful` (2.8.2, 3.9.1)."""
    return _log(case, "state-change.log")


def login_log(case: Case) -> str:
    """Return where the controller writes that a login or handshake failed."""
    return _log(case, "server.log")


def _log(case: Case, name: str) -> str:
    controller = case.view.controller
    # Without ZooKeeper everything is in server.log.
    return "the brokers' server.log" if case.view.kraft or controller is None else f"{name} of broker {controller}"
