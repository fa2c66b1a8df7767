from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.faults.resolved_names import ResolvedNames
from kafka_audit.model.text import listing


@check(code="KA317", severity=Severity.INFO)
def name_resolves_elsewhere(view: ClusterView) -> Judgements:
    """An advertised name of a broker or controller resolves to other addresses than in the previous snapshot."""
    names = view.derived(ResolvedNames)
    now, earlier = names.now, names.earlier
    compared = now.keys() & earlier.keys()
    moved = sorted(key for key in compared if not now[key] & earlier[key])
    if moved:
        texts = [
            f"{host} ({place}) from {listing(sorted(earlier[place, host]), 2)} to {listing(sorted(now[place, host]), 2)}"
            for place, host in moved
        ]
        hosts = tuple(dict.fromkeys(host for _, host in moved))
        evidence = {"count": len(hosts), "compared": len({host for _, host in compared}), "hosts": hosts}
        nodes = tuple(sorted({place.node for place, _ in moved if place.kind}))
        evidence |= {"nodes": nodes} if nodes else {}
        yield view.judge("cluster", Status.FAIL, evidence, names=listing(texts, 3))
    elif compared:
        yield view.judge("cluster", Status.PASS, compared=len(compared))
    elif earlier and not now:
        yield view.unknown("cluster", "no advertised name resolved", "a vantage that resolves the advertised names")
    else:
        reason = "no previous snapshot" if view.previous is None else "no name was probed in both snapshots"
        yield view.not_applicable("cluster", reason)
