"""README grants each right that a finding may name as missing, and none to change anything."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RIGHT = re.compile(
    r"\"(Describe|DescribeConfigs|Read|Alter\w*|Create|Write|ClusterAction) on (Cluster|Topic|Group|TransactionalId)\b"
)
GRANT = re.compile(r"^kafka-acls\.sh … --add --allow-principal User:auditor (.*)$", re.MULTILINE)


def granted():
    options = {
        "Cluster": "--cluster",
        "Topic": "--topic '*'",
        "Group": "--group '*'",
        "TransactionalId": "--transactional-id '*'",
    }
    found = set()
    for line in GRANT.findall((ROOT / "README.md").read_text()):
        (kind,) = (name for name, option in options.items() if line.endswith(option))
        found |= {(operation, kind) for operation in re.findall(r"--operation (\w+)", line)}
    return found


def test_readme_grants_what_findings_ask_for():
    source = "".join(path.read_text() for path in (ROOT / "plugins" / "kafka_audit").rglob("*.py"))
    named = set(RIGHT.findall(source))
    assert {("Describe", "Cluster"), ("Describe", "Group"), ("Describe", "TransactionalId")} <= named
    assert named == granted()
    assert {operation for operation, _ in granted()} == {"Describe", "DescribeConfigs"}
