"""A ZooKeeper that is honest until its script says otherwise; it speaks the real protocol (jute) on loopback.

    with HostileZookeeper(kafka_tree({0: ("127.0.0.1", 9092)}, {"orders": {0: (0, [0])}})) as zookeeper:
        zookeeper.znodes["/brokers/ids/9"] = b"…"                      # a mutable dict of paths and contents
        del zookeeper.znodes["/brokers/topics/orders"]                 # with all below it
        zookeeper.errors["/config/users"] = NO_AUTH                    # an error code for one path, in multiRead, too
        zookeeper.script["/config/brokers/0"] = drip(2)                # by path: any request about it, a multiRead included
        zookeeper.script[GET_CHILDREN2] = announce(2**31 - 1, 1 << 30) # by opcode
        zookeeper.script["connect"] = hang                             # the session is never granted
        zookeeper.script["srvr"] = hang                                # the four-letter word
        zookeeper.script["accept"] = hang_up

Opcodes: connect, ping, exists, getData, getACL, getChildren, getChildren2, sync, multiRead, auth, closeSession; any other is
answered Unimplemented, and SASL by hanging up, as ZooKeeper refuses a login. `auths` has what auth handed over, `asked` (opcode,
paths) of each request. `srvr` may be set to another text. Errors: `hostile_parties.zookeeper.NO_AUTH`, `NO_NODE`.
"""

import json
import struct
import threading
from collections.abc import MutableMapping

from kazoo.protocol.serialization import read_buffer, read_string, stat_struct, write_buffer, write_string

from hostile_parties.party import Exchange, Party

EXISTS, GET_DATA, GET_ACL, GET_CHILDREN, SYNC, PING, GET_CHILDREN2, CLOSE = 3, 4, 6, 8, 9, 11, 12, -11
MULTI_READ, AUTH, SASL, SET_WATCHES = 22, 100, 102, 101
NO_NODE, NO_AUTH, UNIMPLEMENTED = -101, -102, -6
_HEAD = 20  # size, xid, zxid, error
_OPEN = struct.pack("!ii", 1, 31) + write_string("world") + write_string("anyone")
_WITH_PATH = {EXISTS, GET_DATA, GET_ACL, GET_CHILDREN, GET_CHILDREN2, SYNC}

SRVR = """Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/0.4/7
Received: 100
Sent: 99
Connections: 4
Outstanding: 0
Zxid: {zxid:#x}
Mode: standalone
Node count: {nodes}
"""


class Znodes(MutableMapping):
    """Paths and contents, with the counters that ZooKeeper keeps; parents are made along with a child, children go with them."""

    def __init__(self, contents=()):
        self.zxid = 100
        self._nodes = {"/": _Node(b"", 0)}
        self.lock = threading.RLock()
        for path, data in dict(contents).items():
            self[path] = data

    def __setitem__(self, path, data):
        with self.lock:
            self.zxid += 1
            if path in self._nodes:
                node = self._nodes[path]
                node.data, node.mzxid, node.version = data, self.zxid, node.version + 1
                return
            parent = path.rpartition("/")[0] or "/"
            if parent not in self._nodes:
                self[parent] = b""
            self._nodes[parent].children.add(path.rpartition("/")[2])
            self._nodes[parent].pzxid = self.zxid
            self._nodes[path] = _Node(data, self.zxid)

    def __getitem__(self, path):
        return self._nodes[path].data

    def __delitem__(self, path):
        with self.lock:
            node = self._nodes[path]
            for name in [*node.children]:
                del self[f"{path}/{name}"]
            self.zxid += 1
            del self._nodes[path]
            parent = self._nodes[path.rpartition("/")[0] or "/"]
            parent.children.discard(path.rpartition("/")[2])
            parent.pzxid = self.zxid

    def __iter__(self):
        return iter([*self._nodes])

    def __len__(self):
        return len(self._nodes)

    def node(self, path):
        return self._nodes.get(path)


class _Node:
    def __init__(self, data, zxid):
        self.data = data
        self.czxid = self.mzxid = self.pzxid = zxid
        self.version = 0
        self.children = set()

    def stat(self, path):
        owner = 7 if path.startswith("/brokers/ids/") or path == "/controller" else 0
        made = 1789408782000
        sizes = (len(self.data), len(self.children))
        counters = (self.version, len(self.children), 0)
        return stat_struct.pack(self.czxid, self.mzxid, made, made, *counters, owner, *sizes, self.pzxid)


class HostileZookeeper(Party):
    """See above."""

    def __init__(self, znodes=(), *, host="127.0.0.1", port=0, tls=None):
        super().__init__(host, port, tls)
        self.znodes = znodes if isinstance(znodes, Znodes) else Znodes(znodes)
        self.errors = {}
        self.auths = []
        self.asked = []
        self.srvr = SRVR

    def serve(self, connection):
        first = connection.exactly(4)
        if first.isalpha():
            self._word(connection, first.decode())
            return
        request = connection.exactly(struct.unpack("!i", first)[0]) if first else b""
        if not request:
            return
        (timeout,) = struct.unpack_from("!i", request, 12)
        granted = struct.pack("!iiq", 0, timeout, 0x100000000000000 + self.connections) + write_buffer(b"p" * 16) + b"\0"
        self._do("connect", Exchange(self, connection, request, struct.pack("!i", len(granted)) + granted))
        while request := connection.frame():
            if not self._request(connection, request):
                return

    def _word(self, connection, word):
        text = self.srvr.format(zxid=self.znodes.zxid, nodes=len(self.znodes))
        answer = {"srvr": text, "ruok": "imok"}.get(
            word, f"{word} is not executed because it is not in the whitelist.\n"
        ).encode()
        exchange = Exchange(self, connection, word.encode(), answer, 0)
        if word in self.script:
            self.act(self.script[word], exchange)
        else:
            connection.sendall(answer)

    def _do(self, key, exchange):
        if key in self.script:
            self.act(self.script[key], exchange)
        else:
            exchange.send(exchange.honest)

    def _request(self, connection, request):
        xid, opcode = struct.unpack_from("!ii", request)
        paths = self._paths(opcode, request)
        self.asked.append((opcode, paths))
        if opcode == SASL:
            return False
        with self.znodes.lock:
            error, body = self._answer(opcode, paths, request)
            zxid = self.znodes.zxid
        content = struct.pack("!iqi", xid, zxid, error) + (b"" if error else body)
        exchange = Exchange(self, connection, request, struct.pack("!i", len(content)) + content, _HEAD, {})
        exchange.about = {"opcode": opcode, "paths": paths}
        self._do(next((key for key in (*paths, opcode) if key in self.script), opcode), exchange)
        return opcode != CLOSE and error != UNIMPLEMENTED

    @staticmethod
    def _paths(opcode, request):
        if opcode in _WITH_PATH:
            return [read_string(request, 8)[0] or ""]
        if opcode != MULTI_READ:
            return []
        found, at = [], 8
        while not request[at + 4]:  # done
            path, at = read_string(request, at + 9)
            found.append(path)
            at += 1  # the watch
        return found

    def _answer(self, opcode, paths, request):
        """Return error and body."""
        if opcode in {PING, CLOSE, SET_WATCHES}:
            return 0, b""
        if opcode == AUTH:
            scheme, at = read_string(request, 12)
            self.auths.append((scheme, read_buffer(request, at)[0]))
            return 0, b""
        if opcode == MULTI_READ:
            return 0, b"".join(map(self._one_of_many, paths)) + struct.pack("!iBi", -1, 1, -1)
        return self._about_path(opcode, *paths) if opcode in _WITH_PATH else (UNIMPLEMENTED, b"")

    def _about_path(self, opcode, path):
        if opcode == SYNC:
            return 0, write_string(path)
        node = self.znodes.node(path)
        if path in self.errors or node is None:
            return self.errors.get(path, NO_NODE), b""
        stat = node.stat(path)
        names = sorted(node.children)
        listed = struct.pack("!i", len(names)) + b"".join(map(write_string, names))
        answers = {EXISTS: stat, GET_DATA: write_buffer(node.data) + stat, GET_ACL: _OPEN + stat}
        return 0, (answers | {GET_CHILDREN: listed, GET_CHILDREN2: listed + stat})[opcode]

    def _one_of_many(self, path):
        node = self.znodes.node(path)
        error = self.errors.get(path, NO_NODE if node is None else 0)
        if error:
            return struct.pack("!iBii", -1, 0, error, error)
        return struct.pack("!iBi", GET_DATA, 0, 0) + write_buffer(node.data) + node.stat(path)


def kafka_tree(brokers, topics, *, controller=0, cluster_id="fake"):
    """Return the znodes of a healthy cluster of Kafka 3.9: paths and contents.

    Args:
        brokers: id -> (host, port), or -> {listener: (protocol, host, port)}.
        topics: name -> {partition: (leader, replicas)}, or (leader, replicas, leader epoch, isr).
        controller: the broker that is.
        cluster_id: of the cluster.
    """
    empty = (
        "/admin/delete_topics", "/brokers/ids", "/brokers/seqid", "/brokers/topics", "/config/brokers", "/config/changes",
        "/config/clients", "/config/ips", "/config/topics", "/config/users", "/consumers", "/isr_change_notification",
        "/latest_producer_id_block", "/log_dir_event_notification",
    )  # fmt: skip
    tree = dict.fromkeys(empty, b"")
    tree |= {
        "/cluster/id": _json({"version": "1", "id": cluster_id}),
        "/controller": _json({"version": 2, "brokerid": controller, "timestamp": "1789408782000", "kraftControllerEpoch": -1}),
        "/controller_epoch": b"1",
        "/feature": _json({"features": {}, "version": 2, "status": 0}),
    }
    tree |= {f"/brokers/ids/{broker}": registration(listed) for broker, listed in brokers.items()}
    for name, partitions in topics.items():
        tree |= topic_tree(name, partitions)
    return tree


def registration(broker):
    """Return the content of /brokers/ids/N; `told` as in `kafka_tree`."""
    listeners = broker if isinstance(broker, dict) else {"PLAINTEXT": ("PLAINTEXT", *broker)}
    plain = next(((host, port) for protocol, host, port in listeners.values() if protocol == "PLAINTEXT"), (None, -1))
    return _json(
        {
            "features": {},
            "listener_security_protocol_map": {name: protocol for name, (protocol, _, _) in listeners.items()},
            "endpoints": [f"{name}://{host}:{port}" for name, (_, host, port) in listeners.items()],
            "jmx_port": -1,
            "port": plain[1],
            "host": plain[0],
            "version": 5,
            "timestamp": "1789408782000",
        }
    )


def topic_tree(name, partitions, topic_id="AAAAAAAAAAAAAAAAAAAAAQ"):
    """Return the znodes of one topic."""
    top = f"/brokers/topics/{name}"
    replicas = {str(number): list(partition[1]) for number, partition in partitions.items()}
    tree = {
        top: _json({"partitions": replicas, "topic_id": topic_id, "adding_replicas": {}, "removing_replicas": {}, "version": 3}),
        f"/config/topics/{name}": _json({"version": 1, "config": {}}),
    }
    for number, (leader, held, *rest) in partitions.items():
        epoch, isr = rest or (3, held)
        state = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": list(isr)}
        tree[f"{top}/partitions/{number}/state"] = _json(state)
    return tree


def _json(content):
    return json.dumps(content, separators=(",", ":")).encode()
