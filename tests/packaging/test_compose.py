"""`docker-compose.yaml` and `Dockerfile` against what the tests run without Docker, of which there is no engine here."""

import inspect
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from airflow.cli.commands import standalone_command
from airflow.configuration import conf

import compose_file
from airflow_environment import ROOT
from kafka_audit import settings
from kafka_audit.airflow import environment as deployment
from kafka_audit.airflow.operators import compare_operator
from kafka_audit.airflow.options import OPTIONS
from kafka_audit.configuration.starts import start_refusal
from testbed import airflow_home, airflow_server
from testbed.airflow_home import AirflowHome

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
OF_AIRFLOW = ["airflow-init", "airflow-apiserver", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer"]
# Ports and one worker process, because a test shares this machine with others; in a container they are Airflow's own.
OF_TESTS_ALONE = {
    "AIRFLOW__API__HOST",
    "AIRFLOW__API__PORT",
    "AIRFLOW__API__WORKERS",
    "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT",
    "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT",
}
NEEDED = (2, 24, 0)  # `env_file` with `required` is read since then


# Set by one process of ours for another, and by nobody else.
BETWEEN_US = {"KAFKA_AUDIT_TASK_PID"}


def environment_of(name):
    return compose_file.image_environment() | compose_file.services()[name].get("environment", {})


def read_by_the_product():
    """Return every variable of ours that code reads: as a literal, or through a constant or an argument that holds its name."""
    found = set()
    for file in (ROOT / "plugins").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "environ" in text:
            found.update(re.findall(r"[\"'](KAFKA_AUDIT_[A-Z_]+)[\"']", text))
    return found - BETWEEN_US


def version_of(command):
    """Return the version of a Compose as numbers, None where there is none."""
    try:
        completed = subprocess.run([*command, "version", "--short"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", completed.stdout)
    return tuple(int(number) for number in found.groups()) if found and completed.returncode == 0 else None


def compose():
    """Return the command of a Compose that can read our file; skip, saying what is here, where there is none."""
    found = {" ".join(command): version_of(command) for command in (["docker", "compose"], ["docker-compose"])}
    command, version = max(found.items(), key=lambda item: item[1] or ())
    needed = ".".join(map(str, NEEDED))
    if version is None:
        pytest.skip(f"no Docker Compose here, {needed} or newer is needed")
    if version < NEEDED:
        pytest.skip(f"{command} is version {'.'.join(map(str, version))} here, {needed} or newer is needed")
    return command.split()


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ({}, "no Docker Compose here, 2.24.0 or newer is needed"),
        ({"docker": "exit 1"}, "no Docker Compose here, 2.24.0 or newer is needed"),  # Docker without the plugin
        ({"docker-compose": "echo 1.29.2"}, "docker-compose is version 1.29.2 here, 2.24.0 or newer is needed"),  # Debian 12
        ({"docker": "echo 2.23.3"}, "docker compose is version 2.23.3 here, 2.24.0 or newer is needed"),
        ({"docker-compose": "echo 1.29.2", "docker": "echo 2.24.0"}, ["docker", "compose"]),
        ({"docker-compose": "echo v2.30.1"}, ["docker-compose"]),
    ],
)
def test_a_compose_that_is_too_old_is_named(tmp_path, monkeypatch, programs, expected):
    for name, line in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if isinstance(expected, list):
        assert compose() == expected
        return
    with pytest.raises(pytest.skip.Exception) as skipped:
        compose()
    assert skipped.value.msg == expected


def test_compose_itself_reads_the_file(tmp_path):
    command = compose()
    base = [*command, "--file", str(compose_file.FILE), "--env-file", "/dev/null"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    refused = subprocess.run([*base, "config"], env=environ, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "set it in .env" in refused.stderr
    completed = subprocess.run(
        [*base, "--profile", "play", "config", "--format", "json"],
        env=environ | compose_file.SECRETS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    theirs, ours = json.loads(completed.stdout)["services"], compose_file.read(compose_file.SECRETS)["services"]
    assert set(theirs) == set(ours)
    for name, service in ours.items():
        # In what it prints a dollar sign is doubled, so that it can be read again.
        assert json.loads(json.dumps(theirs[name]["command"] or []).replace("$$", "$")) == service.get("command", []), name
        assert {key: value.replace("$$", "$") for key, value in theirs[name].get("environment", {}).items()} == service.get(
            "environment", {}
        )
        assert theirs[name]["healthcheck"]["test"] if "healthcheck" in service else name == "airflow-init"


@pytest.mark.parametrize("secret", sorted(compose_file.SECRETS))
def test_a_secret_has_no_default(secret):
    without = {name: value for name, value in compose_file.SECRETS.items() if name != secret}
    with pytest.raises(compose_file.Missing, match=f"{secret}: set it in .env"):
        compose_file.read(without)
    assert secret in (ROOT / "docs" / "docker-compose.md").read_text(encoding="utf-8")


def test_only_secrets_are_required_and_no_value_of_one_stands_in_the_file():
    asked = compose_file.variables()
    assert {name for name, (how, _) in asked.items() if how == ":?"} == set(compose_file.SECRETS)
    assert {how for how, _ in asked.values()} == {":?", ":-"}
    for name, service in compose_file.services().items():
        for key, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD$|SECRET|FERNET", key) and not key.endswith("_FILE"):
                assert value in compose_file.SECRETS.values(), f"{name}: {key}"


def test_every_variable_that_the_product_reads_is_known_and_documented():
    known = set(environment_of("airflow-scheduler"))
    product = read_by_the_product()
    assert {"KAFKA_AUDIT_CLUSTERS", "KAFKA_AUDIT_FAIL_ON", "KAFKA_AUDIT_NOTIFIERS"} <= product
    assert product <= known, "give it a line under x-environment"
    assert {name for name in known if name.startswith("KAFKA_AUDIT_")} <= product
    assert set(OPTIONS) == product


def test_a_default_is_that_of_the_code(monkeypatch):
    for name in read_by_the_product():
        monkeypatch.delenv(name, raising=False)
    environment = environment_of("airflow-scheduler")
    assert environment["KAFKA_AUDIT_SCHEDULE"] == deployment.schedule()
    assert environment["KAFKA_AUDIT_FAIL_ON"] == deployment.fail_on()
    assert float(environment["KAFKA_AUDIT_MIN_COVERAGE"]) == deployment.min_coverage()
    assert environment["KAFKA_AUDIT_SPARK_MEMORY"] == deployment.spark_memory()
    assert float(environment["KAFKA_AUDIT_REMIND_HOURS"]) == deployment.remind().total_seconds() / 3600
    assert float(environment["KAFKA_AUDIT_APPROVAL_HOURS"]) == deployment.approval().total_seconds() / 3600
    assert json.loads(environment["KAFKA_AUDIT_NOTIFIERS"]) == []
    assert environment["KAFKA_AUDIT_WATCH"] == "off"
    assert deployment.watch_every() is None
    assert float(environment["KAFKA_AUDIT_WATCH_GRACE_SECONDS"]) == deployment.watch_grace()
    assert float(environment["KAFKA_AUDIT_WATCH_MINUTES"]) * 60 == deployment.watch_distance()


def test_airflow_is_set_as_in_the_tests(tmp_path):
    home = AirflowHome(None, tmp_path, clusters=tmp_path / "c", store=tmp_path / "s")
    natively = {name for name in home.environment if name.startswith(("AIRFLOW", "KAFKA_AUDIT_"))}
    natively |= set(re.findall(r'"(AIRFLOW__\w+)"', inspect.getsource(airflow_server))) - OF_TESTS_ALONE
    for name in OF_AIRFLOW:
        environment = environment_of(name)
        assert natively <= set(environment), name
        folders = {key: value.replace("/opt/kafka-audit", str(airflow_home.ROOT)) for key, value in environment.items()}
        for key in ("AIRFLOW__CORE__DAGS_FOLDER", "AIRFLOW__CORE__PLUGINS_FOLDER", "AIRFLOW__CORE__LOAD_EXAMPLES"):
            assert folders[key] == home.environment[key]


def test_airflow_knows_every_setting():
    for name in OF_AIRFLOW:
        for key in environment_of(name):
            if key.startswith("AIRFLOW__"):
                _, section, option = key.split("__")
                assert option.lower() in conf.configuration_description[section.lower()]["options"], key


def test_each_part_of_airflow_is_a_service_as_standalone_starts_them():
    parts = re.findall(r'command=\["([\w-]+)"\]', inspect.getsource(standalone_command))
    found = compose_file.services()
    assert sorted(found[name]["command"][1] for name in OF_AIRFLOW[1:]) == sorted(parts)
    assert all(found[name]["command"][0] == "airflow" for name in OF_AIRFLOW[1:])
    assert found["airflow-init"]["command"][-1].startswith("airflow db migrate\n")
    assert '"db", "migrate"' in inspect.getsource(airflow_home)
    assert all(
        found[name]["depends_on"]["airflow-init"]["condition"] == "service_completed_successfully" for name in OF_AIRFLOW[1:]
    )


def test_the_parts_share_what_they_must():
    for name in OF_AIRFLOW:
        service = compose_file.services()[name]
        targets = {volume["target"] if isinstance(volume, dict) else volume.split(":")[1] for volume in service["volumes"]}
        environment = environment_of(name)
        assert {environment["AIRFLOW_HOME"], environment["KAFKA_AUDIT_STORE"], environment["KAFKA_AUDIT_CLUSTERS"]} == targets
    spark = compose_file.services()["spark-worker"]
    assert spark["volumes"] == [f"store:{compose_file.image_environment()['KAFKA_AUDIT_STORE']}"]


def test_spark_is_where_the_connection_says_and_of_one_version_with_airflow():
    found = compose_file.services()
    connection = json.loads(environment_of("airflow-scheduler")[f"AIRFLOW_CONN_{compare_operator.CONNECTION.upper()}"])
    master = found["spark-master"]["command"]
    address = f"{connection['host']}:{connection['port']}"
    assert address == f"spark://{master[master.index('--host') + 1]}:{master[master.index('--port') + 1]}"
    assert found["spark-worker"]["command"][-1] == address
    assert {found[name]["image"] for name in (*OF_AIRFLOW, "spark-master", "spark-worker")} == {"kafka-audit"}
    heap = {"m": 1, "g": 1024}
    worker = found["spark-worker"]["command"][found["spark-worker"]["command"].index("--memory") + 1]
    wanted = deployment.spark_memory()
    assert int(worker[:-1]) * heap[worker[-1]] >= int(wanted[:-1]) * heap[wanted[-1]] + 384, "an executor has overhead"


def test_programs_are_those_of_the_locked_packages():
    """The image installs them below the same names that the tests call here."""
    here = Path(shutil.which("airflow", path=str(ROOT / ".venv" / "bin")) or shutil.which("airflow")).parent
    words = {service["command"][0] for service in compose_file.services().values() if "command" in service}
    assert words == {"airflow", "bash", "spark-class"}
    assert (here / "spark-class").is_file()


def test_the_image_has_the_lock_the_java_and_no_root():
    assert "--require-hashes --no-build-isolation --requirement requirements.txt" in DOCKERFILE
    assert "openjdk-17-jre-headless" in DOCKERFILE
    assert "openjdk-17-jre-headless" in (ROOT / ".ci" / "install").read_text(encoding="utf-8")
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)[-1] == "airflow"
    copied = set(re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE))
    kept = {line[1:].rstrip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {word for line in copied for word in line.split()} == kept


@pytest.mark.parametrize("profile", [None, "play"])
def test_no_service_may_write_its_image_nor_gain_rights(profile):
    for name, service in compose_file.services(profile=profile).items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not service.keys() & {"cap_add", "privileged", "devices", "pid", "ipc", "network_mode"}, name
        assert "/tmp" in {mount.partition(":")[0] for mount in service["tmpfs"]}, name  # noqa: S108 -- the container's own
        # apache/kafka runs as appuser, our image as airflow; that of Postgres would begin as root.
        assert service.get("user") == ("postgres" if name == "postgres" else None), name


def test_what_the_image_writes_is_a_volume_or_memory():
    """Each path that a setting or a command of our own services names lies in the image, in a volume or in /tmp."""
    for name in (*OF_AIRFLOW, "spark-master", "spark-worker"):
        service = compose_file.services()[name]
        mounts = [volume["target"] if isinstance(volume, dict) else volume.split(":")[1] for volume in service.get("volumes", [])]
        named = {
            path
            for text in (*service["command"], *service.get("environment", {}).values())
            for path in re.findall(r"(?<![\w/:.])/(?:var|tmp|etc|home)/[\w./-]+", text)
        }
        assert {path for path in named if not path.startswith((*mounts, "/tmp/"))} == set(), name  # noqa: S108


def test_every_service_that_stays_has_a_health_check():
    for profile in (None, "play"):
        for name, service in compose_file.services(profile=profile).items():
            assert ("healthcheck" in service) == (name != "airflow-init"), name


def test_ports_are_open_to_this_machine_alone():
    published = {
        name: service["ports"]
        for name, service in compose_file.read(compose_file.SECRETS)["services"].items()
        if "ports" in service
    }
    assert published == {"airflow-apiserver": ["127.0.0.1:8080:8080"]}


def test_passwords_of_clusters_go_where_tasks_alerts_and_the_watch_run_alone():
    with_env_file = {name for name, service in compose_file.services().items() if "env_file" in service}
    assert with_env_file == {"airflow-scheduler", "airflow-dag-processor", "airflow-triggerer"}


def test_kafka_accepts_the_brokers_to_play_with():
    brokers = {name: service for name, service in compose_file.services(profile="play").items() if name.startswith("kafka-")}
    assert len(brokers) == 3
    for number, (name, broker) in enumerate(brokers.items()):
        start, _, *words = broker["command"]
        assert start.endswith("kafka-server-start.sh")
        assert words[::2] == ["--override"] * (len(words) // 2)
        settings = dict(word.split("=", 1) for word in words[1::2])
        assert start_refusal(settings, broker["image"].partition("@")[0].partition(":")[2]) is None
        assert (settings["broker.id"], settings["advertised.listeners"]) == (str(number), f"PLAINTEXT://{name}:9092")


def test_the_cluster_to_play_with_is_described():
    (cluster,) = settings.load(str(ROOT / "clusters.play.yaml")).values()
    assert cluster.expect.brokers == 3
    assert yaml.safe_load((ROOT / "clusters.play.yaml").read_text())["clusters"]["play"]["zookeeper"] == "zookeeper:2181"
