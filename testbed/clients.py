"""Questions to a cluster, asked from the worker host by scripts, because the owner of the bed is outside of its network."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testbed.errors import BedError
from testbed.hosts import HERE, Host
from testbed.servers import Server

LOOK_SECONDS = 0.1
HANG_SECONDS = 600  # past a command's own deadline
LONGEST_SECONDS = 2400  # that a command without a deadline waits


@dataclass(frozen=True, kw_only=True)
class View:
    """What one broker says about the cluster when it is asked itself.

    Attributes:
        error: why there is no answer, else None.
        brokers: advertised HOST:PORT by id.
        controller_id: -1 where the broker knows of none, None without an answer.
        topics: topic, partition -> ``leader``, ``isr``, ``replicas``.
    """

    error: str | None
    brokers: dict[int, str]
    controller_id: int | None
    topics: dict[str, dict[int, dict[str, Any]]]

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "View":
        """Make a view of what broker_client printed."""
        return cls(
            error=raw["error"],
            brokers={int(key): value for key, value in raw["brokers"].items()},
            controller_id=raw["controller_id"],
            topics={name: {int(key): value for key, value in partitions.items()} for name, partitions in raw["topics"].items()},
        )


@dataclass(frozen=True, kw_only=True)
class Clients:
    """Runs the bed's client scripts for one cluster.

    Attributes:
        worker: where they run.
        folder: the cluster's folder, named where something fails.
        connect: ZooKeeper's connection string, empty in KRaft.
        options: how to enter ZooKeeper, as `zookeeper_client` reads it.
        one_controller: whether settled views agree on the controller; KRaft brokers name any broker.
    """

    worker: Host
    folder: Path
    connect: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    one_controller: bool = True

    def zookeeper(self, command: str, *, seconds: float, watched: Sequence[Server] = (), **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Run a command of zookeeper_client and return its answer.

        Args:
            command: a key of ``zookeeper_client.COMMANDS``.
            seconds: deadline.
            watched: servers that must stay alive meanwhile.
            arguments: the command's own.

        Raises:
            BedError: the deadline passed, or a watched server ended; carries its last log lines.
        """
        script = _script("zookeeper_client.py", command, self.connect, str(seconds), seconds=seconds + HANG_SECONDS)
        return self._run(script, {"options": self.options, "arguments": arguments}, watched)

    def await_ports(self, addresses: Mapping[int, str], *, seconds: float, watched: Sequence[Server] = ()) -> None:
        """Wait until each HOST:PORT accepts connections.

        Raises:
            BedError: the deadline passed, or a watched server ended; carries its last log lines.
        """
        arguments = {"addresses": list(addresses.values()), "seconds": seconds}
        script = _script("broker_client.py", "ports", seconds=seconds + HANG_SECONDS)
        self._run(script, {"options": {}, "arguments": arguments}, watched)

    def _run(self, script: Sequence[str], request: Mapping[str, object], watched: Sequence[Server]) -> Any:  # noqa: ANN401 - JSON
        process = self.worker.popen(
            script,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        unsent: str | None = json.dumps(request)
        while True:
            try:
                # Python sends no more of a long input after a time-out, so no lookup starts without a reason.
                answer, complaint = process.communicate(unsent, timeout=LOOK_SECONDS if watched else None)
                break
            except subprocess.TimeoutExpired:
                unsent = None
                dead = next((server for server in watched if not server.is_running), None)
                if dead is not None:
                    process.kill()
                    process.communicate()
                    message = "ended while it was starting"
                    raise dead.failed(message) from None
        if process.returncode:
            tails = "".join(f"\n{server.tail()}" for server in watched)
            lines = complaint.strip().splitlines() or [f"{script[5]} failed"]
            message = f"{lines[-1]}; logs in {self.folder}{tails}"
            raise BedError(message)
        return json.loads(answer)

    def views(
        self, addresses: Mapping[int, str], *, settled: int = 0, seconds: float = 0, options: Mapping[str, object] | None = None
    ) -> tuple[bool, dict[int, View]]:
        """Ask brokers for their own view.

        Args:
            addresses: HOST:PORT by id.
            settled: ask again until all views list this many brokers, one controller and all leaders; 0 asks once.
            seconds: deadline for that.
            options: kafka-python's, for listeners other than PLAINTEXT.

        Returns:
            Whether they settled, and the last views.
        """
        asked = {"addresses": addresses, "settled": settled, "seconds": seconds, "one_controller": self.one_controller}
        answer = self._ask_brokers("views", options, asked)
        return answer["settled"], {int(broker): View.read(raw) for broker, raw in answer["views"].items()}

    def create_topic(
        self, address: str, name: str, assignment: Mapping[int, Sequence[int]], options: Mapping[str, object] | None
    ) -> None:
        """Have a KRaft cluster create a topic.

        Raises:
            BedError: it refused.
        """
        arguments = {
            "address": address,
            "name": name,
            "assignment": {str(partition): list(at) for partition, at in assignment.items()},
        }
        if refusal := self._ask_brokers("create-topic", options, arguments):
            message = f"topic {name} was refused: {refusal}"
            raise BedError(message)

    def produce(
        self, addresses: Sequence[str], topic: str, partition: int, megabytes: int, options: Mapping[str, object] | None
    ) -> str | None:
        """Produce to the leader of a partition until it refuses; return its refusal, None where it took everything."""
        arguments = {"addresses": list(addresses), "topic": topic, "partition": partition, "megabytes": megabytes}
        refused: str | None = self._ask_brokers("produce", options, arguments)["refused"]
        return refused

    def topics(self, command: str, options: Mapping[str, object] | None, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Run a command of topics_client and return its answer."""
        return self._ask_brokers(command, options, arguments, script="topics_client.py")

    def _ask_brokers(
        self,
        command: str,
        options: Mapping[str, object] | None,
        arguments: Mapping[str, object],
        script: str = "broker_client.py",
    ) -> Any:  # noqa: ANN401 - JSON
        request = json.dumps({"options": options or {}, "arguments": arguments})
        started = _script(script, command, seconds=LONGEST_SECONDS)
        return json.loads(self.worker.demand(started, cwd=self.folder, input=request))


def _script(name: str, *arguments: str, seconds: float) -> list[str]:
    """Return the command that runs a script of this folder, and prints where it hangs after some seconds."""
    return [sys.executable, "-P", str(HERE / "script.py"), str(seconds), str(HERE / name), *arguments]
