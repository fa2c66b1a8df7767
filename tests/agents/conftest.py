"""Reports of the cases of incidents, for the answers about them."""

from report.conftest import audited, told

__all__ = ["audited", "told"]
