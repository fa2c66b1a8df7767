"""Command vantages: send a script by stdin, read one tab-separated line per layer back.

Nothing is installed there, and no credential travels: the script holds addresses, names of mechanisms and the certificates of
`ca_file`. Environment variables that hold one of the cluster's passwords, or are Airflow's or our own, are kept from the command.
"""

import importlib.resources
import json
import os
import re
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kafka_audit.bounds import child_environment
from kafka_audit.clients import probe_script
from kafka_audit.clients.budget import Budget, over_limit
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.probe_script import ADDRESS, CERTIFICATE, MOST_ADDRESSES
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked_command
from kafka_audit.clients.targets import Target
from kafka_audit.collect.probes import endpoint_probes
from kafka_audit.collect.probes.endpoint_probes import LAYERS, NO_LAYERS, Origin, ProbeStep
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.compare.addresses import normal_host
from kafka_audit.model.cluster import Cluster, Vantage
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row

START_S = 10.0
"""Time for ssh, kubectl or docker to get the script going, in addition to the probes."""

_MOST_UNSEEN = 200  # targets that each get a row if the probes of a broker's host returned nothing
_MOST_OUTPUT = 4 * 1024 * 1024
_OUTCOMES = frozenset({"ok", "failed", "unknown"})
_END_S = 1.0
_MOST_STEPS = len(LAYERS) + 1 + MOST_ADDRESSES
_FIELDS = 8  # tag, index, layer, outcome, error, detail, needs, milliseconds
_NEEDS = "a command that runs python3 or bash on the vantage, with the script on its stdin"
_BASH_LACKS = ("tls", "sasl")
_IMPORT = re.compile(r"^from kafka_audit\.[^\n(]*(\([^)]*\))?\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a command wrote (both streams) and how it ended; `status` is None when it was still running at its deadline."""

    text: str
    status: int | None

    def first_line(self) -> str:
        """Return the first foreign line of the output, with the exit of the command."""
        line = next(
            (line for line in self.text.splitlines() if line.strip() and not line.startswith(probe_script.TAG + "\t")), ""
        )
        ending = "still running at its deadline" if self.status is None else f"exit status {self.status}"
        return f"{clean_line(line, 160)} ({ending})" if line else ending

    def failed(self, message: str, needs: str) -> ReadError:
        """Return why the output is not valid."""
        if self.status is None:
            return ReadError(ReadFailure.TIMEOUT, message, needs)
        if self.status:
            return ReadError(ReadFailure.COMMAND_FAILED, message, needs, error=f"exit status {self.status}")
        return ReadError(ReadFailure.UNREADABLE_OUTPUT, message, needs)


def runs(  # noqa: PLR0913, PLR0917 -- all are needed
    cluster: Cluster,
    sample: int,
    targets: Sequence[Target],
    brokers: Iterable[int],
    logins: ClusterLogins | None = None,
    budget: Budget | None = None,
    controllers: Sequence[Target] = (),
    roles: Sequence[str] = ("client", "broker"),  # of few clients each sees all that it may
) -> list["VantageRun"]:
    """Return what to run for the command vantages of the cluster file: once for role client, else once per node.

    Args:
        cluster: its vantages; `limits.probes` bounds the pairs of a run and a target.
        sample: number of this sample.
        targets: where to go.
        brokers: ids, of controllers for role controller, in the order in which their hosts are to have their turn.
        logins: the logins and authorities of the cluster file.
        budget: the audit's.
        controllers: addresses of controllers; hosts of nodes must reach them too, clients need not.
        roles: of the vantages that run.
    """
    logins, budget = logins or ClusterLogins(cluster, {}), budget or Budget(cluster)
    ids = [*brokers]
    origins = [
        (vantage, Origin.of(vantage, broker))
        for role in roles
        for vantage in cluster.vantages
        if vantage.command is not None and vantage.role == role
        for broker in ([None] if role == "client" else ids)
    ]
    vantage_runs, left = [], cluster.limits.probes
    for number, (vantage, origin) in enumerate(origins):
        destinations = targets if vantage.role == "client" else [*controllers, *targets]
        share = min(len(destinations), max(1, left // (len(origins) - number)) if left else 0)
        left -= share
        if share == len(destinations):
            vantage_runs.append(VantageRun(cluster, vantage, origin, sample, destinations, logins, budget))
            continue
        # Each run begins where the one before ended, so that every target has about as many probes.
        start = number * share % max(1, len(destinations))
        turned = [*destinations[start:], *destinations[:start]]
        vantage_runs.append(VantageRun(cluster, vantage, origin, sample, turned[:share], logins, budget, turned[share:]))
    return vantage_runs


class VantageRun:
    """One vantage, on one host, to all targets."""

    def __init__(  # noqa: PLR0913, PLR0917 -- all are needed
        self,
        cluster: Cluster,
        vantage: Vantage,
        origin: Origin,
        sample: int,
        targets: Sequence[Target],
        logins: ClusterLogins,
        budget: Budget,
        left_out: Sequence[Target] = (),
    ) -> None:
        """Take a vantage, where on it to run, and which targets `limits.probes` leaves out; `rows` runs."""
        self._logins = logins
        self._cluster = cluster
        self._vantage = vantage
        self._origin = origin
        self._sample = sample
        self._targets = targets
        self._budget = budget
        self._left_out = left_out

    @property
    def vantage(self) -> str:
        """The vantage's name in the cluster file."""
        return self._vantage.name

    @property
    def name(self) -> str:
        """Where it runs, in words."""
        place = "" if self._origin.node is None else f" on {self._origin.role} {self._origin.node}"
        return clean_line(self._vantage.name) + place

    def _command(self) -> list[str]:
        place = f"{{{self._origin.role}_id}}"
        return [part.replace(place, str(self._origin.node)) for part in self._vantage.command or ()]

    def _asking(self) -> Asking:
        observer = f"vantage:{self._vantage.name}"
        return Asking(sample=self._sample, observer=observer, target=clean_line(shlex.join(masked_command(self._command()))))

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the rows of a run that gave none, e.g. because it did not end with the audit."""
        return (self._asking().failed(f"probe {self._vantage.name}", error), *self._unseen(self._targets, error))

    def _unseen(self, targets: Sequence[Target], error: ReadError) -> tuple[Row, ...]:
        """Return the rows of targets that were not seen.

        From a broker's host there is none if these are many: a pair without a row was not probed, which its row would state,
        and a wrong list of brokers would fill the table with pairs that were not probed.
        """
        many = len(self._targets) + len(self._left_out) > _MOST_UNSEEN
        if many and self._origin.node is not None:
            return ()
        step = endpoint_probes.unknown_step(error)
        return tuple(row for target in targets for row in self._rows_of(target, [step]))

    def _rows_of(self, target: Target, steps: Sequence[ProbeStep], *, judges: bool = False) -> tuple[Row, ...]:
        if self._origin.role == "controller":
            return endpoint_probes.voter_rows(self._sample, self._origin, target, steps)
        if target.is_zookeeper:
            return endpoint_probes.zookeeper_rows(self._sample, self._origin, target, steps)
        rows = endpoint_probes.controller_rows if target.is_controller else endpoint_probes.probe_rows
        return rows(self._sample, self._origin, target, steps, judges=judges)

    def rows(self) -> tuple[Row, ...]:
        """Run the command and return `Probe` rows for every target, and one `SourceRead` row for the run."""
        command, asking, operation = self._command(), self._asking(), f"probe {self._vantage.name}"
        sent = [target for target in self._targets if endpoint_probes.left_out(target, self._logins) is None]
        rows: list[Row] = []
        for target in self._targets:
            impossible = endpoint_probes.left_out(target, self._logins)
            if impossible is not None:
                rows += self._rows_of(target, [impossible])
        if self._left_out:
            message = f"{len(self._left_out)} of {len(self._left_out) + len(self._targets)} endpoints were not probed"
            error = over_limit(f"{message} from {self.name}", "probes")
            rows += [asking.failed(f"{operation} (rest)", error), *self._unseen(self._left_out, error)]
        try:
            paths = self._probe(command, sent) if sent else {}
        except ReadError as error:
            return (asking.failed(operation, error), *rows, *self._unseen(sent, error))
        for index, steps in sorted(paths.items()):
            rows += self._rows_of(sent[index], steps, judges=self._logins.judges(sent[index]))
        return (asking.answered(operation), *rows)

    def _probe(self, command: list[str], targets: Sequence[Target]) -> dict[int, list[ProbeStep]]:
        """Return the steps to every target, with Python there, otherwise with bash; raises ReadError if both are incomplete."""
        read_s = self._cluster.limits.read_s
        wanted_s = START_S + read_s * -(-len(targets) // probe_script.SIDE_BY_SIDE)
        named = self._budget.excepted
        environment = command_environment(self._cluster, self._logins.passwords(), self._vantage.env)
        first_lines = []
        for program, script in (
            (["python3", "-"], python_text(targets, read_s, self._logins, named)),
            (["bash", "-s"], bash_text(targets, read_s, named)),
        ):
            output = run_vantage_command([*command, *program], script, self._budget.demand_time(wanted_s), environment)
            paths = parse_probe_output(output.text, targets)
            if len(paths) == len(targets):
                return (
                    paths if program[0] == "python3" else {at: without_python(targets[at], steps) for at, steps in paths.items()}
                )
            first_lines.append(f"{program[0]}: {output.first_line()}")
            if paths or output.status is None:
                break  # it ran there: another attempt returns the same
        raise output.failed("; ".join(first_lines), _NEEDS)


Named = Collection[tuple[str, int]]
"""Addresses that the cluster file gives as such, which may be dialled whatever they are."""


def python_text(targets: Sequence[Target], seconds: float, logins: ClusterLogins, named: Named = ()) -> str:
    """Return the script for a vantage with Python: this package's own modules, and a call with the targets as JSON text."""
    folder = importlib.resources.files("kafka_audit.clients")
    modules = ("sockets.py", "probe_script.py")
    source = "\n".join(folder.joinpath(module).read_text(encoding="utf-8") for module in modules)
    what = json.dumps(asked(targets, logins, named))
    return f"{_IMPORT.sub('', source)}\n\nmain({what!r}, {seconds!r})\n"


def asked(targets: Sequence[Target], logins: ClusterLogins, named: Named = ()) -> dict[str, Any]:
    """Return the input of the script at a vantage, as JSON: addresses, names and certificates of `ca_file`."""
    trust: dict[str, str] = {}
    listed = []
    for target in targets:
        pem = logins.authorities(target)
        # A vantage's own store of authorities is not ours, so without a ca_file nothing is verified there.
        key = None if pem is None else trust.setdefault(pem, str(len(trust)))
        known = (normal_host(target.host), target.port) in named
        listed.append(
            [target.host, target.port, list(endpoint_probes.layers(target)), target.host, key, logins.mechanism(target), known]
        )
    return {"targets": listed, "trust": {key: pem for pem, key in trust.items()}}


def without_python(target: Target, steps: list[ProbeStep]) -> list[ProbeStep]:
    """Return the steps of bash, and the unknown step that bash cannot make, if the probe got that far."""
    lacking = next((layer for layer in endpoint_probes.layers(target) if layer in _BASH_LACKS), None)
    before = LAYERS.index(lacking) if lacking else 0
    if lacking is None or any(step.outcome != "ok" for step in steps if LAYERS.index(step.layer) < before):
        return steps
    return sorted([*steps, ProbeStep(lacking, "unknown", None, None, "python3", 0)], key=lambda step: LAYERS.index(step.layer))


def bash_text(targets: Sequence[Target], seconds: float, named: Named = ()) -> str:
    """Return the script for a vantage with bash alone; requests travel as octal escapes for printf, hosts quoted."""
    source = importlib.resources.files("kafka_audit.collect.probes").joinpath("probe_script.sh").read_text(encoding="utf-8")
    settings = [
        f"SECONDS_EACH={max(1, round(seconds))}",
        f"API_VERSIONS={_octal(probe_script.api_versions_request())}",
        f"IDENTITY_0={_octal(probe_script.identity_request(0))}",
        f"IDENTITY_1={_octal(probe_script.identity_request(1))}",
    ]
    calls = []
    for index, target in enumerate(targets):
        layers_of_bash = endpoint_probes.layers(target)
        if "tls" in layers_of_bash:
            layers_of_bash = ("dns", "tcp")
        known = " named" if (normal_host(target.host), target.port) in named else ""
        calls.append(f"  probe {index} {shlex.quote(target.host)} {target.port} {','.join(layers_of_bash)}{known} &")
        if (index + 1) % probe_script.SIDE_BY_SIDE == 0:
            calls.append("  wait")
    # In a function and without stdin: a child that read from it would eat the rest of this very script.
    return "\n".join([source, *settings, "main() {", *calls, "  wait", "}", "main </dev/null", "exit 0", ""])


def _octal(request: bytes) -> str:
    return shlex.quote("".join(f"\\{byte:03o}" for byte in request))


def command_environment(
    cluster: Cluster, passwords: Collection[str] = (), more: Collection[str] = (), environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment for a command of a vantage or of logs: what such commands need, and `more` of the cluster file.

    A variable that holds a password of this cluster is none of them, whatever its name.
    """
    securities = [cluster.security, *(security for security in cluster.listeners.values() if security is not None)]
    names = {security.password_env for security in securities} | {cluster.zookeeper.password_env if cluster.zookeeper else None}
    kept = child_environment.of_command(environ, more)
    return {
        name: value for name, value in kept.items() if name not in names and not any(password in value for password in passwords)
    }


def run_vantage_command(
    command: Sequence[str], script: str, seconds: float, environment: Mapping[str, str], *, last: bool = False
) -> Output:
    """Run a command with the script on its stdin, in a separate session, and end all its processes at the deadline.

    Of much output the beginning is kept and the command ended; with `last` the end is kept, for a log.

    Raises:
        ReadError: the command itself cannot be started here.
    """
    with tempfile.TemporaryFile() as stdin:
        stdin.write(script.encode())
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise ReadError(ReadFailure.CANNOT_RUN, f"{command[0]}: {error.strerror}", f"{command[0]} on this worker") from error
        try:
            text = _output(process, time.monotonic() + seconds, last=last)
            return Output(text=text, status=process.poll())
        finally:
            _end(process)


def _output(process: subprocess.Popen[bytes], deadline: float, *, last: bool) -> str:
    """Read until the command ends, the deadline, or more than a vantage has to say; with `last` go on and forget the oldest."""
    parts: deque[bytes] = deque()
    stream = process.stdout
    with selectors.DefaultSelector() as selector:
        if stream is None:
            return ""
        selector.register(stream, selectors.EVENT_READ)
        size = 0
        while (last or size < _MOST_OUTPUT) and selector.select(max(0.0, deadline - time.monotonic())):
            part = os.read(stream.fileno(), 65536)
            if not part:
                break
            parts.append(part)
            size += len(part)
            while size > _MOST_OUTPUT + len(parts[0]):
                size -= len(parts.popleft())
    with suppress(subprocess.TimeoutExpired):  # Output.status None says so
        process.wait(max(0.0, min(1.0, deadline - time.monotonic())))
    return b"".join(parts).decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    with suppress(subprocess.TimeoutExpired):  # killed, and in the kernel's hands
        process.wait(_END_S)


def parse_probe_output(text: str, targets: Sequence[Target]) -> dict[int, list[ProbeStep]]:
    """Return the steps by index of the target; lines that are not ours, or make no sense, are left out."""
    paths: dict[int, list[ProbeStep]] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) != _FIELDS or fields[0] != probe_script.TAG:
            continue
        _, index, layer, outcome, error, detail, needs, elapsed = fields
        if not (re.fullmatch(r"[0-9]{1,6}", index) and re.fullmatch(r"[0-9]{1,9}", elapsed)) or int(index) >= len(targets):
            continue
        steps = paths.setdefault(int(index), [])
        known = {*endpoint_probes.layers(targets[int(index)]), CERTIFICATE}
        again = layer in {step.layer for step in steps if step.layer != ADDRESS}
        if layer in known and outcome in _OUTCOMES and not again and len(steps) < _MOST_STEPS:
            steps.append(endpoint_probes.probe_step(layer, outcome, error or None, detail or None, needs or None, int(elapsed)))
    probed = {index: steps for index, steps in paths.items() if any(step.layer not in NO_LAYERS for step in steps)}
    return {index: sorted(steps, key=_rank) for index, steps in probed.items()}


def _rank(step: ProbeStep) -> int:
    """Return the rank of a step; the certificate comes just before tls, addresses come last."""
    if step.layer == ADDRESS:
        return 2 * len(LAYERS)
    return 2 * LAYERS.index("tls" if step.layer == CERTIFICATE else step.layer) - (step.layer == CERTIFICATE)
