"""The cluster of `tests/conftest.py` for tests that break it: each leaves it as it found it."""

import pytest


@pytest.fixture
def healthy(cluster):
    """The cluster, whole; a test that leaves it broken fails here, at its own end."""
    yield cluster
    cluster.await_settled()
