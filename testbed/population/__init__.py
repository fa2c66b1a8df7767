"""Populate a running cluster as one in use is: ``populate(bed, cluster)``."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

from testbed.acls import auditor_grants
from testbed.bed import Bed
from testbed.brokers import BaseCluster
from testbed.jars import java
from testbed.population.contents import GROUPS, QUOTAS, SCRAM_USERS, USED, WHOLE, Contents, acls, topics
from testbed.servers import JVM, LOG4J

PROGRAM = Path(__file__).parent / "Population.java"
KINDS = ("consumer", "share", "streams")
"""Of groups, that releases have from 4 on by default. Consumers of the bed may not use earlier previews."""
_SETTLE_SECONDS, _DAY_MS = 60.0, 86_400_000


@dataclass(frozen=True, kw_only=True)
class Population:
    """What lives in a cluster until the bed ends: members of groups, open transactions.

    Attributes:
        process: the program that holds them.
        seconds: how long it took.
    """

    process: Popen[str]
    seconds: float

    @property
    def lives(self) -> bool:
        """Whether the members and the transactions are still there."""
        return self.process.poll() is None

    def complaint(self) -> str:
        """Return what the program said when it ended."""
        return self.process.stderr.read().strip() if self.process.stderr and not self.lives else ""


def populate(bed: Bed, cluster: BaseCluster, contents: Contents = WHOLE) -> Population:
    """Give a cluster what one in use holds, and wait until all brokers list it.

    Topics with odd names and settings, some deleted and some made anew; records; groups of each kind that the release has;
    finished and open transactions; client quotas; ACLs where there is an authorizer, the auditor's grants among them; SCRAM users
    where these log in.

    Raises:
        BedError: something was refused.
    """
    began = time.monotonic()
    folder = cluster.folder / "population"
    folder.mkdir(exist_ok=True)
    logs = [f"-Dbed.logs={folder}", f"-Dlog4j.configuration=file:{LOG4J}"]
    broker = next(iter(cluster.brokers.values()))
    command = [java(), *JVM, *logs, "-cp", f"{broker.server.jars}/*", str(PROGRAM)]
    process = bed.stay(bed.worker, command, cwd=folder, line=json.dumps(_wanted(cluster, contents)))
    cluster.await_settled(seconds=_SETTLE_SECONDS)
    population = Population(process=process, seconds=time.monotonic() - began)
    bed.say(f"populated {cluster.plan.name} in {population.seconds:.0f} s")
    return population


def _wanted(cluster: BaseCluster, contents: Contents) -> dict[str, Any]:
    """Return what the program reads; passwords are in it, so it is no argument."""
    secured, brokers = cluster.secured, [broker.address for broker in cluster.brokers.values()]
    security = secured.security if secured else None
    made = topics(contents.topics, len(brokers))
    short_lived = [{**made[0], "name": f"short-lived-{number}"} for number in range(3)]
    limited = {*contents.users} - {quota["entity"].get("user") for quota in QUOTAS}
    invoices, _, replays, quiet = USED
    return {
        "client": {"bootstrap.servers": ",".join(brokers)} | (secured.java_client() if secured else {}),
        "topics": [*made, *short_lived],
        "deleted": [topic["name"] for topic in short_lived],
        "recreated": made[-3:],
        "written": [topic["name"] for topic in made if topic["name"] not in {replays, quiet}],
        "consumed": invoices,
        "replayed": replays,
        "quiet": quiet,
        "replayed_age_ms": _DAY_MS if contents.replays else 0,
        "quotas": [*QUOTAS, *({"entity": {"user": user}, "limits": {"producer_byte_rate": 1e8}} for user in limited)],
        "acls": [acl.as_list() for acl in (*auditor_grants(), *acls(contents.acls))] if security and security.authorizer else [],
        "scram_users": [*dict.fromkeys((*SCRAM_USERS, *contents.users))] if security and security.scram_mechanisms else [],
        "groups": GROUPS,
        "kinds": () if cluster.plan.release.zookeeper else KINDS,
    }
