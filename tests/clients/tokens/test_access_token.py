"""One token for all brokers of an audit: when it is fetched again, and what a failure of that does."""

import threading
import time

import pytest

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tokens import access_token
from kafka_audit.clients.tokens.access_token import AccessToken, TokenCache, TokenProvider
from kafka_audit.model.read_failure import ReadFailure


class Issuer:
    def __init__(self, lifetime_s=100.0):
        self.lifetime_s, self.asked, self.failure = lifetime_s, 0, None

    def __call__(self, _seconds):
        self.asked += 1
        if self.failure:
            raise ReadError(self.failure, "why", "what helps")
        return AccessToken(value=f"token-{self.asked}", lifetime_s=self.lifetime_s)


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 1000.0

    class FakeTime:
        monotonic = staticmethod(lambda: Clock.now)
        time = staticmethod(time.time)

    monkeypatch.setattr(access_token, "time", FakeTime)
    return Clock


def test_a_token_is_fetched_once_and_again_before_it_ends(clock):
    issuer = Issuer()
    cache = TokenCache(issuer)
    provider = TokenProvider(cache, 1.0, {"logicalCluster": "lkc-1"})
    assert cache.token(1.0).value == cache.token(1.0).value == provider.token() == "token-1"
    clock.now += 75
    assert provider.token() == "token-1"  # a connection that just received it does not wait for another
    assert cache.token(1.0).value == "token-2"
    clock.now += 81
    assert provider.token() == "token-3"
    assert provider.extensions() == {"logicalCluster": "lkc-1"}
    assert cache.seen == ("token-1", "token-2", "token-3")


def test_where_no_new_token_is_to_be_had_the_old_one_is_used_to_its_end(clock):
    issuer = Issuer()
    cache = TokenCache(issuer)
    cache.token(1.0)
    issuer.failure = ReadFailure.NO_TOKEN
    clock.now += 90
    assert cache.token(1.0).value == "token-1"
    clock.now += 6
    with pytest.raises(ReadError, match="no token: why"):
        cache.token(1.0)


def test_an_endpoint_that_is_down_is_asked_again_after_a_while_and_one_that_refuses_is_not(clock):
    issuer = Issuer()
    issuer.failure = ReadFailure.NO_TOKEN
    cache = TokenCache(issuer)
    for _ in range(3):
        with pytest.raises(ReadError, match="no token: why"):
            cache.token(1.0)
    assert issuer.asked == 1
    clock.now += access_token.RETRY_S
    issuer.failure = ReadFailure.TOKEN_REFUSED
    for _ in range(3):
        with pytest.raises(ReadError, match="token refused: why"):
            cache.token(1.0)
        clock.now += 3600
    assert issuer.asked == 2, "a client secret that is refused is tried once, so that no account is locked"


def test_many_connections_at_once_fetch_one_token():
    issuer, go = Issuer(), threading.Event()

    def slowly(seconds):
        go.wait()
        return issuer(seconds)

    cache, found = TokenCache(slowly), []
    threads = [threading.Thread(target=lambda: found.append(cache.token(600.0).value)) for _ in range(20)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert (found, issuer.asked) == (["token-1"] * 20, 1)


def test_one_that_waits_for_another_s_fetch_ends_on_time():
    """The other one's fetch does not end before."""
    begun, go = threading.Event(), threading.Event()
    cache = TokenCache(lambda _seconds: begun.set() or (go.wait() and AccessToken(value="late", lifetime_s=1.0)))
    thread = threading.Thread(target=lambda: cache.token(600.0))
    thread.start()
    begun.wait()
    with pytest.raises(ReadError, match=r"no token: no access token within 0\.2 s"):
        cache.token(0.2)
    go.set()
    thread.join()
