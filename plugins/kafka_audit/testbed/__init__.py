"""Real ZooKeeper and Kafka in network namespaces, for scenario tests and for the demo."""

from kafka_audit.testbed.bed import Bed
from kafka_audit.testbed.brokers import BaseCluster, Broker
from kafka_audit.testbed.clients import View
from kafka_audit.testbed.cluster import Cluster
from kafka_audit.testbed.errors import BedError
from kafka_audit.testbed.hosts import Host
from kafka_audit.testbed.jars import kafka_jars
from kafka_audit.testbed.kraft import KraftCluster
from kafka_audit.testbed.security import Listener, Security

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
