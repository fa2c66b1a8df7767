"""Texts as logs."""

import io

from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.logs.diagnosis import log_document
from kafka_audit.logs.tally import LogTally


def tallied(**texts):
    """Count texts, or bytes, by the names of their files."""
    tally = LogTally()
    for name, text in texts.items():
        raw = text if isinstance(text, bytes) else text.encode()
        tally.read(LogFile(f"{name}.log", io.BufferedReader(io.BytesIO(raw))))
    return tally


def diagnosed(text="", **texts):
    """Return the document of one log, or of several."""
    return log_document(tallied(**({"server": text} if text else {}), **texts))
