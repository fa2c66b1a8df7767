"""`before-migration` and `after-migration` over three brokers on loopback, compared in the same process."""

import json
from types import SimpleNamespace

import pytest

from kafka_audit import cli
from scenarios import beds

cluster = beds.on_loopback


@pytest.fixture
def run(cluster, tmp_path, capsys):
    config = tmp_path / "clusters.yaml"
    config.write_text(json.dumps({"clusters": {"prod": cluster.entry()}}))

    def call(command, *options):
        code = cli.main([command, "prod", "--config", str(config), "--out", str(tmp_path / "store"), "--quiet", *options])
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return call


def test_a_go_keeps_the_baseline_and_the_comparison_finds_it(run, cluster, tmp_path):
    go = run("before-migration", "--kind", "moving-hosts")
    assert (go.code, go.out.splitlines()[0]) == (
        0,
        "GO for prod, moving hosts: no failure of severity HIGH or above, 15 of 15 reads answered",
    )
    (baseline,) = (tmp_path / "store" / "baselines").iterdir()
    assert f"Snapshot {baseline.stem}, the baseline for the comparison." in go.out
    same = run("after-migration", "--format", "json")
    report = json.loads(same.out)
    assert (same.code, report["verdict"], report["baseline"]) == (0, "as expected", baseline.stem)
    cluster.only(0, 2)
    broken = run("after-migration")
    assert broken.code == 3
    assert "NEW FAILURES (2)" in broken.out
    assert "KA001 broker/1" in broken.out
    assert "KA301 broker/1" in broken.out


def test_a_no_go_keeps_nothing_unless_told_to(run, cluster, tmp_path):
    cluster.only(0, 2)
    no_go = run("before-migration", "--kind", "moving-hosts")
    assert no_go.code == 3
    assert "baseline" not in no_go.out
    assert not (tmp_path / "store" / "baselines").exists()
    kept = run("before-migration", "--kind", "moving-hosts", "--keep", "--format", "json")
    assert json.loads(kept.out)["verdict"] == "no-go"
    assert len([*(tmp_path / "store" / "baselines").iterdir()]) == 1


def test_a_proposed_address_is_tried_from_here(run):
    no_go = run("before-migration", "--kind", "new-network", "--advertised", "0: PLAINTEXT://nowhere.invalid:9092")
    assert no_go.code == 3
    assert "worker does not reach nowhere.invalid:9092, the proposed address of broker 0: dns" in " ".join(no_go.out.split())


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("before-migration", ["--kind", "rolling"], "'rolling' is not a kind of change"),
        ("before-migration", [], "--kind"),
        ("before-migration", ["--kind", "rolling-upgrade", "--node-ids", "a,b"], "node ids"),
        (
            "before-migration",
            ["--kind", "new-network", "--vantage", "dmz"],
            "prod: vantage 'dmz' does not exist; the vantages are worker",
        ),
        ("before-migration", ["--kind", "new-network", "--proposed", "/nowhere"], "/nowhere"),
        ("before-migration", ["--kind", "new-network", "--advertised", "k:9092"], "must have the form N: LISTENER://HOST:PORT"),
        ("before-migration", ["--kind", "quorum-voters"], "quorum-voters requires the node ids of all voters after the change"),
        ("before-migration", ["--kind", "controller-hosts"], "controller-hosts requires the new addresses"),
        ("after-migration", [], "no baseline of cluster 'prod'; create one"),
    ],
)
def test_wrong_usage_is_one_line_before_anything_is_asked(run, command, options, says):
    wrong = run(command, *options)
    assert wrong.code == 2
    assert says in wrong.err
    assert wrong.err.count("\n") == 1
