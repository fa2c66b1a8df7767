"""ACLs of znodes deny a broker its registration, as after a change of its principal with `zookeeper.set.acl`."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fault, works
from kafka_audit.model.tables import ZookeeperNode

_REGISTRATIONS = "/brokers/ids"


@fault
def znodes_denied(facts: Facts, _edge: Edge) -> Observations:
    """The broker's log shows it when it registers; where any client may register, no broker is denied it."""
    anyone = next((znode.anyone for znode in facts.view.newest(ZookeeperNode) if znode.path == _REGISTRATIONS), None)
    if "c" in (anyone or ""):
        yield works("zookeeper", f"any client may create below {_REGISTRATIONS}", direct=True)
