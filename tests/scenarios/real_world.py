"""Real-world files on a host of the bed: filled in as little as a start needs, linted, and a broker started with them."""

import base64
import re
import socket
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12

from kafka_audit.configuration.files import forms
from testbed.certificates import Authority
from testbed.errors import BedError
from testbed.jars import kafka_jars
from testbed.servers import Server, zookeeper

FILES = Path(__file__).parents[1] / "lint" / "real_world"
CASES = yaml.load((FILES / "cases.yaml").read_text(), yaml.CSafeLoader)
NAMES = sorted({name for case in CASES.values() for name in case.get("names", ())})

START_SECONDS, STAY_SECONDS, SESSION_SECONDS = 180.0, 5.0, 7.0
_STARTED = re.compile(r"\bstarted \(kafka\.server\.KafkaServer\)|Kafka Server started \(kafka\.server\.KafkaRaftServer\)")
_DATA = re.compile(r"(?:/tmp/(?:kafka-logs|kraft-combined-logs)|/var/lib/kafka/data(?:-0/kafka-log0)?|/bitnami/kafka/data)\b")
_STORES = re.compile(r"/(?:tmp/kafka/cluster|etc/kafka/secrets/kafka)\.")
_LISTEN = (
    "import socket, sys; s = socket.create_server(('0.0.0.0', int(sys.argv[1]))); print('ready', flush=True); sys.stdin.read()"
)
SECRET = b"key-store-secret"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a broker did: `up`, or ended by itself; `log` is all that it wrote."""

    up: bool
    log: str


class Site:
    """One host with a ZooKeeper on it, that every file of the cases takes for its own."""

    def __init__(self, bed, folder):
        self._folder = folder
        self._host = bed.hosts.add("site", "10.99.0.10")
        hosts = folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{self._host.address} {' '.join([*NAMES, socket.gethostname()])}\n")
        self._host.demand(["mount", "--bind", str(hosts), "/etc/hosts"])
        self._zookeeper = zookeeper(self._host, folder / "zookeeper", kafka_jars("3.9.1"))
        self._zookeeper.properties |= {"clientPortAddress": "0.0.0.0", "maxSessionTimeout": "6000"}  # noqa: S104 - in a namespace
        self._zookeeper.launch()

    def filled(self, name):
        """Write a file with this site's paths, and the ids and hosts that something fills in; return it."""
        folder = self._folder / Path(name).stem
        folder.mkdir()
        if CASES[name].get("ran_before"):
            (folder / "data").mkdir()
            (folder / "data" / "meta.properties").write_text("version=0\nbroker.id=0\n")
        text = (FILES / name).read_text()
        for placeholder, value in CASES[name].get("fills", {}).items():
            text = text.replace(placeholder, value)
        text = _STORES.sub(f"{folder}/kafka.", _DATA.sub(str(folder / "data"), text))
        if name != "key-store-missing.properties" and f"{folder}/kafka." in text:
            _write_stores(folder, self._host.address)
        file = folder / name
        file.write_text(text)
        return file

    def started(self, file):
        """Start a broker with a file until it is up and stays so, or ends; stop it; return what it did."""
        case = CASES[file.name]
        (described,) = forms.read_described(file.read_bytes(), file.name)
        properties = {key: setting.value for key, setting in described.properties.items()}
        server = Server(
            name=file.stem,
            host=self._host,
            folder=file.parent,
            jars=kafka_jars(case["version"]),
            main_class="kafka.Kafka",
            properties=properties,
        )
        if "process.roles" in properties:
            self._format(server)
        holder = self._taken(case["taken"]) if "taken" in case else None
        server.launch()
        try:
            return Seen(up=_stays_up(server), log=_log(server))
        finally:
            server.signal_stop()
            server.await_end()
            if server.process.returncode < 0:
                time.sleep(SESSION_SECONDS)  # what it registered in ZooKeeper goes with its session
            if holder is not None:
                holder.communicate()

    def close(self):
        """Stop ZooKeeper."""
        self._zookeeper.signal_stop()
        self._zookeeper.await_end()

    def _format(self, server):
        server.write_config()
        identity = base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        alone = [] if "controller.quorum.voters" in server.properties else ["--standalone"]
        tool = [*server.java(), "kafka.tools.StorageTool", "format", "--cluster-id", identity]
        self._host.demand([*tool, "--config", str(server.config_file), *alone], cwd=server.folder)

    def _taken(self, port):
        holder = self._host.popen([sys.executable, "-c", _LISTEN, str(port)], stdin=-1, stdout=-1)
        if holder.stdout.readline() != "ready\n":
            message = f"port {port} cannot be taken"
            raise BedError(message)
        return holder


def _stays_up(server):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.is_running:
        if _STARTED.search(_log(server)):
            time.sleep(STAY_SECONDS)
            return server.is_running
        time.sleep(0.5)
    if server.is_running:
        ended = f"is neither up nor ended after {START_SECONDS:.0f} s"
        raise server.failed(ended)
    return False


def _log(server):
    return "\n".join(file.read_text(errors="replace") for file in sorted(server.log_dir.glob("*.log")))


def _write_stores(folder, address):
    authority = Authority(folder / "tls")
    pair = authority.issue("kafka", (address, *NAMES))
    key, certificate = (
        load_pem_private_key(pair.key.read_bytes(), None),
        x509.load_pem_x509_certificate(pair.certificate.read_bytes()),
    )
    trusted = [pkcs12.PKCS12Certificate(x509.load_pem_x509_certificate(authority.ca_file.read_bytes()), b"ca")]
    locked = BestAvailableEncryption(SECRET)
    (folder / "kafka.keystore.p12").write_bytes(pkcs12.serialize_key_and_certificates(b"kafka", key, certificate, None, locked))
    (folder / "kafka.truststore.p12").write_bytes(
        pkcs12.serialize_java_truststore(
            trusted, BestAvailableEncryption(b"trust-store-secret" if "strimzi" not in folder.name else SECRET)
        )
    )
