"""ACLs of znodes deny a broker its registration, as after a change of its principal with `zookeeper.set.acl`."""

from collections.abc import Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.faults.cause import ZNODES, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import COORDINATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.tables import ZookeeperNode

_REGISTRATIONS = "/brokers/ids"


@cause(
    kind=ZNODES,
    layer=5,
    edges=(COORDINATE,),
    rare=True,
    decided_by="`return code: NOAUTH` in server.log of {sources}, or `zookeeper-shell.sh {host}:{port} getAcl /brokers/ids`",
    remedy="Let {sources} log in to ZooKeeper with the principal of the other brokers, or let `zookeeper-security-migration.sh "
    "--zookeeper.acl=secure`, run with that principal, set the ACLs again.",
)
def znodes_denied(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The broker's log shows it when it registers; where any client may register, no broker is denied it."""
    anyone = next((znode.anyone for znode in facts.view.newest(ZookeeperNode) if znode.path == _REGISTRATIONS), None)
    if "c" in (anyone or ""):
        yield works("zookeeper", f"any client may create below {_REGISTRATIONS}", direct=True)
    for line in facts.lines(edge, "KA401")[:1]:
        yield fails(f"log of broker {line.broker_id}", says(line), direct=True)
