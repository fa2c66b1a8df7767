"""What `make check` writes: a code that is free, and files in which only the judgement is missing."""

import inspect
import subprocess
import types

import pytest
import yaml

import small_cluster
from airflow_environment import ROOT
from checks.cases import demand_known_keys
from kafka_audit import checks
from kafka_audit.checks import RETIRED, Status, catalogue
from testbed import new_check
from testbed.corpus.actions import ACTIONS
from testbed.corpus.catalogue import fault


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True)


def committed(folder, name, code):
    path = folder / new_check.CHECKS / "listeners" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'@check(\n    code="{code}",\n)\n')
    git(folder, "add", ".")
    git(folder, "commit", "-m", name)


@pytest.fixture
def checkout(tmp_path):
    """A repository with a branch and a worktree that use codes which it does not have itself."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    committed(folder, "base", "KA301")
    git(folder, "checkout", "-b", "other")
    committed(folder, "of_a_branch", "KA390")
    git(folder, "checkout", "main")
    git(folder, "worktree", "add", "-b", "third", str(tmp_path / "third"))
    path = tmp_path / "third" / new_check.CHECKS / "listeners" / "not_committed.py"
    path.write_text('code="KA391"')
    return folder


def test_a_code_is_used_by_checks_former_checks_branches_and_worktrees(checkout):
    used = new_check.used_codes(checkout)
    assert used["KA301"] == "this checkout"
    assert used["KA309"] == "former checks"
    assert used["KA390"] == "refs/heads/other"
    assert used["KA391"].endswith("third")
    assert new_check.next_code("listeners", used) == "KA392"


def test_without_a_repository_the_catalogue_decides(tmp_path):
    assert new_check.used_codes(tmp_path).keys() == catalogue().keys() | RETIRED


@pytest.mark.parametrize(("family", "code"), [("audit", "KA005"), ("listeners", "KA303"), ("zookeeper", "KA801")])
def test_the_next_code_is_behind_the_last_one_of_the_family(family, code):
    assert new_check.next_code(family, {"KA004", "KA302", "KA101"}) == code


def test_a_family_that_is_full_has_none():
    with pytest.raises(ValueError, match="no code left"):
        new_check.next_code("audit", {"KA099"})


@pytest.mark.parametrize("family", ["listeners", "configuration"])
def test_the_files_run_and_have_the_shape_that_tests_demand(tmp_path, monkeypatch, family):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n### Added\n\n- a\n\n### Security\n\n- b\n")
    texts = dict(new_check.stubs(tmp_path, "KA399", family, "port_shared", "Two listeners share a port"))
    module, cases, faults, changelog = texts
    written = types.ModuleType(f"kafka_audit.checks.{family}.port_shared")
    monkeypatch.setattr(checks, "check", lambda **_options: lambda function: function)
    exec(texts[module], vars(written))  # noqa: S102 -- our own template
    world = {"brokers": {0: {"listeners": {"PLAINTEXT": "PLAINTEXT://b0:9092"}}}, "configs": {0: {"…": "1"}}}
    judged = list(written.port_shared(small_cluster.view(world)))
    assert [(judgement.status, judgement.resource) for judgement in judged] == [(Status.PASS, "broker/0")]
    assert module == tmp_path / new_check.CHECKS / family / "port_shared.py"
    demand_known_keys("x.yaml", yaml.safe_load(texts[cases]))
    ((name, raw),) = yaml.safe_load(texts[faults]).items()
    new = fault(name, raw)
    assert (name, new.cause) == ("port_shared", ("KA399",))
    for step in (*new.steps, *new.heal):
        inspect.signature(ACTIONS[step.do]).bind("scene", **step.arguments)
    assert "- a\n- KA399 `port_shared`: two listeners share a port.\n\n### Security" in texts[changelog]


@pytest.mark.parametrize("name", ["PortShared", "check_ports", "stale_leader", "../x"])
def test_a_name_that_cannot_be_is_refused(name, capsys):
    with pytest.raises(SystemExit):
        new_check.main(["listeners", name])
    assert "is taken, or does not say the fault" in capsys.readouterr().err


def test_every_family_has_a_folder_of_faults_or_gets_one():
    stubs = dict(new_check.stubs(ROOT, "KA999", "audit", "x", "X"))
    assert yaml.safe_load(stubs[ROOT / "testbed" / "corpus" / "faults" / "audit.yaml"]).keys() == {"x"}
