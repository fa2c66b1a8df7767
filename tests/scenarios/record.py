"""What each check said of each version: kept for docs/versions.md where KAFKA_AUDIT_RECORD names the file."""

import json
import os
from pathlib import Path


def record(version, mode, report):
    """Add a report, taken with `--all`, to what is known of a version: statuses by code, and the first reason why not."""
    name = os.environ.get("KAFKA_AUDIT_RECORD")
    if not name:
        return
    path = Path(name)
    known = json.loads(path.read_text()) if path.is_file() else {}
    codes = known.setdefault(f"{version} {mode}", {})
    for finding in report["findings"]:
        told = codes.setdefault(finding["code"], {"name": finding["name"], "statuses": [], "why": {}})
        status, evidence = finding["status"], finding["evidence"]
        told["statuses"] = sorted({*told["statuses"], status})
        if status in {"UNKNOWN", "NOT_APPLICABLE"}:
            told["why"].setdefault(status, evidence.get("reason") or evidence.get("error"))
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
