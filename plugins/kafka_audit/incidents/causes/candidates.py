"""What may break the edges to the brokers of an incident, as their diagnosis says: what shows it, rules it out, would decide."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.diagnosis.cause import Kind
from kafka_audit.diagnosis.solver import Diagnosis, diagnoses_into
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.model.commands import Command, command
from kafka_audit.model.text import clean, listing

_SHOWN = 2


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Causes of one kind. `verdict` is None while one of them is possible, otherwise why each is ruled out."""

    kind: Kind
    rare: bool
    text: str
    verdict: str | None
    to_know: str


def candidates(case: Case) -> tuple[Candidate, ...]:
    """Return what may break the edges that end at the case's brokers, in the order in which a connection is made."""
    found = [diagnosis for broker in case.brokers if (diagnosis := _first(diagnoses_into(case.view, broker))) is not None]
    kinds = dict.fromkeys(candidate.cause.kind for diagnosis in found for candidate in diagnosis.candidates)
    return tuple(_candidate(kind, found) for kind in kinds)


def _first(diagnoses: Iterable[Diagnosis]) -> Diagnosis | None:
    every = list(diagnoses)
    missing = (diagnosis for diagnosis in every if diagnosis.edge.effect.state == "missing")
    return next(missing, next(iter(every), None))


def _candidate(kind: Kind, found: list[Diagnosis]) -> Candidate:
    of_kind = [candidate for diagnosis in found for candidate in diagnosis.candidates if candidate.cause.kind == kind]
    possible = [candidate for candidate in of_kind if candidate.possible]
    shown = dict.fromkeys(clean(f"{one.observer}: {one.text}") for candidate in possible for one in candidate.shown_by)
    open_by = dict.fromkeys(clean(one.text) for candidate in possible for one in candidate.left_open_by)
    against = dict.fromkeys(clean(one.text) for candidate in of_kind for one in candidate.against)
    return Candidate(
        kind=kind,
        rare=all(candidate.cause.rare for candidate in of_kind) and not shown,
        text=listing(shown or open_by, _SHOWN) or "nothing that was read shows it or rules it out",
        verdict=None if possible else listing(against, _SHOWN),
        to_know=(possible or of_kind)[0].decided_by,
    )


def handshake(endpoint: AdvertisedEndpoint) -> Command:
    """Return a handshake that checks the certificate's name, as another broker's does."""
    return command(
        "openssl s_client -connect {address} -CAfile ca.pem -verify_hostname {host} -verify_return_error",
        address=endpoint.address,
        host=endpoint.host,
    )


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
