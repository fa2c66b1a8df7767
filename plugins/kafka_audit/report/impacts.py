"""What of Kafka fails for whom while an incident lasts: by function, as producers, consumers and operators see it.

Which functions a failure stops is a key of its check's YAML (`stops`), by what it is about:

| key | what does not work |
|---|---|
| `partition` | what clients do with that partition; for one of Kafka's own topics what it holds for groups and transactions |
| `leads` | the same with all partitions that the broker leads, of groups and transactions, too: where its own view is empty, |
|  | or where no host reaches any of its addresses |
| `denies` | what clients do with the partitions of which the broker, as their leader, answers that it does not lead them |
| `user` | what the user of the finding does |
| `cluster` | what the whole cluster does |
| `every broker` | the same, once each broker has the finding as CRITICAL |
| `later` | nothing now, and it lists nothing: only a restart or a loss would fail |

With `since 3.7` behind it, a key holds where each broker is known to run that release or a later one. A failure of MEDIUM or
below stops nothing: a replica that copies is out of sync, too. Of the whole cluster nothing is said that is only suspected.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_audit.checks import Check
from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.differences.tables import CoordinatorShare
from kafka_audit.model.finding import Confidence, Finding, Severity, Status
from kafka_audit.model.report import FUNCTIONS, Impact
from kafka_audit.model.tables import LeadershipAnswer
from kafka_audit.model.text import brokers, clean, counted, listing, start_upper

MOST_NAMES = 1000
"""Names of one list that the document keeps; a cluster may have millions of partitions."""

_NAMED = 3
_OF_COORDINATORS = {"__consumer_offsets": "commit_offsets", "__transaction_state": "transactions"}


@dataclass(kw_only=True)
class _Hurt:
    """What one function fails for. A kind of which nothing is known stays None."""

    partitions: dict[tuple[str, int], None] = field(default_factory=dict)
    led: dict[int, int] = field(default_factory=dict)  # by broker, the partitions that are counted and not named
    groups: dict[str, None] | None = None
    clients: dict[str, None] | None = None


def impacts(findings: Iterable[Finding], checks: Mapping[str, Check], view: ClusterView) -> tuple[Impact, ...]:
    """Return what fails while these findings of one incident do, in the order of `FUNCTIONS`."""
    hurt: dict[str, _Hurt] = {}
    findings = list(findings)
    for finding in findings:
        check = checks.get(finding.code)
        if check is not None and finding.status is Status.FAIL and finding.severity >= Severity.HIGH:
            for scope, functions in check.stops.items():
                kind, _, since = scope.partition(" since ")
                if kind == "every broker":
                    kind = "cluster" if _of_every_broker(findings, finding.code, view) else ""
                if kind and (not since or _all_run(view, since)):
                    _add(hurt, finding, kind, functions, view)
    return tuple(_impact(function, hurt[function], view) for function in FUNCTIONS if function in hurt)


def _add(hurt: dict[str, _Hurt], finding: Finding, scope: str, functions: Sequence[str], view: ClusterView) -> None:
    if scope == "partition":
        _add_partition(hurt, finding, functions, view)
    elif scope == "leads":
        _add_led(hurt, finding, functions, view)
    elif scope == "denies":
        answers = (row for row in view.newest(LeadershipAnswer) if row.broker_id == finding.resource.broker)
        for row in answers:
            if row.asked_as == "leader" and row.error:
                _add_place(hurt, (row.topic, row.partition), functions, view)
    elif scope != "cluster" or finding.confidence is not Confidence.SUSPECTED:
        for function in functions:
            found = hurt.setdefault(function, _Hurt())
            if scope == "user" and (user := finding.text("user")):
                found.clients = {**(found.clients or {}), user: None}


def _add_led(hurt: dict[str, _Hurt], finding: Finding, functions: Sequence[str], view: ClusterView) -> None:
    broker, nowhere = finding.resource.broker, finding.evidence.get("nowhere") is True
    if broker is None or not (nowhere or (finding.evidence.get("empty") is True and not view.kraft)):
        return
    faulty = [state for state in view.partitions.of_kind("under_replicated") if state.leader == broker]
    if nowhere and len(faulty) == view.partitions.led_by((broker,)):  # each that it leads is known by name
        of_topics = [function for function in functions if function not in _OF_COORDINATORS.values()]
        for state in faulty:
            _add_place(hurt, (state.topic, state.partition), of_topics, view)
        return
    own = {row.topic: row.led for row in view.differences.of(CoordinatorShare) if row.broker_id == broker}
    led = {function: own.get(topic, 0) for topic, function in _OF_COORDINATORS.items()}
    of_clients = view.partitions.led_by((broker,)) - sum(own.values())
    for function in functions:
        if count := led.get(function, of_clients):
            hurt.setdefault(function, _Hurt()).led[broker] = count


def _of_every_broker(findings: Iterable[Finding], code: str, view: ClusterView) -> bool:
    critical = (finding for finding in findings if finding.code == code and finding.severity is Severity.CRITICAL)
    return set(view.brokers) <= {finding.resource.broker for finding in critical}


def _all_run(view: ClusterView, since: str) -> bool:
    wanted = version_numbers(since)
    found = [minor_releases(view, broker) for broker in view.brokers]
    return bool(found) and all(known is not None and known[0] >= wanted for known in found)


def _add_partition(hurt: dict[str, _Hurt], finding: Finding, functions: Sequence[str], view: ClusterView) -> None:
    place = finding.resource.topic_partition
    if place is not None:
        _add_place(hurt, place, functions, view)


def _add_place(hurt: dict[str, _Hurt], place: tuple[str, int], functions: Sequence[str], view: ClusterView) -> None:
    held = coordinated_by(view, *place)
    for function in functions:
        # Clients do not write to Kafka's own topics: their brokers do, for groups and transactions.
        own = _OF_COORDINATORS.get(place[0]) if function != "replicate" else None
        if own is None and held is not None and function != "replicate":
            continue  # share groups, whose names no impact has: the text of the incident says that they stop
        found = hurt.setdefault(own or function, _Hurt())
        found.partitions[place] = None
        if own == "commit_offsets" and held is not None and held.known:
            found.groups = {**(found.groups or {}), **dict.fromkeys(held.known)}
        if own == "transactions" and held is not None and held.known:
            found.clients = {**(found.clients or {}), **dict.fromkeys(held.known)}


def _impact(function: str, found: _Hurt, view: ClusterView) -> Impact:
    places = sorted(place for place in found.partitions if _leader(view, place) not in found.led)  # those are counted
    topics = [*dict.fromkeys(clean(topic) for topic, _ in places)]
    return Impact(
        function=function,
        topics=tuple(topics[:MOST_NAMES]) if places else None,
        partitions=tuple(f"{clean(topic)}-{number}" for topic, number in places[:MOST_NAMES]) if places else None,
        groups=None if found.groups is None else tuple(map(clean, [*found.groups][:MOST_NAMES])),
        clients=None if found.clients is None else tuple(map(clean, [*found.clients][:MOST_NAMES])),
        number=len(places) + sum(found.led.values()) or None,
        leaders=tuple(sorted(found.led)),
    )


def _leader(view: ClusterView, place: tuple[str, int]) -> int | None:
    state = view.partitions.state(*place)
    return state.leader if state else None


_FAILS = {
    ("produce_acks_all", "produce", "consume"): "Clients cannot write to or read from",
    ("produce_acks_all", "consume"): "Producers with acks=all fail, and consumers read nothing new, at",
    ("produce_acks_all",): "Producers with acks=all fail at",
    ("replicate",): "Replicas do not follow their leader in",
}
_NAMED_ONES = {
    "commit_offsets": ("group", "consumer groups", "cannot commit or rebalance"),
    "transactions": ("transactional producer", "transactional producers", "cannot begin or end a transaction"),
    "log_in": ("user", "users", "cannot log in"),
}
_WHOLE = {"create_topics": "no topic can be created", "elect_leader": "no partition gets a new leader"}


def who_is_hurt(found: Sequence[Impact]) -> str:
    """Return the impacts of an incident in one sentence or a few; "" where none is known."""
    whole = [text for function, text in _WHOLE.items() if any(impact.function == function for impact in found)]
    sentences = [*_of_partitions(found), *_of_names(found), *([", and ".join(whole)] if whole else [])]
    return " ".join(f"{start_upper(sentence)}." for sentence in sentences)


@dataclass(frozen=True, kw_only=True)
class _FailingAlike:
    """Partitions that fail alike: by name, and a number of others, which these brokers lead."""

    names: tuple[str, ...] = ()
    others: int = 0
    leaders: tuple[int, ...] = ()


def _part(impact: Impact) -> _FailingAlike:
    names = impact.partitions or ()
    return _FailingAlike(names=names, others=(impact.number or 0) - len(names), leaders=impact.leaders)


def _of_partitions(found: Sequence[Impact]) -> Iterator[str]:
    """Yield a sentence for each set of functions that fail: of the partitions where exactly those do, if all have names."""
    cut = any(part.others and not part.leaders for part in map(_part, found))
    fails: dict[_FailingAlike, list[str]] = {}
    for impact in found:
        whole = _part(impact)
        each = [_FailingAlike(names=(name,)) for name in whole.names]
        for part in [whole] if cut else [*each, *([replace(whole, names=())] if whole.others else [])]:
            fails.setdefault(part, []).append(impact.function)
    alike: dict[tuple[str, ...], list[_FailingAlike]] = {}
    for part, functions in fails.items():
        of_clients = tuple(function for function in functions if function in {"produce_acks_all", "produce", "consume"})
        alike.setdefault(of_clients or tuple(functions), []).append(part)
    for failing, what in _FAILS.items():  # where clients fail, that replicas do not follow is no news
        if failing in alike:
            yield f"{what} {_places(alike[failing])}"


def _of_names(found: Iterable[Impact]) -> Iterator[str]:
    for impact in found:
        if impact.function in _NAMED_ONES:
            one, unknown, cannot = _NAMED_ONES[impact.function]
            names = impact.groups if impact.function == "commit_offsets" else impact.clients
            known = "" if names is None else f"{one}{'' if len(names) == 1 else 's'} {listing(names, _NAMED)}"
            whose = f"whose coordinator is {brokers(impact.leaders)}" if impact.leaders else f"of {_places([_part(impact)])}"
            yield f"{known or f'{unknown} {whose}'} {cannot}"


def _places(parts: Sequence[_FailingAlike]) -> str:
    led = [f"{counted(part.others, 'partition')} that {_lead(part.leaders)}" for part in parts if part.leaders]
    names = [name for part in parts for name in part.names]
    unnamed = sum(part.others for part in parts if not part.leaders)
    return ", and ".join([*([_named(names, len(names) + unnamed)] if names or unnamed else []), *led])


def _lead(leaders: Sequence[int]) -> str:
    return f"{brokers(leaders)} {'leads' if len(leaders) == 1 else 'lead'}"


def _named(names: Sequence[str], number: int) -> str:
    topics = [*dict.fromkeys(name.rpartition("-")[0] for name in names)]
    if number == len(names) and (number == 1 or (number <= _NAMED and len(topics) > 1)):
        return listing(names, _NAMED)
    if not topics:
        return counted(number, "partition")
    of = f"topic {topics[0]}" if len(topics) == 1 else counted(len(topics), "topic")
    return f"{counted(number, 'partition')} of {of}" + (f": {listing(topics, _NAMED)}" if len(topics) > 1 else "")
