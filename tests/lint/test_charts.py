"""Values of charts, and what Helm renders from them: lint derives the settings that the templates write."""

import json
from pathlib import Path

import pytest

from kafka_audit.cli import main
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.configuration.files.manifests import parse_manifests

FOLDER = Path(__file__).parent / "charts"
BITNAMI = ("two-roles", "external-access", "oauth", "own-config")
NOT_KAFKAS = "logs.dir"  # of the image


def _values(broker):
    return {key: setting.value for key, setting in broker.properties.items() if key != NOT_KAFKAS}


def test_every_file_is_tested():
    names = {f"bitnami-{name}" for name in BITNAMI} | {"confluent"}
    assert {path.name for path in FOLDER.iterdir()} == {
        f"{name}.{kind}.yaml" for name in names for kind in ("values", "rendered")
    }


@pytest.mark.parametrize("name", BITNAMI)
def test_values_give_what_helm_renders_for_each_pod(name):
    values = parse_manifests((FOLDER / f"bitnami-{name}.values.yaml").read_text())
    rendered = parse_manifests((FOLDER / f"bitnami-{name}.rendered.yaml").read_text())
    by_id = {broker.properties["node.id"].value: broker for broker in values}
    assert by_id.keys() == {broker.properties["node.id"].value for broker in rendered}
    for broker in rendered:
        derived = by_id[broker.properties["node.id"].value]
        assert _values(derived) == _values(broker)
        assert derived.image in broker.image


def test_values_give_the_variables_that_helm_renders():
    values = parse_manifests((FOLDER / "confluent.values.yaml").read_text())
    (rendered,) = parse_manifests((FOLDER / "confluent.rendered.yaml").read_text())
    assert [broker.properties["broker.id"].value for broker in values] == ["0", "1"]
    for broker in values:
        assert {key: value for key, value in _values(broker).items() if key not in {*rendered.unknown, "listeners"}} == {
            key: value for key, value in _values(rendered).items() if key not in rendered.unknown
        }
        assert "zk1.example.com:2181/events" in broker.properties["zookeeper.connect"].value
        advertised = broker.properties["advertised.listeners"].value
        assert advertised.endswith(f":{31090 + int(broker.properties['broker.id'].value)}")


def _said(capsys, *arguments):
    code = main(["lint", *map(str, arguments), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)["files"]


@pytest.mark.parametrize("name", BITNAMI)
def test_lint_says_the_same_of_values_and_of_the_rendered_files(name, capsys):
    lines = []
    for kind in ("values", "rendered"):
        _, files = _said(capsys, FOLDER / f"bitnami-{name}.{kind}.yaml")
        lines.append(
            sorted(
                (finding["resource"]["name"], finding["code"], finding["status"])
                for file in files
                for finding in file["findings"]
            )
        )
        assert {file["neighbour_of"] for file in files} == {"4.0.0"}
    assert lines[0] == lines[1]


def test_a_controller_without_an_id_in_its_text_starts(capsys, tmp_path):
    text = (FOLDER / "bitnami-two-roles.rendered.yaml").read_text()
    (controllers,) = [part for part in text.split("---\n") if "kind: ConfigMap" in part and "process.roles=controller\n" in part]
    (tmp_path / "map.yaml").write_text(controllers)
    code, (file,) = _said(capsys, tmp_path / "map.yaml")
    assert (code, file["starts"]) == (0, True)
    (tmp_path / "map.yaml").write_text(controllers.replace("/bitnami/kafka/data", "/var/lib/kafka"))
    code, (file,) = _said(capsys, tmp_path / "map.yaml")
    assert (code, file["starts"]) == (3, False)  # nothing fills in the id there


def test_names_that_resolve_only_inside_are_said_before_the_start(capsys, tmp_path):
    plain = "controller: {replicaCount: 1}\nlisteners: {client: {protocol: PLAINTEXT}}\n"
    outside = 'listeners: {advertisedListeners: "CLIENT://k.example.com:9092,INTERNAL://k.example.com:9094"}\n'
    for text, expected in ((plain, True), (plain.partition("listeners")[0] + outside, False)):
        (tmp_path / "values.yaml").write_text(text)
        _, (file,) = _said(capsys, tmp_path / "values.yaml")
        found = [finding for finding in file["findings"] if finding["code"] == "KA316"]
        assert bool(found) is expected
        assert all("externalAccess.enabled: true" in finding["remediation"] for finding in found)


def test_defaults_and_names_that_are_assumed_are_said(capsys, tmp_path):
    (tmp_path / "values.yaml").write_text("kraftVersion: 1\nfullnameOverride: events\nnamespaceOverride: data\ncontroller: {}\n")
    _, (first, *others) = _said(capsys, tmp_path / "values.yaml")
    image = "docker.io/bitnami/kafka:4.0.0-debian-12-r10"
    assert [remark["text"] for remark in first["remarks"]] == [
        "values that the file does not set are those of Bitnami's chart 32.4.4, with Kafka 4.0.0",
        f"{image} is no longer published, so no new host gets it: bitnamilegacy/kafka has its tags, without updates",
    ]
    assert len(others) == 2
    assert not any("remarks" in file for file in others)


def test_a_heap_above_the_limit_is_a_remark(capsys, tmp_path):
    text = "controller: {replicaCount: 1, heapOpts: -Xmx1024m, RESOURCES}\nlisteners: {client: {protocol: PLAINTEXT}}\n"
    large = {"resourcesPreset: small": 1, "resourcesPreset: large": 0, "resources: {limits: {memory: 1Gi}}": 1, "minId: 0": 0}
    for resources, expected in large.items():
        (tmp_path / "values.yaml").write_text(text.replace("RESOURCES", resources))
        _, (file,) = _said(capsys, tmp_path / "values.yaml")
        assert sum("the heap may grow to 1024m" in remark["text"] for remark in file["remarks"]) == expected


def test_remedies_name_values(capsys):
    _, files = _said(capsys, FOLDER / "confluent.values.yaml")
    remedies = {finding["code"]: finding["remediation"] for finding in files[0]["findings"] if finding["status"] == "FAIL"}
    assert "`cp-kafka.configurationOverrides.inter.broker.listener.name`" in remedies["KA411"]
    for kind in ("values", "rendered"):
        _, files = _said(capsys, FOLDER / f"bitnami-own-config.{kind}.yaml")
        remedies = {finding["code"]: finding["remediation"] for finding in files[0]["findings"] if finding["status"] == "FAIL"}
        assert remedies["KA310"].startswith(
            "In the values of the chart, correct the value of the setting that the message names."
        )
        assert "`overrideConfiguration.auto.create.topics.enable: false`" in remedies["KA705"]


REFUSED = {
    "an older chart of Bitnami": (
        "zookeeper: {enabled: true}\ncontroller: {replicaCount: 1}\nlisteners: {client: {}}\n",
        "zookeeper of Bitnami's chart before 32",
    ),
    "settings as text": ("controller: {config: |\n  process.roles=broker}\nlisteners: {client: {}}\n", "not YAML"),
    "another ConfigMap": ("controller: {existingConfigmap: own}\nlisteners: {client: {}}\n", "controller.existingConfigmap"),
    "too many pods": ("controller: {replicaCount: 1001}\nlisteners: {client: {}}\n", "replicaCount is no number up to 1000"),
    "no number": ("broker: {replicaCount: many}\nlisteners: {client: {}}\n", "replicaCount is no number up to 1000"),
    "a chart of Confluent that may be another": ("configurationOverrides: {a: b}\n", "configurationOverrides without brokers"),
    "too many brokers": ("cp-kafka: {brokers: 5000}\n", "brokers is no number up to 1000"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_values_that_are_not_judged_are_refused_with_a_reason(text, problem):
    with pytest.raises(PropertiesError, match=problem):
        parse_manifests(text)


OTHERS = {
    "an ingress controller": "controller: {replicaCount: 2, config: {use-forwarded-headers: true}}\nimage: {repository: nginx}\n",
    "a registry of Confluent": "replicaCount: 1\nimage: confluentinc/cp-schema-registry\nconfigurationOverrides: {a: b}\n",
    "listeners of a gateway": "listeners: {client: {port: 1}}\n",
    "cp-kafka is disabled": "cp-kafka: {enabled: false, brokers: 3}\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_values_of_other_charts_describe_no_broker(text):
    assert parse_manifests(text) == ()


def test_a_stateful_set_of_another_chart_is_read_by_its_variables():
    text = (FOLDER / "bitnami-own-config.rendered.yaml").read_text()
    assert len(parse_manifests(text)) == 1
    alone = parse_manifests(text.replace("KAFKA_MIN_ID", "OTHER"))
    assert [broker.inside for broker in alone] == [
        "ConfigMap kafka-controller-configuration, server.properties",
        "StatefulSet kafka-controller, container kafka",
    ]


@pytest.mark.parametrize(("tag", "version", "meant"), [("4.3.0-debian-12-r1", "4.3.0", None), ("9.1.0", "4.4.0", "9.1.0")])
def test_a_version_without_rules_is_named(capsys, tmp_path, tag, version, meant):
    text = f"controller: {{replicaCount: 1}}\nlisteners: {{client: {{}}}}\nimage: {{tag: {tag}}}\n"
    (tmp_path / "values.yaml").write_text(text)
    _, (file,) = _said(capsys, tmp_path / "values.yaml")
    assert (file["kafka_version"], file.get("neighbour_of")) == (version, meant)


def _below(name, text):
    """Return the values of a chart below its name in those of a chart that depends on it."""
    return f"image: {{repository: shop}}\n{name}:\n" + "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())


@pytest.mark.parametrize("name", [f"bitnami-{name}" for name in BITNAMI])
def test_values_below_the_name_of_a_subchart_give_the_same_pods(name):
    text = (FOLDER / f"{name}.values.yaml").read_text()
    alone, below = parse_manifests(text), parse_manifests(_below("kafka", text))
    assert [_values(broker) for broker in below] == [_values(broker) for broker in alone]
    for one, other in zip(alone, below, strict=True):
        assert {key: setting.line for key, setting in other.properties.items()} == {
            key: setting.line + 2 for key, setting in one.properties.items()
        }
        assert other.inside == one.inside.replace("Bitnami's chart", "Bitnami's chart (kafka)")


def test_values_of_confluents_charts_below_their_name_give_the_same_variables():
    text = (FOLDER / "confluent.values.yaml").read_text()
    alone, below = parse_manifests(text), parse_manifests(_below("cp-helm-charts", text))
    assert alone
    assert [(_values(broker), broker.image) for broker in below] == [(_values(broker), broker.image) for broker in alone]


PLAIN = "controller: {replicaCount: 1}\nlisteners: {client: {protocol: PLAINTEXT}, interbroker: {protocol: PLAINTEXT}}\n"


def test_two_subcharts_of_one_file_are_two_clusters_with_names_of_their_own():
    found = parse_manifests(_below("events", PLAIN) + _below("logs", PLAIN).partition("\n")[2])
    names = ("events", "logs")
    assert [broker.inside for broker in found] == [f"values of Bitnami's chart ({name}), controller 0" for name in names]
    assert [broker.cluster for broker in found] == [f"bitnami/kafka-{name}.default.svc.cluster.local" for name in names]
    assert "kafka-events-controller-0." in found[0].properties["advertised.listeners"].value


@pytest.mark.parametrize(
    "text",
    [
        _below("kafka", "enabled: true\nreplicaCount: 3\n"),  # of another chart, or of an old one
        _below("kafka", f"enabled: false\n{PLAIN}"),
        _below("'no name of a chart'", PLAIN),
        "shop:\n" + "".join(f"  {line}\n" for line in _below("kafka", PLAIN).splitlines()),  # two levels down
    ],
)
def test_what_is_not_recognized_below_a_name_is_no_broker(text):
    assert parse_manifests(text) == ()


def test_an_old_chart_below_a_name_is_named_with_its_line():
    with pytest.raises(PropertiesError, match="not judged: zookeeper of Bitnami's chart before 32") as caught:
        parse_manifests(_below("kafka", PLAIN + "zookeeper: {enabled: true}\n"))
    assert caught.value.line == 5


def test_remedies_name_the_fields_below_the_name_of_the_subchart(capsys, tmp_path):
    path = tmp_path / "values.yaml"
    path.write_text(_below("kafka", f"{PLAIN}overrideConfiguration:\n  log.retention.hours: soon\n"))
    _, (file,) = _said(capsys, path)
    found = {finding["code"]: finding for finding in file["findings"]}
    assert found["KA310"]["message"] == (
        "Broker 0 does not start with the values of the chart: "
        "Invalid value soon for configuration log.retention.hours: Not a number of type INT"
    )
    assert "In this file the setting is `kafka.overrideConfiguration.log.retention.hours`." in found["KA310"]["remediation"]
    assert found["KA310"]["evidence"]["line"] == 6
    assert "Set `kafka.listeners.interbroker.protocol` to" in found["KA411"]["remediation"]
