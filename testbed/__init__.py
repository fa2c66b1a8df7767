"""Real ZooKeeper and Kafka in network namespaces, for scenario tests and for the demo."""

from testbed.bed import Bed
from testbed.brokers import BaseCluster, Broker
from testbed.clients import View
from testbed.cluster import Cluster
from testbed.errors import BedError
from testbed.hosts import Host
from testbed.jars import kafka_jars
from testbed.kraft import KraftCluster
from testbed.security import Listener, Security

__all__ = [
    "BaseCluster",
    "Bed",
    "BedError",
    "Broker",
    "Cluster",
    "Host",
    "KraftCluster",
    "Listener",
    "Security",
    "View",
    "kafka_jars",
]
