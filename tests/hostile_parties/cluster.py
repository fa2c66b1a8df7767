"""A small cluster of honest parties on loopback, each of which may become hostile; seconds to audit, no JVM.

    with HostileCluster(brokers=3) as cluster:
        cluster.create_topic("payments", {0: [0, 1, 2]})
        cluster.brokers[2].script[32] = hang
        cluster.zookeeper.znodes["/config/brokers/0"] = b"…"
        take(Cluster(name="c", **…))           # or a cluster file: {"clusters": {"c": cluster.entry()}}

Brokers listen at 127.0.0.11, .12, … of this machine, ZooKeeper at 127.0.0.10; `network` names other addresses, which must exist.
"""

import base64
import json
import uuid
from contextlib import ExitStack

from hostile_parties.broker import HostileBroker
from hostile_parties.zookeeper import HostileZookeeper, Znodes, kafka_tree, topic_tree
from testbed.population.contents import FEW, Contents, topics

CLUSTER_ID = "hostilehostilehostileA"
BARE = Contents(topics=0, acls=0)
"""The topic «orders» and nothing else, for tests that count."""


class HostileCluster:
    """Brokers 0 to n - 1 and a ZooKeeper; its methods change what all of them say, as an honest cluster's controller does."""

    def __init__(self, brokers=3, *, cluster_id=CLUSTER_ID, network="127.0.0", contents=FEW, **broker_options):
        self._contents = contents
        self._cluster_id = cluster_id
        self.brokers = [
            HostileBroker(number, cluster_id, host=f"{network}.{11 + number}", **broker_options) for number in range(brokers)
        ]
        self.zookeeper = HostileZookeeper(host=f"{network}.10")
        self.topics = {}
        self._stack = ExitStack()

    def __enter__(self):
        for broker in self.brokers:
            self._stack.enter_context(broker)
        addresses = {broker.id: (broker.host, broker.port) for broker in self.brokers}
        for broker in self.brokers:
            broker.brokers, broker.topics, broker.controller_id = dict(addresses), self.topics, 0
            broker.configs |= {key: (value, False) for key, value in self._configs(broker).items()}
        self.zookeeper.znodes = Znodes(kafka_tree(addresses, {}, cluster_id=self._cluster_id))
        self._stack.enter_context(self.zookeeper)
        self.create_topic("orders", {number: self._replicas(number) for number in range(3)})
        self._populate()
        return self

    def _populate(self):
        """Let it hold what clusters in use hold: topics with odd names and settings, internal ones, groups, users with quotas."""
        made = [
            (topic["name"], topic["partitions"], topic["settings"]) for topic in topics(self._contents.topics, len(self.brokers))
        ]
        made += [(name, 3, {"cleanup.policy": "compact"}) for name in ("__consumer_offsets", "__transaction_state")]
        for name, partitions, settings in made if self._contents != BARE else ():
            self.create_topic(name, {number: self._replicas(number) for number in range(partitions)})
            self.zookeeper.znodes[f"/config/topics/{name}"] = json.dumps({"version": 1, "config": settings}).encode()

    def __exit__(self, *_):
        self._stack.close()

    def entry(self, **limits):
        """Return the cluster's entry of a cluster file."""
        quick = {"read_s": 2, "settle_s": 0.2, "audit_s": 60}
        return {"zookeeper": self.zookeeper.address, "bootstrap": [self.brokers[0].address], "limits": quick | limits}

    def create_topic(self, name, replicas):
        """Create a topic; `replicas` by partition, the first of them leads."""
        self._write(name, {number: (held[0], list(held), 0, list(held)) for number, held in replicas.items()})

    def delete_topic(self, name):
        self.topics.pop(name)
        for path in (f"/brokers/topics/{name}", f"/config/topics/{name}"):
            del self.zookeeper.znodes[path]
        self._keep_log_dirs()

    def move_leader(self, name, partition):
        """Let the next replica in sync lead, one epoch later."""
        leader, held, epoch, isr = self.topics[name][partition]
        led = isr[(isr.index(leader) + 1) % len(isr)]
        self._write(name, {**self.topics[name], partition: (led, held, epoch + 1, isr)})

    def stop(self, number):
        """Stop a broker as Kafka does under SIGTERM: others lead what it led, and its registration ends."""
        for name, partitions in [*self.topics.items()]:
            described = {}
            for partition, (leader, held, epoch, isr) in partitions.items():
                left = [other for other in isr if other != number] or isr
                described[partition] = (left[0] if leader == number else leader, held, epoch + (left != isr), left)
            self._write(name, described)
        for broker in self.brokers:
            broker.brokers = {other: where for other, where in broker.brokers.items() if other != number}
        self._registration = self.zookeeper.znodes[f"/brokers/ids/{number}"]
        del self.zookeeper.znodes[f"/brokers/ids/{number}"]
        self.brokers[number].close()

    def start(self, number):
        """Start it again: it registers, its replicas come back in sync, and its preferred partitions are led by it again."""
        broker = self.brokers[number].start()
        for other in self.brokers:
            other.brokers = {**other.brokers, number: (broker.host, broker.port)}
        self.zookeeper.znodes[f"/brokers/ids/{number}"] = self._registration
        for name, partitions in [*self.topics.items()]:
            described = {}
            for partition, (leader, held, epoch, isr) in partitions.items():
                back = number in held and number not in isr
                described[partition] = (held[0] if back else leader, held, epoch + back, list(held) if back else isr)
            self._write(name, described)

    def _write(self, name, partitions):
        self.topics[name] = partitions
        topic_id = base64.urlsafe_b64encode(uuid.uuid5(uuid.NAMESPACE_DNS, name).bytes).decode().rstrip("=")
        for path, data in topic_tree(name, partitions, topic_id).items():
            if self.zookeeper.znodes.get(path) != data:
                self.zookeeper.znodes[path] = data
        self._keep_log_dirs()

    def _keep_log_dirs(self):
        for broker in self.brokers:
            held = {}
            for name, partitions in self.topics.items():
                mine = [number for number, partition in partitions.items() if broker.id in partition[1]]
                held |= {name: mine} if mine else {}
            broker.log_dirs = {"/var/lib/kafka": (0, held)}

    def _replicas(self, number):
        count = len(self.brokers)
        return [(number + step) % count for step in range(min(3, count))]

    @staticmethod
    def _configs(broker):
        return {
            "listeners": f"PLAINTEXT://:{broker.port}",
            "advertised.listeners": f"PLAINTEXT://{broker.address}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
            "inter.broker.listener.name": "",
            "security.inter.broker.protocol": "PLAINTEXT",
            "authorizer.class.name": "",
            "min.insync.replicas": "2",
            "default.replication.factor": "3",
            "offsets.topic.replication.factor": "3",
            "transaction.state.log.replication.factor": "3",
            "transaction.state.log.min.isr": "2",
            "unclean.leader.election.enable": "false",
            "auto.create.topics.enable": "false",
            "log.dirs": "/var/lib/kafka",
            "inter.broker.protocol.version": "3.9-IV0",
            "zookeeper.session.timeout.ms": "1000",
        }
