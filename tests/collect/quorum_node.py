"""A broker or controller that knows the metadata quorum, at the protocol's edge."""

from kafka.protocol.admin import DescribeClusterResponse, DescribeQuorumResponse

from collect.fakes import FakeBroker, frame

CLOCK = 1_700_000_000_000
VOTERS = {200: (90, CLOCK, CLOCK), 201: (89, CLOCK - 300, CLOCK - 400)}
OBSERVERS = {0: (88, CLOCK - 200, CLOCK - 500), 2: (40, CLOCK - 30_000, CLOCK - 30_000)}


class QuorumNode(FakeBroker):
    """Knows DescribeQuorum (`quorum_error`, `partition_error`, `voters`, `observers` and `places`, each by node id), and whom
    DescribeCluster calls `fenced`.
    """

    def __init__(self, node, apis):
        super().__init__(node)
        self.apis |= {**apis}
        self.quorum_error = self.partition_error = 0
        self.fenced = ()
        self.leader = 200
        self.voters, self.observers = VOTERS, OBSERVERS
        self.places = {201: ("c1", 9093), 200: ("c0", 9093), 0: ("no voter", 9093)}

    def _answer(self, connection, request):
        key = int.from_bytes(request[:2], "big")
        if key != 55 or key in self.mute:
            super()._answer(connection, request)
            return
        version = int.from_bytes(request[2:4], "big")
        self.requests.append((key, version, request))
        connection.sendall(frame(self._quorum(version), int.from_bytes(request[4:8], "big"), in_order=True))

    def _quorum(self, version):
        partition = DescribeQuorumResponse.TopicData.PartitionData
        times = ("log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp")

        def replicas(nodes):
            return [
                partition.ReplicaState(replica_id=node, **dict(zip(times, state, strict=True))) for node, state in nodes.items()
            ]

        head = {"error_code": self.partition_error, "leader_id": self.leader, "leader_epoch": 7, "high_watermark": 90}
        answer = partition(**head, current_voters=replicas(self.voters), observers=replicas(self.observers))
        topic = DescribeQuorumResponse.TopicData(topic_name="__cluster_metadata", partitions=[answer])
        node = DescribeQuorumResponse.Node
        nodes = [
            node(node_id=voter, listeners=[node.Listener(name="CONTROLLER", host=host, port=port)])
            for voter, (host, port) in (self.places.items() if version > 1 else ())
        ]
        return DescribeQuorumResponse(version=version, error_code=self.quorum_error, topics=[topic], nodes=nodes)

    def _cluster(self, version, request):
        answer = super()._cluster(version, request)
        kind = DescribeClusterResponse.DescribeClusterBroker
        answer.controller_id = self.leader
        answer.brokers = [
            kind(broker_id=broker, host=host, port=port, is_fenced=broker in self.fenced)
            for broker, (host, port) in self.brokers.items()
        ]
        return answer
