"""Rows of docs/may-table.md: a step, what `may` answers before it, and what happens when it is done on a real cluster."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import yaml

from testbed.corpus.tools import Tools
from testbed.errors import BedError
from testbed.topics import configure_topic

TOPICS = {
    "orders": {0: [0, 1, 2], 1: [1, 2, 0]},
    "single": {0: [2]},
    "pair": {0: [0, 1]},
    "old": {0: [0, 1]},
    "busy": {0: [1, 0]},
}
USED = (
    "import sys, time, threading; from kafka import KafkaConsumer, KafkaProducer\n"
    "def read():\n"
    "    c = KafkaConsumer('busy', bootstrap_servers=sys.argv[1], group_id='readers')\n"
    "    while True: c.poll(200)\n"
    "threading.Thread(target=read, daemon=True).start()\n"
    "p = KafkaProducer(bootstrap_servers=sys.argv[1])\n"
    "while True:\n"
    "    p.send('busy', b'x').get(30); time.sleep(0.2)\n"
)
TRIED = ["produce_acks_all", "produce", "consume", "create_topics"]
OFFSETS = (
    "import sys; from kafka import KafkaConsumer, TopicPartition as P; c = KafkaConsumer(bootstrap_servers=sys.argv[1]);"
    "p = P(sys.argv[2], 0); print(c.beginning_offsets([p])[p], c.end_offsets([p])[p])"
)
_COMPLAINT = re.compile(r".*(?:Exception|Error|error|[Rr]efus|cannot|not supported|not support|already|requirement failed).*")


def _words(line):
    """Return what Kafka says in a line, without the names of its packages."""
    return re.sub(r"\b(?:[a-z]\w*\.)+(?=[A-Z])", "", line.strip()).replace("ExecutionException: ", "").replace("|", "/")[:160]


@dataclass
class Row:
    """One row; `wrong` is why the answer was wrong."""

    cluster: str
    step: str
    wanted: str
    answer: str
    found: SimpleNamespace
    happened: str = ""
    wrong: str = ""


class Table:
    """Asks about steps, and does them."""

    def __init__(self, bed, cluster, folder, kind):
        self.bed, self.cluster, self.folder, self.kind, self.tools = bed, cluster, folder, kind, Tools(bed, cluster)
        self.rows, self.said = [], ""
        self.reread()

    def reread(self):
        """Take the cluster file anew: addresses and files of the nodes that there are now."""
        self.entry = yaml.safe_load(self.cluster.clusters_yaml("prod"))["clusters"]["prod"] | {"limits": {"settle_s": 1}}

    def start(self):
        for name, assignment in TOPICS.items():
            self.cluster.create_topic(name, assignment)
        configure_topic(self.cluster, "orders", {"min.insync.replicas": "2"})
        for topic in ("single", "pair", "old"):
            assert self.cluster.produce(topic, 0, 1) is None
        self.cluster.await_settled()
        return self

    def may(self, text, *options):
        config = self.folder / "clusters.yaml"
        config.write_text(json.dumps({"clusters": {"prod": self.entry}}))
        where = ["--config", str(config), "--out", str(self.folder / "store"), "--format", "json", "--quiet"]
        process = self.bed.worker.popen(
            [sys.executable, "-m", "kafka_audit.cli", "may", "prod", *text.split(), *options, *where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )
        output, said = process.communicate()
        try:
            answer = SimpleNamespace(**json.loads(output))
        except json.JSONDecodeError:
            return SimpleNamespace(answer=f"exit {process.returncode}", text=(output + said).strip()[-300:], command=None)
        assert process.returncode == {"GO": 0, "NOT_NOW": 3, "NEVER": 3, "UNKNOWN": 4}[answer.answer]
        return answer

    @contextmanager
    def row(self, cluster, step, wanted, *options):
        """Ask, then let the block take the step; what it finds otherwise makes the row wrong, and the next follows."""
        found = self.may(step, *options)
        row = Row(cluster=cluster, step=step, wanted=wanted, answer=found.answer, found=found)
        self.rows.append(row)
        try:
            if found.answer != wanted:
                row.wrong = f"{wanted} was expected: {vars(found)}"
            yield row
        except (AssertionError, BedError, TypeError, AttributeError, subprocess.SubprocessError) as error:
            row.wrong += f" {type(error).__name__}: {str(error)[:600]}"
        print(f"{self.kind} | {cluster} | `{step}` | {row.answer} | {row.happened} | {row.wrong}", flush=True)  # noqa: T201

    def judge(self):
        """Demand that no row is wrong."""
        found = [f"| `{row.step}` | {self.kind}: {row.cluster} | {row.answer} | {row.happened} |" for row in self.rows]
        lines = [line.replace(f"{self.folder}/", "") for line in found]
        (self.folder / "table.md").write_text("\n".join(lines) + "\n")
        assert [(row.step, row.wrong) for row in self.rows if row.wrong] == []

    def done(self, found):
        """Run what was printed, remarks left out."""
        return "".join(self.tools.demand(line) for line in found.command.splitlines() if not line.startswith("#"))

    def refused(self, command):
        """Demand that Kafka refuses a command, and return its words; `said` has all of them."""
        completed = self.tools.run(command.replace("BOOTSTRAP", self.tools.bootstrap))
        self.said = output = completed.stdout + completed.stderr
        said = [line for line in output.splitlines() if _COMPLAINT.match(line)]
        assert said, output
        return f"refused: {_words(next((line for line in said if 'Exception' in line), said[0]))}"

    def alter(self, entity, pair):
        return f"kafka-configs.sh --bootstrap-server BOOTSTRAP --alter --entity-type {entity} --add-config {pair}"

    def plan(self, *more, **replicas):
        path = self.folder / "plan.json"
        parts = [
            {"topic": name.rpartition("_")[0], "partition": int(name.rpartition("_")[2]), "replicas": ids}
            for name, ids in replicas.items()
        ]
        path.write_text(json.dumps({"version": 1, "partitions": [*parts, *more]}))
        return path

    def executed(self):
        run = "kafka-reassign-partitions.sh --bootstrap-server BOOTSTRAP --execute --reassignment-json-file"
        return f"{run} {self.folder}/plan.json"

    def fails(self):
        """Return by function where real clients fail."""
        there = self.topics()
        for left in (name for name in there if name.startswith("made-")):  # by a client that no longer waited for its creation
            self.tools.run(f"kafka-topics.sh --bootstrap-server {self.tools.bootstrap} --delete --topic {left}")
        places = [(topic, number) for topic, assignment in TOPICS.items() for number in assignment if topic in there]
        script = Path(__file__).parent / "clients" / "functions.py"
        brokers = ",".join(broker.address for broker in self.cluster.brokers.values() if broker.server.is_running)
        asked = {"options": {}, "partitions": places, "groups": [], "producers": [], "only": TRIED}
        completed = self.bed.worker.run([sys.executable, str(script), brokers], input=json.dumps(asked))
        assert completed.returncode == 0, completed.stderr
        return {function: {*found} for function, found in json.loads(completed.stdout).items()}

    def nothing_fails(self, seconds=180):
        deadline = time.monotonic() + seconds
        while any((found := self.fails()).values()):
            assert time.monotonic() < deadline, found
        return "every partition takes and gives records"

    def some_fail(self, function, *places, seconds=180):
        """Wait until clients fail at these places."""
        deadline = time.monotonic() + seconds
        while not {*places} <= (found := self.fails())[function]:
            assert time.monotonic() < deadline, found
        what = {
            "produce": "no record is taken",
            "produce_acks_all": "acks=all is refused",
            "create_topics": "no topic is created",
        }
        return f"{what[function]}: {', '.join(places)}"

    def topics(self):
        return {*self.tools.demand(f"kafka-topics.sh --bootstrap-server {self.tools.bootstrap} --list").split()}

    def described(self, topic):
        return self.tools.demand(f"kafka-topics.sh --bootstrap-server {self.tools.bootstrap} --describe --topic {topic}")

    def offsets(self, topic):
        completed = self.bed.worker.run([sys.executable, "-c", OFFSETS, self.tools.bootstrap.split(",")[0], topic])
        assert completed.returncode == 0, completed.stderr
        return tuple(map(int, completed.stdout.split()))

    def awaits(self, what, is_so, seconds=120):
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
            time.sleep(1)
        return what

    @contextmanager
    def in_use(self):
        """Let a consumer group and a producer use the topic busy."""
        process = self.bed.worker.popen([sys.executable, "-c", USED, self.tools.bootstrap.split(",")[0]])
        try:
            time.sleep(15)
            yield
        finally:
            process.kill()
            process.wait()

    def wipe(self, server):
        for path in server.properties["log.dirs"].split(","):
            shutil.rmtree(path, ignore_errors=True)

    def formatted(self, server, command):
        """Empty the disks of a server that is down, and run what was printed on its host."""
        self.wipe(server)
        server.write_config()
        for line in command.splitlines():
            if not line.startswith("#"):
                words = shlex.split(line.replace("server.properties", str(server.config_file)))
                assert words[0] == "kafka-storage.sh"
                server.host.demand([*server.java(), "kafka.tools.StorageTool", *words[1:]], cwd=server.folder)

    def does_not_start(self, server, seconds=180):
        """Start a server, which ends by itself; return its last words."""
        log = server.log_dir / "server.log"
        before = len(log.read_text(errors="replace")) if log.is_file() else 0
        server.launch()
        self.awaits("it ends", lambda: not server.is_running, seconds)
        said = [line for line in log.read_text(errors="replace")[before:].splitlines() if _COMPLAINT.match(line)]
        said = said or [line for line in (server.log_dir / "console.log").read_text().splitlines() if _COMPLAINT.match(line)]
        return f"it does not start: {_words((said or ['?'])[-1])}"
