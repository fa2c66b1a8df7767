"""Repair of KA302, with the exact addresses, listeners and ports of the brokers at fault."""

from collections.abc import Iterable

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.diagnosis.cause import KnownCause
from kafka_audit.diagnosis.solver import diagnoses_into
from kafka_audit.incidents.causes.listeners.new_listener import new_listener
from kafka_audit.incidents.causes.repair import advertise, connect_commands, do_not, prove
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.model.commands import Command, Line, command, remark
from kafka_audit.model.finding import Confidence, Step
from kafka_audit.model.text import brokers, clean, is_plain_word

_EACH = 3
"""Number of endpoints up to which each has its own command; above it, they share one log line."""


def cut_off_steps(case: Case) -> tuple[Step, ...]:
    """Return what to see, the quick and the lasting repair, the proof, and what makes it worse."""
    return (_see(case), _quick(case), _lasting(case), prove(case), *_warnings(case))


def steps_of(cause: KnownCause, case: Case) -> tuple[Step, ...]:
    """Return the same for a cause that lets a test connection through: how to decide, and its remedy."""
    found = [one for broker in case.brokers[:_EACH] for edge in diagnoses_into(case.view, broker) for one in edge.candidates]
    see = dict.fromkeys(one.decided_by for one in found if one.cause == cause)
    target = str(case.brokers[0]) if len(case.brokers) == 1 else "each of them"
    return (
        *(Step(kind="see", text=f"See it yourself (reads only): {text}.") for text in list(see)[:1]),
        Step(kind="quick", text=cause.remedy.format(target=target)),
        prove(case),
    )


def _see(case: Case) -> Step:
    commands: list[Line] = []
    for source in case.sources[:3]:
        role = "controller" if case.by_controller else "broker"
        commands.append(remark("on the host of {role} {source}", role=role, source=source))
        commands.append(command("ss -tn state syn-sent"))
        commands.extend(connect_commands(case.endpoints, 5))
        if case.by_controller:
            commands.extend(_log_lines(case, source))
    text = "See it yourself (reads only). The first command lists connections that get no answer."
    return Step(kind="see", text=text, commands=tuple(commands))


def _log_lines(case: Case, controller: int) -> Iterable[Command]:
    if len(case.endpoints) <= _EACH:
        return [_log_line(case, controller, endpoint) for endpoint in case.endpoints]
    line = f"Controller {controller}'s connection to broker .* was unsuccessful"
    return [command("grep -E {line} controller.log | tail -20", line=line)]


def _log_line(case: Case, controller: int, endpoint: AdvertisedEndpoint) -> Command:
    registration = case.view.in_zookeeper.get(endpoint.broker_id)
    rack = (registration.rack if registration else None) or "null"
    line = (
        f"Controller {controller}'s connection to broker {endpoint.address} "
        f"(id: {endpoint.broker_id} rack: {rack}) was unsuccessful"
    )
    return command("grep -F {line} controller.log | tail -3", line=line)


def _quick(case: Case) -> Step:
    subject = brokers(case.brokers)
    if not case.endpoints:
        return Step(
            kind="quick",
            text=f"Set advertised.listeners of {subject} to an address that clients and every other broker resolve and reach.",
        )
    single = len(case.brokers) == 1
    sides = "" if single else " each"
    commands: list[Line] = []
    for endpoint in case.endpoints[:5]:
        commands.extend(advertise(case, (endpoint, _repaired(case, endpoint))))
    known = brokers(case.view.named_brokers)
    # In KRaft brokers fetch what the controllers know, and none of them becomes controller.
    whom = f"all brokers ({known})" if case.view.kraft else f"every possible controller ({known})"
    stuck = (
        "" if case.view.kraft else " A broker that cannot reach its controller may not stop on SIGTERM; in that case use SIGKILL."
    )
    return Step(
        kind="quick",
        text=(
            f"Set advertised.listeners of {subject} to {'an address' if single else 'addresses'} that clients and {whom} "
            f"resolve and reach, then restart {subject}{'' if single else ', one after the other'}. It may be{sides} a name that "
            f"clients resolve to the forward, and brokers, in /etc/hosts, to the broker's own address.{stuck}"
        ),
        commands=tuple(commands),
        cost=(
            f"{'A restart' if single else 'A restart each'}: leaders on {subject} move and move back. Clients that cannot "
            f"resolve or reach the new {'address' if single else 'addresses'} lose {subject}."
        ),
    )


def _repaired(case: Case, broken: AdvertisedEndpoint) -> str:
    return _worked_before(case, broken) or f"ADDRESS_FOR_CLIENTS_AND_BROKERS:{broken.port}"


def _worked_before(case: Case, endpoint: AdvertisedEndpoint) -> str | None:
    here = {f"broker/{endpoint.broker_id}", endpoint.resource}
    moved = (change for change in case.changes if change.kind == "endpoint" and change.resource in here)
    earlier = (at.text for change in moved for at in change.addresses_before)
    return next((address for address in earlier if is_plain_word(address)), None)


def _lasting(case: Case) -> Step:
    endpoint = next(iter(case.endpoints), None)
    if endpoint is None:
        return Step(kind="lasting", text="Add a dedicated inter-broker listener, at addresses that every broker reaches.")
    own = case.view.settings.get(endpoint.broker_id, "inter.broker.listener.name").value
    certificates = " Certificates must name the hosts that brokers advertise there." if endpoint.protocol in TLS else ""
    if own and len(case.view.endpoints.of(endpoint.broker_id)) > 1:
        return Step(
            kind="lasting",
            text=(
                f"Advertise for the existing inter-broker listener {clean(own)}, on every broker, a name that each "
                "broker resolves to that broker's own host, never a forward or proxy."
            ),
        )
    return Step(
        kind="lasting",
        text=(
            "Add a dedicated inter-broker listener to every broker in two rolling restarts: first add it everywhere, then "
            "switch to it. Remove security.inter.broker.protocol in the second one; Kafka refuses both settings together."
        ),
        commands=new_listener(case.view, endpoint),
        cost=f"Two rolling restarts of all brokers; clients keep their addresses.{certificates}",
    )


def _warnings(case: Case) -> Iterable[Step]:
    if case.view.zookeeper_read:
        yield do_not("rely on `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it reads only ZooKeeper.")
    if not case.by_controller:
        return
    measured = [root for root in case.roots if root.confidence is Confidence.MEASURED]
    also = sorted({source for root in measured for source in root.numbers("from")} - set(case.sources))
    reach = sorted({source for root in case.roots for source in root.numbers("open")} - {*also, *case.sources})
    if also:
        yield do_not(f"move the controller to {brokers(also)}: no connection from there to these addresses either (measured).")
    elif not reach:
        yield do_not("move the controller: whether any other broker reaches these addresses is not known.")
