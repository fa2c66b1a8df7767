"""Errors that a user may meet; everything else is a bug.

AuditError
├── UsageError             exit 2: cluster file, command line, mute list; names file, key and remedy
│   └── SnapshotError      exit 2: a snapshot that is missing, half-written or does not match its manifest
├── StoreError             exit 2: a file of the store cannot be written or read; names path and remedy
│   └── StoreBusyError     exit 2: the same, but another try may find it mended: full disk, I/O error, network
└── EngineError            exit 1: Spark did not run, or did not write what it was asked for

A source that does not answer is never an exception: it is a `SourceRead` row with outcome "failed".
"""


class AuditError(Exception):
    """Base of every error whose text is meant for the user: one line, no traceback."""

    exit_code = 1


class UsageError(AuditError):
    """The cluster file, an argument or a mute is wrong."""

    exit_code = 2


class SnapshotError(UsageError):
    """A stored snapshot cannot be read as its manifest describes it; `path` is the file of a table, below the store's root."""

    def __init__(self, message: str, *, path: str | None = None) -> None:
        """Take what is shown, and the file."""
        super().__init__(message)
        self.path = path


class StoreError(AuditError):
    """The file system or object store refused a file; like a wrong path, it is for the store's owner to mend."""

    exit_code = 2


class StoreBusyError(StoreError):
    """The error may be temporary, so a scheduler should retry."""


class EngineError(AuditError):
    """Spark could not be started or ended without the artefact that it was asked for."""
