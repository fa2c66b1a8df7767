"""Other tools on the same broken cluster at the same moment: what they print."""

import shutil
import subprocess
from collections.abc import Callable

from testbed.corpus.scene import Scene
from testbed.errors import BedError

SECONDS = 40
NOT_INSTALLED = "not installed"
UNAVAILABLE = {
    "topicctl": (
        "the Go module proxy answered 403 for github.com/segmentio/topicctl; [the comparison](peers.md) ran it on five clusters"
    ),
    "superstream-kafka-analyzer": (
        "the npm package depends on @confluentinc/kafka-javascript, whose native part did not build here; "
        "[the comparison](peers.md) ran it on five clusters with that part replaced"
    ),
}
"""Tools that were tried and cannot be installed from their package registry on the machine of the record."""


def kafka_topics(scene: Scene) -> str:
    """Run ``kafka-topics.sh --describe`` for what is under-replicated and what is unavailable."""
    wanted = ["--under-replicated-partitions", "--unavailable-partitions"]
    lines = []
    for option in wanted:
        try:
            command = f"kafka-topics.sh --bootstrap-server {scene.tools.bootstrap} --describe {option}"
            completed = scene.tools.run(scene.tools.with_login(command), SECONDS)
        except subprocess.TimeoutExpired:
            lines.append(f"no end after {SECONDS} s")
            break
        lines.append((completed.stdout + completed.stderr).strip())
        if completed.returncode:
            break
    return "\n".join(filter(None, lines))


def kcat(scene: Scene) -> str:
    """Run ``kcat -L``.

    Raises:
        BedError: it is not installed.
    """
    path = shutil.which("kcat")
    if path is None:
        raise BedError(NOT_INSTALLED)
    settings = _librdkafka(scene)
    command = [path, "-L", "-b", scene.tools.bootstrap, "-m", "15", *(part for setting in settings for part in ("-X", setting))]
    try:
        completed = scene.bed.worker.run(command, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    return completed.stdout + completed.stderr


def _librdkafka(scene: Scene) -> list[str]:
    secured = scene.cluster.secured
    if secured is None:
        return []
    options = secured.client_options()
    settings = {"security.protocol": str(options["security_protocol"])}
    if "sasl_mechanism" in options:
        settings["sasl.mechanism"] = str(options["sasl_mechanism"])
        settings["sasl.username"] = str(options["sasl_plain_username"])
        settings["sasl.password"] = str(options["sasl_plain_password"])
    if secured.security.listener().tls:
        settings["ssl.ca.location"] = str(secured.authority.ca_file)
    if "ssl_certfile" in options:
        settings |= {"ssl.certificate.location": str(options["ssl_certfile"]), "ssl.key.location": str(options["ssl_keyfile"])}
    return [f"{key}={value}" for key, value in settings.items()]


PEERS: dict[str, Callable[[Scene], str]] = {"kafka-topics": kafka_topics, "kcat": kcat}
