"""The files that `make fault` begins: they have the shape of a fault, and a case that fails because nothing was observed."""

from dataclasses import fields

import pytest
import yaml

from kafka_audit.faults.fault import LAYERS, Fault
from testbed import new_fault


def test_the_files_have_the_shape_of_a_fault(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n### Added\n\n- a\n\n### Security\n\n- b\n")
    texts = dict(new_fault.stubs_of_fault(tmp_path, "address", "port_taken", "Another program has the port"))
    module, data, changelog = texts
    compile(texts[module], str(module), "exec")
    raw = yaml.safe_load(texts[data])
    assert raw.keys() - {field.name for field in fields(Fault)} == {"fault", "world", "cases", "unrecorded"}
    assert raw["layer"] in LAYERS
    assert raw["cases"]["it_is_shown"]["shown"], "its function observes nothing yet, so this case fails"
    assert any("near" in case for case in raw["cases"].values())
    assert "- a\n- A known fault: another program has the port.\n" in texts[changelog]


@pytest.mark.parametrize("name", ["PortTaken", "unreachable_address", "../x"])
def test_a_name_that_cannot_be_is_refused(name, capsys):
    with pytest.raises(SystemExit):
        new_fault.main(["address", name])
    assert "is taken, or does not say the fault" in capsys.readouterr().err
