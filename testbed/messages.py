"""Write the messages that kafka-python lacks, as kafka-clients defines them: ``python -m testbed.messages``.

What a decoder needs is kept: names, types and versions. Kafka's texts about them are not.
"""

import json
import re
import zipfile
from pathlib import Path

import kafka_audit
from testbed.jars import RELEASES, kafka_jars

FOLDER = Path(kafka_audit.__file__).parent / "clients" / "protocol" / "messages"
NAMES = (
    "ConsumerGroupDescribe",
    "DescribeDelegationToken",
    "DescribeShareGroupOffsets",
    "ShareGroupDescribe",
    "StreamsGroupDescribe",
)
_COMMENTS = re.compile(r"^\s*//.*$", re.MULTILINE)
_OF_BROKERS = {"about", "entityType", "listeners", "latestVersionUnstable", "deprecatedVersions"}


def written() -> dict[str, str]:
    """Return the text of each file by its name, from the jar of the newest release of the bed."""
    version = max(RELEASES, key=lambda release: [*map(int, release.split("."))])
    with zipfile.ZipFile(kafka_jars(version) / f"kafka-clients-{version}.jar") as jar:
        texts = {
            name: jar.read(f"common/message/{name}").decode()
            for name in (f"{message}{part}.json" for message in NAMES for part in ("Request", "Response"))
        }
    return {name: _lines(json.loads(_COMMENTS.sub("", text))) + "\n" for name, text in texts.items()}


def _lines(value: object, indent: str = "") -> str:
    """Return JSON with a line for each field of a message, which is short, and shows in a diff."""
    if isinstance(value, dict):
        nested = not indent or "fields" in value
        parts = [f'"{key}": {_lines(part, f"{indent}  ")}' for key, part in value.items() if key not in _OF_BROKERS]
        return "{" + (f"\n{indent}  " + f",\n{indent}  ".join(parts) + f"\n{indent}" if nested else ", ".join(parts)) + "}"
    if isinstance(value, list):
        return f"[\n{indent}  " + f",\n{indent}  ".join(_lines(part, f"{indent}  ") for part in value) + f"\n{indent}]"
    return json.dumps(value)


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
