"""What proposed files would break of a running cluster: judged by its newest snapshot with the files in place of what runs. Pure.

A change is rolled broker by broker, so each file is put in alone, and then all of them: what fails then and does not fail now is
the change's doing, and what cannot be determined then and is not the same today is unknown.

Views, logs and differences show how the cluster works as it runs, not how it would work after the change. They are left out on
both sides: now and after the change are judged by settings, ACLs and registrations alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from kafka_audit.checks import Check
from kafka_audit.checks.listeners.endpoint_unreachable import endpoint_judgement
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.faults.serve_edges import ServeEdges
from kafka_audit.lint import members
from kafka_audit.lint.members import Member
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries, protocols_by_listener
from kafka_audit.model.finding import Judgement, Resource, Severity, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    Certificate,
    LogLine,
    Probe,
    PropertyLogin,
    RegisteredEndpoint,
    Row,
)
from kafka_audit.model.text import brokers

_UNTRIED = "an audit after the broker listens there, or a connection from the network of the clients"
CHECKS = ("KA312", "KA401", "KA407")

_RUNNING = (BrokerView, LogLine)
_REPLACED = (BrokerConfig, BrokerProperty, PropertyLogin, Probe, Certificate)


def change_judgements(view: ClusterView, proposed: Sequence[Member], checks: Mapping[str, Check], key: bytes) -> list[Judgement]:
    """Return what the change breaks, and where it cannot be determined whether it breaks something.

    Args:
        view: the running cluster.
        proposed: brokers with their new settings.
        checks: all checks by code.
        key: of the HMAC that passwords become.
    """
    own = {code: checks[code] for code in CHECKS}
    serving = [member for member in proposed if member.serves]
    steps = [(f"while only broker {member.broker_id} runs with its new file", [member]) for member in serving]
    if len(serving) > 1:
        steps.append(("after all brokers run with their new files", serving))
    now = view_by_settings(view, view.snapshot.rows)
    before = {(judgement.code, judgement.resource): judgement for judgement in (*judge(now, own), *_mechanisms(now, serving))}
    failed: dict[tuple[str, str], Judgement] = {}
    unknown: dict[tuple[str, str], Judgement] = {}
    for when, changed in steps:
        after, resources = changed_view(view, changed, key), {f"broker/{member.broker_id}" for member in changed}
        for judgement in (*judge(after, own), *_mechanisms(after, changed)):
            place = (judgement.code, judgement.resource)
            earlier = before.get(place)
            # Halfway through brokers differ: what is no worse than that is the change itself.
            halfway = judgement.severity is Severity.MEDIUM and changed is not steps[-1][1]
            if judgement.status is Status.FAIL and not halfway and (earlier is None or earlier.status is not Status.FAIL):
                failed.setdefault(place, _at_step(judgement, when, resources, alone=changed is not serving))
            elif judgement.status is Status.UNKNOWN and (earlier is None or earlier.evidence != judgement.evidence):
                unknown.setdefault(place, _at_step(judgement, when, resources, alone=changed is not serving))
    return [*({**unknown, **failed}).values(), *_addresses(view, serving)]


def view_by_settings(view: ClusterView, rows: Iterable[Row]) -> ClusterView:
    """Return a view of rows without what shows how the cluster works as it runs; in KRaft views say which brokers there are."""
    left_out = (LogLine,) if view.kraft else _RUNNING
    return ClusterView.of_files(replace(view.snapshot, rows=tuple(row for row in rows if not isinstance(row, left_out))))


def _at_step(judgement: Judgement, when: str, changed: set[str], *, alone: bool) -> Judgement:
    """Return a judgement with the step at which it applies; requirements on other brokers are reported at the requiring file."""
    evidence = dict(judgement.evidence)
    if Resource.of(judgement.resource).root not in changed:
        evidence["key"] = "inter.broker.listener.name"
    for word in ("error",) if judgement.status is Status.UNKNOWN else ("fault", "why", "others"):
        if word in evidence:
            evidence[word] = f"{evidence[word]}, {when}"
            break
    return replace(judgement, evidence={**evidence, "when": when, "alone": alone})


def changed_view(view: ClusterView, changed: Sequence[Member], key: bytes) -> ClusterView:
    """Return the cluster as it would be with some brokers restarted; what was measured at them says nothing of that."""
    ids = {member.broker_id for member in changed}
    now, _ = view.samples
    kept = [row for row in view.snapshot.rows if not _stale(row, ids, now)]
    added: list[Row] = [row for member in changed for row in members.configuration_rows(member, key)]
    registered = view.in_zookeeper
    added += [row for member in changed if member.broker_id in registered for row in advertised_by_member(member, now or 0)]
    return view_by_settings(view, (*kept, *added))


def _stale(row: Row, ids: set[int], now: int | None) -> bool:
    if isinstance(row, RegisteredEndpoint):
        return row.broker_id in ids and row.sample == now
    return isinstance(row, _REPLACED) and row.broker_id in ids


def advertised_by_member(member: Member, sample: int) -> Iterator[RegisteredEndpoint]:
    """Yield the advertised addresses of a broker with its new settings; listeners of controllers are left out."""
    if KEY in member.broker.unknown:
        return  # what contains a placeholder is not what `listeners` says
    mapped = protocols_by_listener(member.broker.value("listener.security.protocol.map"))
    for entry in entries({key: member.broker.value(key) for key in (KEY, INSTEAD, CONTROLLERS)}):
        if entry.port is not None:
            yield RegisteredEndpoint(
                sample=sample,
                broker_id=member.broker_id,
                listener=entry.listener,
                protocol=mapped.get(entry.listener, entry.listener),
                host=entry.host or "",
                port=entry.port,
            )


def _mechanisms(after: ClusterView, changed: Iterable[Member]) -> Iterator[Judgement]:
    """Yield endpoints whose broker does not offer the mechanism that a changed broker would log in with, and the reverse."""
    between, ids = after.inter_broker, {member.broker_id for member in changed}
    for target, (name, users) in product(between.brokers, between.users.items()):
        if name not in (between.offered(target) or ()):
            continue  # which is KA312's
        offered = after.logins.offered_mechanisms(target, name)
        for mechanism in sorted({between.mechanism(finding).value or "" for finding in users} - {""}):
            clients = [user for user in users if between.mechanism(user).value == mechanism and (user in ids or target in ids)]
            used = between.listener(clients[0]) if clients else None
            if used is None or not used.logs_in or (offered is not None and mechanism in offered):
                continue
            facts = {"broker": target, "listener": name, "protocol": str(used.protocol), "who": f"broker {target}"}
            facts |= {"whom": brokers(clients).capitalize(), "cannot": "cannot", "source": brokers(clients)}
            facts["repair"] = f"add {mechanism} to sasl.enabled.mechanisms of broker {target} first"
            facts["key"] = between.settings.first_set(clients[0], "sasl.mechanism.inter.broker.protocol")
            if offered is None:
                facts["error"] = (
                    f"{brokers(clients)} would log in with {mechanism}; the mechanisms of listener {name} are unknown"
                )
                facts["needs"] = f"DescribeConfigs on Cluster, server.properties of broker {target}, or a probe of the listener"
            else:
                facts["why"] = f"it offers {', '.join(sorted(offered))}, not {mechanism}"
            status = Status.UNKNOWN if offered is None else Status.FAIL
            yield replace(after.judge(f"broker/{target}/listener/{name}", status, facts), code="KA412")


def _addresses(view: ClusterView, proposed: Iterable[Member]) -> Iterator[Judgement]:
    """Yield what KA301 says of addresses that are new, by probes that were made of them for another reason."""
    held = {(row.broker_id, *canonical_address(row.host, row.port)) for row in view.endpoints.all}
    for end in (end for member in proposed for end in advertised_by_member(member, 0)):
        address = canonical_address(end.host, end.port)
        if (end.broker_id, *address) in held:
            continue
        endpoint = AdvertisedEndpoint(broker_id=end.broker_id, listener=end.listener, host=end.host, port=end.port)
        tried = [*view.derived(ServeEdges).at(end.host, end.port)]
        judged = endpoint_judgement(view, endpoint, tried, ("not this one",))
        if judged.status is not Status.PASS:
            untried = {"error": "no vantage has probed it", "needs": _UNTRIED} if not tried else {}
            yield replace(judged, code="KA301", evidence={**judged.evidence, **untried, "key": KEY})
