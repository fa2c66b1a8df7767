"""The one error that the test bed raises on its own account."""


class BedError(RuntimeError):
    """The bed cannot do what it was asked; the first line says why and what would help."""
