"""A broker is set to use another ZooKeeper, or another chroot, than the others."""

from kafka_audit.compare.connect_strings import same_data
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.text import brokers, clean


@fault
def another_zookeeper(facts: Facts, edge: Edge) -> Observations:
    """Settings show it: the chroot differs, or no server is the same. Fewer of the same servers are the same ZooKeeper."""
    connects = facts.between.zookeeper
    own = connects.get(edge.target)
    others = {broker: connect for broker, connect in connects.items() if broker != edge.target}
    if own is None or not others:
        return
    alike = [broker for broker, connect in others.items() if same_data(own, connect)]
    if alike:
        yield works("settings of both", f"its zookeeper.connect is that of {brokers(alike)}")
    else:
        text = f"zookeeper.connect is {clean(own, 100)} there, and {clean(next(iter(others.values())), 100)} elsewhere"
        yield fails("settings of both", text)
