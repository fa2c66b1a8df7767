"""A real `airflow standalone`, for a browser of this machine: its own ports, users with known passwords."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from testbed import forwarder
from testbed.errors import BedError
from testbed.hosts import Host, release_process

USERS = {"admin": "admin", "viewer": "viewer"}
"""Password and role of each are its name."""

START_SECONDS = 2400
STOP_SECONDS = 300
TAIL_LINES = 40

# A SIGTERM to `airflow standalone` alone leaves its parts behind: the whole group ends when the owner closes the pipe, or dies.
_WATCH = 'trap : TERM; "$@" </dev/null & read -r _; kill -TERM 0; sleep 5; kill -KILL 0'


class AirflowServer:
    """Airflow's UI over an AIRFLOW_HOME, from entering the context to leaving it.

    Attributes:
        url: where the UI is, base path included, without a slash at its end.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        *,
        base_path: str = "",
        host: Host | None = None,
    ) -> None:
        """Choose ports.

        Args:
            folder: the AIRFLOW_HOME, whose database exists.
            environment: complete, as `AirflowHome.environment`.
            base_path: what the UI is served below, e.g. `/tools/airflow`.
            host: where it runs, None for this machine; from here it is reached at the same address either way.
        """
        ports = _free_ports(3)
        self._folder = folder
        self._host = host
        self._port = ports[0]
        self._door: subprocess.Popen[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{ports[0]}{base_path}"
        passwords = folder / "passwords.json"
        passwords.write_text(json.dumps({name: name for name in USERS}))
        self._environment = {
            **environment,
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(ports[0]),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in USERS.items()),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(ports[1]),
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(ports[2]),
            # standalone starts its parts as `airflow`, which may not be on the PATH.
            "PATH": f"{Path(sys.executable).parent}:{environment.get('PATH', '')}",
        }

    def __enter__(self) -> Self:
        """Start it and wait until it answers; raises `BedError` with the log's end if it does not."""
        start = subprocess.Popen if self._host is None else self._host.popen
        with (self._folder / "standalone.log").open("wb") as log:
            self._process = start(
                ["bash", "-c", _WATCH, "watch", sys.executable, "-m", "airflow", "standalone"],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )
        self._open_door()
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                tail = "\n".join((self._folder / "standalone.log").read_text(errors="replace").splitlines()[-TAIL_LINES:])
                message = f"airflow standalone did not answer at {self.url}:\n{tail}"
                raise BedError(message)
            time.sleep(1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End all its processes."""
        if self._door is not None:
            self._door.terminate()
            release_process(self._door)
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def _open_door(self) -> None:
        """Forward a port of this machine's loopback to the host's: a process on the host serves a socket of here."""
        if self._host is None:
            return
        with socket.create_server(("127.0.0.1", self._port)) as here:
            command = [sys.executable, str(Path(forwarder.__file__)), forwarder.INHERITED, str(here.fileno())]
            self._door = self._host.popen([*command, "127.0.0.1", str(self._port)], pass_fds=[here.fileno()])

    def _answers(self) -> bool:
        # Airflow 3.3 builds the API for tasks at its first request, and answers no request meanwhile: 5 s alone, over 30 s on a
        # busy machine. The first task does not wait that long.
        return self._is_up("api/v2/monitor/health", 5) and self._is_up("execution/health", START_SECONDS)

    def _is_up(self, path: str, seconds: float) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/{path}", timeout=seconds) as answer:  # noqa: S310 -- our own server
                return bool(answer.status == 200)  # noqa: PLR2004 -- OK
        except (urllib.error.URLError, OSError, ValueError):
            return False


def _free_ports(number: int) -> list[int]:
    """Return ports without a listener at this moment; all are bound until the last is found, so that they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for listening in sockets:
            listening.bind(("127.0.0.1", 0))
        return [listening.getsockname()[1] for listening in sockets]
