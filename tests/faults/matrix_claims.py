"""Where the matrix of a document contradicts its findings: an edge that works here and is broken there."""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_audit.report.parties.matrix import LADDER
from testbed.corpus.documents import Document

FROM_VANTAGES = {"KA301": "DTLSA", "KA111": "I"}
"""Checks of edges from vantages, and the letters of what they judge."""
BETWEEN_BROKERS = {"KA302": "DT", "KA401": "R", "KA403": "", "KA412": "LS"}
TO_CONTROLLERS = frozenset({"KA209", "KA210", "KA211", "KA216", "KA218"})
OLD_VIEW = frozenset({"KA101", "KA102", "KA105", "KA107"})
"""What shows at a broker that does not follow its controllers, though it fetches from them."""
OF_TOPICS = frozenset({"KA101", "KA102", "KA103", "KA104", "KA106", "KA107", "KA108", "KA109"})
EVIDENCE = frozenset({*FROM_VANTAGES, *BETWEEN_BROKERS, *TO_CONTROLLERS, "KA105", "KA106"})
"""Checks whose evidence says between which parties."""


def contradictions(document: Document) -> Iterator[str]:
    """Yield each finding that the matrix contradicts, with the cells."""
    matrix, found = document["matrix"], [(one, _broker(one)) for one in document["findings"]]
    columns = {broker: place for place, broker in enumerate(matrix["brokers"])}
    rows = {row["name"]: row for row in matrix["observers"]}
    # A cell is of all listeners of a broker, a finding of one.
    left = {(one["code"], broker) for one, broker in found if one["status"] not in {"PASS", "NOT_APPLICABLE"}}
    yield from _of_controllers(document)
    for one, broker in found:
        if broker not in columns:
            continue
        code, where = one["code"], one["resource"]["name"]
        vantages = {name: rows[name]["reach"][columns[broker]] for name in one["evidence"].get("vantage", ()) if name in rows}
        hosts = {row["broker"]: row["reach"][columns[broker]] for row in matrix["observers"] if row["broker"] is not None}
        wrong: Mapping[Any, str] = {}
        if code in FROM_VANTAGES and one["status"] == "FAIL":
            wrong = {name: cell for name, cell in vantages.items() if cell not in LADDER}
        elif code in FROM_VANTAGES and one["status"] == "PASS" and (code, broker) not in left:
            wrong = {name: cell for name, cell in vantages.items() if cell in FROM_VANTAGES[code]}
        elif code in BETWEEN_BROKERS and one["status"] == "PASS" and (code, broker) not in left:
            wrong = {source: cell for source, cell in hosts.items() if cell in BETWEEN_BROKERS[code]}
        elif code in BETWEEN_BROKERS and one["status"] == "FAIL" and (code == "KA302" or one["severity"] == "CRITICAL"):
            wrong = _shown_as_working(one, {**hosts, broker: hosts[broker] if broker == matrix["controller"] else "-"})
        elif code in {"KA105", "KA106"}:
            wrong = _views(document, one, rows.get(f"broker {broker}", {}).get("view", ""), columns)
        if wrong:
            yield f"{code} {one['status']} {one['confidence']} at {where}: {wrong}"


def _broker(finding: Mapping[str, Any]) -> int | None:
    kind, _, rest = finding["resource"]["name"].partition("/")
    number = rest.partition("/")[0]
    return int(number) if kind == "broker" and number.isdecimal() else None


def _of_controllers(document: Document) -> Iterator[str]:
    for one in document["findings"]:
        if one["code"] in TO_CONTROLLERS and one["status"] in {"PASS", "FAIL"}:
            wrong = list(_to_controllers(document, one, _broker(one)))
            if wrong:
                yield f"{one['code']} {one['status']} at {one['resource']['name']}: {wrong}"


def _to_controllers(document: Document, finding: Mapping[str, Any], broker: int | None) -> Iterator[tuple[str, str]]:
    """Yield the row and the cell of each edge to a controller that is broken in the finding alone, or in the matrix alone."""
    matrix, code, evidence = document["matrix"], finding["code"], finding["evidence"]
    rows = {row["name"]: row["quorum"] for row in matrix["observers"]}
    names = {row[role]: row["name"] for row in matrix["observers"] for role in ("broker", "controller")}
    named = matrix["controller_endpoints"]
    columns = {at: place for place, node in enumerate(matrix["controllers"]) for at in named.get(str(node), "").split(", ")}
    failed = finding["status"] == "FAIL"
    edges: list[tuple[str, int]] = []
    if code == "KA211" and "," not in named[str(matrix["controllers"][columns[evidence["address"]]])]:
        edges = [("worker", columns[evidence["address"]])]
    elif code == "KA216" and failed:
        edges = [(names[broker], columns[at]) for at in evidence["addresses"]]
    elif code == "KA216":
        probing = [row["quorum"] for row in matrix["observers"] if row["broker"] is not None or row["note"] == "vantage"]
        edges = [(names[broker], at) for at in columns.values() if any(cells[at] == "." for cells in probing)]
    elif code == "KA218" and failed and len(evidence["unreached"]) == 1:
        edges = [(names[node], columns[evidence["addresses"][0]]) for node in evidence["sources"]]
    elif code == "KA210":
        edges = [(names[broker], matrix["controllers"].index(evidence["leader"]))]
    elif code == "KA209":
        nodes = evidence["controllers"] if failed else [row["controller"] for row in matrix["observers"]]
        edges = [(names[node], matrix["controllers"].index(evidence["leader"])) for node in nodes if node is not None]
    judged = "DTLSAP" if code in {"KA211", "KA216"} else "E"
    old = {_broker(one) for one in document["findings"] if one["code"] in OLD_VIEW and one["status"] != "PASS"}
    for name, place in edges:
        cell = rows[name][place]
        if (cell not in LADDER) if failed else (cell in judged and (cell != "E" or int(name.split()[1]) not in old)):
            yield name, cell


def _shown_as_working(finding: Mapping[str, Any], hosts: Mapping[int, str]) -> Mapping[int, str]:
    """Return cells of a broken edge that say that it works; all of them, where none says that it is broken."""
    cells = {source: hosts[source] for source in finding["evidence"].get("from", ()) if source in hosts}
    reported = finding["code"] == "KA302" or "symptom" in finding["evidence"]
    if reported and not any(cell in LADDER for cell in cells.values()):
        return cells
    return {source: cell for source, cell in cells.items() if cell == "."}


def _views(document: Document, finding: Mapping[str, Any], cells: str, columns: Mapping[int, int]) -> Mapping[str, str]:
    """Return the row of a broker's view, where it shows no difference that a finding has, or one that no finding has."""
    evidence, where = finding["evidence"], finding["resource"]["name"]
    differs = [*evidence.get("missing", ()), *evidence.get("subjects", ())]
    if finding["status"] == "FAIL":
        return {where: cells} if any(cells[columns[broker]] != "V" for broker in differs if broker in columns) else {}
    judged = [one for one in document["findings"] if one["code"] in {"KA105", "KA106"}]
    states = {one["status"] for one in judged if one["resource"]["name"] == where}
    # In KRaft the finding on a broker that no other lists is about that broker.
    unlisted = {_broker(one) for one in judged if one["status"] not in {"PASS", "NOT_APPLICABLE"}}
    # Its own cell shows that it has other topics or leaders, which other findings say of it.
    of_topics = (one for one in document["findings"] if one["code"] in OF_TOPICS and _broker(one) == _broker(finding))
    unlisted |= {_broker(one) for one in of_topics if one["status"] not in {"PASS", "NOT_APPLICABLE"}}
    shown = [broker for broker, column in columns.items() if cells[column : column + 1] == "V" and broker not in unlisted]
    return {where: cells} if states <= {"PASS", "NOT_APPLICABLE"} and shown else {}
