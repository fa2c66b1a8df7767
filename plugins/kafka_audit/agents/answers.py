"""Answers from one stored report, each statement with an id that leads back to it. Pure.

An id is a JSON pointer into the report: `/incidents/0/evidence_for/1`. Nothing here is judged: the report has its sentences, and
these functions choose among them. What a cluster named itself (topics, principals, error texts) stays inside string values.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.text import did_you_mean
from kafka_audit.report.parties.matrix import MEANING
from kafka_audit.report.remedies import OF_A_BUNDLE

Report = Mapping[str, Any]
Answer = dict[str, Any]

MOST_CHARACTERS = 400_000
"""Of an answer: an agent reads each of them."""

_OF_INCIDENT = (
    "headline",
    "cause",
    "severity",
    "confidence",
    "confidence_why",
    "first_seen",
    "not_yet_at",
    "audits",
    "impacts",
    "impact",
    "lifecycle",
    "worse",
    "findings",
)
_MOST = 200
_LONGEST = 10_000  # characters of a text; a longer one is left out, not cut: a part of a command is another command
_PLACE = re.compile(r"[0-9]{1,9}")
_EVIDENCE = ("evidence_for", "evidence_against", "not_known")


def within_limits(answer: Mapping[str, Any], most: int = 0) -> str:
    """Return an answer as JSON in ASCII, where characters that turn or hide text are visible as escapes.

    Of a list with more than 200 entries, or `most` if that is more, the first are there and the number of the others: `changes`,
    `changes_omitted`.

    Raises:
        UsageError: even with few entries of each list the answer is too long.
    """
    most = max(most, _MOST)
    while len(text := json.dumps(_cut(answer, most), indent=1)) > MOST_CHARACTERS and most > 1:
        most //= 2
    if len(text) > MOST_CHARACTERS:
        msg = f"the answer has more than {MOST_CHARACTERS} characters; ask for a part of it, as by the id of an entry with `cite`"
        raise UsageError(msg)
    return text


def _cut(value: Any, most: int) -> Any:  # noqa: ANN401 -- whatever JSON holds
    match value:
        case str():
            return value if len(value) <= _LONGEST else f"[a text of {len(value)} characters]"
        case Mapping():
            found: Answer = {key: _cut(entry, most) for key, entry in islice(value.items(), _MOST)}
            lists = ((key, len(entry) - most) for key, entry in value.items() if isinstance(entry, list | tuple))
            omitted = {f"{key}_omitted": left for key, left in lists if left > 0}
            return found | omitted | ({"keys_omitted": len(value) - _MOST} if len(value) > _MOST else {})
        case list() | tuple():
            return [_cut(entry, most) for entry in value[:most]]
        case _:
            return value


def overviews(reports: Mapping[str, Report | str]) -> list[Answer]:
    """Return the overviews of clusters. Each has its share of the room, so that none takes that of the others.

    Args:
        reports: of each cluster its newest report, or why there is none.
    """
    room = MOST_CHARACTERS // 2 // max(1, len(reports))
    return [
        _in_room(room, {"cluster": name, "not_known": report} if isinstance(report, str) else _overview(name, report))
        for name, report in reports.items()
    ]


def _overview(cluster: str, report: Report) -> Answer:
    try:
        return overview(report)
    except (LookupError, TypeError, AttributeError):
        return {"cluster": cluster, "not_known": "its newest report has not the parts of a report"}


def _in_room(room: int, row: Answer) -> Answer:
    """Return a row with so many of its incidents as there is room for."""
    for most in (_MOST, 20, 5, 1):
        found: Answer = _cut(row, most)
        if len(json.dumps(found, indent=1)) <= room:
            return found
    return {"cluster": row["cluster"], "not_known": "its overview is too long: ask `why`"}


def overview(report: Report) -> Answer:
    """Return what is wrong in one sentence for each incident, and how complete the audit is."""
    coverage = report["coverage"]
    return {
        "cluster": report["cluster"],
        "snapshot_id": report["snapshot_id"],
        "finished_at": report["finished_at"],
        "mode": report["mode"],
        **_not_audited(report),
        "incidents": [
            {"id": f"/incidents/{place}", **{key: incident[key] for key in ("severity", "confidence", "headline", "cause")}}
            for place, incident in enumerate(report["incidents"])
        ],
        "resolved": [incident["headline"] for incident in report["resolved_incidents"]],
        "reads": {"asked": coverage["asked"], "answered": coverage["answered"]},
        "checks_without_data": report["counts"]["UNKNOWN"],
    }


def why(report: Report, incident: int | None = None) -> Answer:
    """Return the evidence of incidents, the causes that were not ruled out, and the steps.

    Args:
        report: of one audit.
        incident: its number in the report, from 1; None for all.

    Raises:
        UsageError: there is no such incident.
    """
    places = range(len(report["incidents"])) if incident is None else [incident - 1]
    if any(place not in range(len(report["incidents"])) for place in places):
        msg = f"there is no incident {incident}: the report of {report['cluster']} has {len(report['incidents'])}, from 1"
        raise UsageError(msg)
    return {**_head(report), "incidents": [_incident(place, report["incidents"][place]) for place in places]}


def _incident(place: int, incident: Mapping[str, Any]) -> Answer:
    root = f"/incidents/{place}"
    evidence = {key: [{"id": f"{root}/{key}/{at}", **_said(line)} for at, line in enumerate(incident[key])] for key in _EVIDENCE}
    candidates = [
        {"id": f"{root}/candidates/{number}", **candidate} for number, candidate in enumerate(incident.get("candidates", ()))
    ]
    steps = [
        {"id": f"{root}/remediation/{number}", **{key: step[key] for key in ("kind", "text", "commands", "cost")}}
        for number, step in enumerate(incident["remediation"])
    ]
    return {
        "id": root,
        **{key: incident[key] for key in _OF_INCIDENT if key in incident},
        **evidence,
        "candidates": candidates,
        "steps": steps,
    }


def _said(statement: object) -> Mapping[str, Any]:
    return statement if isinstance(statement, Mapping) else {"text": statement}


def findings(  # noqa: PLR0913 -- the ways to choose
    report: Report,
    *,
    status: str | None = "FAIL",
    at_least: str = "INFO",
    code: str | None = None,
    resource: str | None = None,
    limit: int = 50,
) -> Answer:
    """Return findings with their evidence, the worst first.

    Args:
        report: of one audit.
        status: FAIL, UNKNOWN or NOT_APPLICABLE; None for all. A report lists what passed only if it was asked to.
        at_least: a severity.
        code: of a check.
        resource: the beginning of its name, such as `broker/2` or `topic/orders`.
        limit: how many at most, from 1 on; never more than 200.

    Raises:
        UsageError: no severity or status has this name, or the limit is none.
    """
    if limit < 1:
        msg = f"limit is {limit}; it is a number from 1 to {_MOST}"
        raise UsageError(msg)
    statuses = [name.value for name in Status]
    if status is not None and status.upper() not in statuses:
        msg = f"{status!r} is no status{did_you_mean(status, statuses)} ({', '.join(statuses)})"
        raise UsageError(msg)
    if at_least.upper() not in Severity.__members__:
        names = Severity.__members__
        msg = f"{at_least!r} is no severity{did_you_mean(at_least, names)} ({', '.join(names)})"
        raise UsageError(msg)
    found = [
        {"id": f"/findings/{place}", "resource": _name(finding), **{key: finding[key] for key in _OF_FINDING}}
        for place, finding in enumerate(report["findings"])
        if (status is None or finding["status"] == status.upper())
        and Severity[finding["severity"]] >= Severity[at_least.upper()]
        and (code is None or finding["code"] == code.upper())
        and (resource is None or _is_at(_name(finding), resource))
    ]
    found.sort(key=lambda finding: -Severity[finding["severity"]])
    shown = found[: min(limit, _MOST)]
    return {**_head(report), "findings": shown, "omitted": len(found) - len(shown)}


_OF_FINDING = ("code", "name", "status", "severity", "confidence", "message", "evidence", "remediation", "lifecycle", "muted")


def _name(finding: Mapping[str, Any]) -> str:
    return str(finding["resource"]["name"])


def _is_at(name: str, resource: str) -> bool:
    return name == resource or name.startswith(f"{resource}/")


def said_by(report: Report, name: str) -> Answer:
    """Return what one party says and reaches: a broker, a controller, ZooKeeper or a vantage.

    Args:
        report: of one audit.
        name: as the report names it: `zookeeper`, `broker 2`, `controller 200`, `worker`, or a vantage of the cluster file.

    Raises:
        UsageError: the report has no such party.
    """
    row = _observer(report, name)
    kind, _, number = row["name"].partition(" ")
    view = [
        dict(zip(report["views"]["rows"], column["values"], strict=True))
        for column in report["views"]["columns"]
        if row["name"] in column["observers"]
    ]
    place = f"{kind}/{number}" if number.isdigit() else kind
    return {
        **_head(report),
        "party": row["name"],
        "note": row["note"],
        "says_of_the_cluster": view[0] if view else None,
        "reaches": dict(_cells(report["matrix"], row)),
        "not_answered": [read for read in _unread(report) if _is_of(read, row["name"], report["matrix"])],
        "findings": findings(report, resource=place)["findings"],
    }


def reach(report: Report, source: str, target: str) -> Answer:
    """Return whether one party reaches another, by the first layer that fails, and why.

    Args:
        report: of one audit.
        source: a party, as `said_by` takes it.
        target: `broker 2` or `controller 200`.

    Raises:
        UsageError: the report has no such party.
    """
    row, matrix = _observer(report, source), report["matrix"]
    cells = dict(_cells(matrix, row))
    wanted = _plain(target)
    if wanted not in cells:
        msg = f"the report of {report['cluster']} has no column {target!r}{did_you_mean(wanted, cells)} ({', '.join(cells)})"
        raise UsageError(msg)
    kind, _, number = wanted.partition(" ")
    endpoints = matrix["endpoints"] if kind == "broker" else matrix.get("controller_endpoints", {})
    return {
        **_head(report),
        "from": row["name"],
        "to": wanted,
        "address": endpoints.get(number),
        "state": cells[wanted],
        "why": [
            {"id": f"/matrix/why/{place}", "text": reason["text"]}
            for place, reason in enumerate(matrix["why"])
            if row["name"] in reason["observers"] and _concerns(reason, kind, number)
        ],
    }


def _concerns(why_not: Mapping[str, Any], kind: str, number: str) -> bool:
    """Return whether a line below the matrix is about a node; it lists no node where it is about all brokers."""
    listed = {"broker": why_not["brokers"], "controller": why_not.get("controllers", ())}
    return number in map(str, listed[kind]) or (kind == "broker" and not any(listed.values()))


def _observer(report: Report, name: str) -> Mapping[str, Any]:
    rows: dict[str, Mapping[str, Any]] = {row["name"]: row for row in report["matrix"]["observers"]}
    wanted = _plain(name)
    if wanted not in rows:
        msg = f"the report of {report['cluster']} has no party {name!r}{did_you_mean(wanted, rows)} ({', '.join(rows)})"
        raise UsageError(msg)
    return rows[wanted]


def _is_of(read: Mapping[str, Any], name: str, matrix: Mapping[str, Any]) -> bool:
    """Return whether a read was sent to a party: under its name, or at its address while it was not known who listens there."""
    kind, _, number = name.partition(" ")
    own = addresses_of(str(matrix["endpoints"].get(number, ""))) if kind == "broker" else ()
    return _plain(read["observer"]) == name or any(place in own for place in addresses_of(str(read["target"] or "")))


def _plain(name: str) -> str:
    return name.strip().replace(":", " ").replace("/", " ")


def _cells(matrix: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each column of a row with the words for its cells: of the way there, and of what the row's party lists."""
    for number, broker in enumerate(matrix["brokers"]):
        ways = [MEANING[row["reach"][number]]]
        view = row["view"][number]
        yield f"broker {broker}", ", ".join([*ways, *(["its view differs"] if MEANING[view] == "view" else [])])
    for number, node in enumerate(matrix.get("controllers", ())):
        yield f"controller {node}", MEANING[row["quorum"][number]]


def not_known(report: Report) -> Answer:
    """Return what the audit cannot say, and what would answer it: a right, a port, a file, a line of the cluster file."""
    reads = _unread(report)
    checks = [
        {
            "id": f"/findings/{place}",
            "code": finding["code"],
            "resource": _name(finding),
            "message": finding["message"],
            "needs": _needs(finding),
        }
        for place, finding in enumerate(report["findings"])
        if finding["status"] == "UNKNOWN"
    ]
    omitted = max(0, len(reads) - _MOST) + max(0, len(checks) - _MOST)
    asked = {"reads": reads[:_MOST], "checks": checks[:_MOST], "omitted": omitted}
    return {**_head(report), **asked, "never_asked": report["never_asked"]}


def _unread(report: Report) -> list[Answer]:
    keys = ("observer", "target", "operation", "reason", "error", "needs")
    unread = enumerate(report["coverage"]["unknown"])
    return [{"id": f"/coverage/unknown/{place}", **{key: read[key] for key in keys}} for place, read in unread]


def _needs(finding: Mapping[str, Any]) -> object:
    return finding["evidence"].get("needs")


def what_would_decide(report: Report) -> Answer:
    """Return what would decide between causes that were not ruled out, and which incidents and checks wait for it."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for place, incident in enumerate(report["incidents"]):
        for number, candidate in enumerate(incident.get("candidates", ())):
            if candidate["decided_by"]:
                waiting[candidate["decided_by"]].append(f"/incidents/{place}/candidates/{number}")
    for place, finding in enumerate(report["findings"]):
        if finding["status"] == "UNKNOWN" and _needs(finding):
            waiting[str(_needs(finding))].append(f"/findings/{place}")
    order = sorted(waiting, key=lambda needs: (not waiting[needs][0].startswith("/incidents"), -len(waiting[needs])))
    return {**_head(report), "inputs": [{"needs": needs, "waiting": waiting[needs]} for needs in order[:_MOST]]}


def cited(report: Report, pointer: str) -> Answer:
    """Return the part of a report that an id names.

    Raises:
        UsageError: the report has no such part.
    """
    part: Any = report
    root, *keys = pointer.split("/")
    for key in keys:
        match part:
            case Mapping() if key in part:
                part = part[key]
            case list() | tuple() if _PLACE.fullmatch(key) and int(key) < len(part):
                part = part[int(key)]
            case _:
                root = "none"
                break
    if root or not keys:
        msg = f"the report of {report['cluster']} has no {pointer}; an id is such as /incidents/0/evidence_for/1"
        raise UsageError(msg)
    return {**_head(report), "id": pointer, "content": part}


def _head(report: Report) -> Answer:
    note = OF_A_BUNDLE if report.get("origin") else ""
    notes = ({"origin": note} if note else {}) | _not_audited(report)
    return {"cluster": report["cluster"], "snapshot_id": report["snapshot_id"], **notes}


def _not_audited(report: Report) -> Answer:
    """Return that nothing answered: no incident is no all-clear then."""
    if report["coverage"]["answered"]:
        return {}
    places = dict.fromkeys(str(read["target"] or read["observer"]) for read in report["coverage"]["unknown"])
    return {"not_audited": f"no broker was read at {', '.join(islice(places, 3)) or 'any address'}: nothing was judged"}
