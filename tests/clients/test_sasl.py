"""The client's side of SCRAM against messages that no honest server sends."""

import base64

import pytest

from kafka_audit.clients.sasl import LEAST_ITERATIONS, MOST_ITERATIONS, BoundedScramClient, ScramError
from kafka_audit.model.read_failure import ReadFailure

SALT = base64.b64encode(b"sixteen bytes ..").decode()


def client(user="auditor"):
    made = BoundedScramClient(user, "secret", "SCRAM-SHA-256")
    made.first_message()
    return made


def first(one, nonce="server", salt=SALT, iterations="4096", more=""):
    return f"r={one.nonce.decode()}{nonce},s={salt},i={iterations}{more}".encode()


def refused(one, message):
    with pytest.raises(ScramError) as caught:
        one.process_server_first_message(message)
    assert one.client_proof is None  # nothing was computed that could be sent
    return caught.value.failure, caught.value.words


@pytest.mark.parametrize("iterations", [1, 2, LEAST_ITERATIONS - 1])
def test_few_iterations_end_the_login_before_a_proof(iterations):
    one = client()
    error, words = refused(one, first(one, iterations=str(iterations)))
    assert error is ReadFailure.SCRAM_WEAK
    assert words.startswith(f"its SCRAM parameters are too weak: {iterations} of at least 4096 iterations")


@pytest.mark.parametrize("iterations", [LEAST_ITERATIONS, 16384, MOST_ITERATIONS])
def test_iterations_of_tools_are_taken(iterations):
    one = client()
    one.process_server_first_message(first(one, iterations=str(iterations)))
    assert len(one.client_proof) == 32


@pytest.mark.parametrize("iterations", [MOST_ITERATIONS + 1, 999_999, 9_999_999_999])
def test_so_many_that_they_cost_seconds_are_not_computed(iterations):
    one = client()
    assert refused(one, first(one, iterations=str(iterations)))[0] is ReadFailure.SCRAM_NOT_VERIFIED


MALFORMED = {
    "empty": lambda _: b"",
    "no nonce": lambda one: first(one).partition(b",")[2],
    "another nonce": lambda _: f"r=another,s={SALT},i=4096".encode(),
    "our nonce alone": lambda one: first(one, nonce=""),
    "a part of our nonce": lambda one: first(one).replace(one.nonce, one.nonce[:-1]),
    "a nonce that is not printable": lambda one: first(one, nonce="\x7f"),
    "a nonce that is no UTF-8": lambda one: first(one).replace(b"server", b"\xff"),
    "no salt": lambda one: first(one, salt=""),
    "a salt that is no base64": lambda one: first(one, salt="!!!!"),
    "a salt with a wrong end": lambda one: first(one, salt="QUJDR"),
    "no iterations": lambda one: first(one, iterations=""),
    "iterations of minus one": lambda one: first(one, iterations="-1"),
    "zero iterations": lambda one: first(one, iterations="0"),
    "iterations with a plus": lambda one: first(one, iterations="+4096"),
    "iterations with a blank": lambda one: first(one, iterations=" 4096"),
    "iterations with an underscore": lambda one: first(one, iterations="4_096"),
    "other digits": lambda one: first(one, iterations="٤٠٩٦"),
    "iterations of 5,000 digits": lambda one: first(one, iterations="4" * 5000),
    "iterations twice, the weak ones last": lambda one: first(one, more=",i=1"),
    "iterations twice, the weak ones first": lambda one: first(one, iterations="1,i=4096"),
    "a nonce twice": lambda one: first(one, more=",r=x"),
    "an extension that must be known": lambda one: b"m=x," + first(one),
    "that extension behind": lambda one: first(one, more=",m=x"),
    "an extension twice": lambda one: first(one, more=",x=1,x=2"),
    "an extension without a value's sign": lambda one: first(one, more=",x"),
    "an extension that is no UTF-8": lambda one: first(one, more=",x=") + b"\xff",
    "another order": lambda one: b",".join(first(one).split(b",")[::-1]),
    "a comma at the end": lambda one: first(one, more=","),
    "too long": lambda one: first(one, more=",x=" + "y" * 5000),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_first_message_ends_the_login(message):
    one = client()
    assert refused(one, message(one))[0] is ReadFailure.SCRAM_NOT_VERIFIED


def test_an_extension_that_nobody_has_to_know_is_passed_over():
    one = client()
    one.process_server_first_message(first(one, more=",x=1,y="))
    assert one.client_proof is not None


@pytest.mark.parametrize("when", ["first", "final"])
def test_a_refusal_by_scram_s_own_means_is_a_refused_login(when):
    one = client()
    if when == "final":
        one.process_server_first_message(first(one))
    with pytest.raises(ScramError) as caught:
        getattr(one, f"process_server_{when}_message")(b"e=unknown-user\xff")
    assert (caught.value.failure, caught.value.words) == (None, "unknown-user\ufffd")


FINAL = {
    "nothing": b"",
    "no signature": b"v=",
    "a signature of nothing": b"v=====",
    "a wrong one": b"v=" + base64.b64encode(b"x" * 32),
    "one of another length": b"v=AAAA",
    "no base64": b"v=!",
    "something else": b"x=1",
    "the right one and another": None,
    "the right one behind something else": None,
}


@pytest.mark.parametrize(("name", "message"), FINAL.items(), ids=FINAL)
def test_a_server_that_does_not_prove_itself_is_not_let_pass(name, message):
    one = client()
    one.process_server_first_message(first(one))
    right = b"v=" + base64.b64encode(one.server_signature)
    if message is None:
        message = right + b",v=AAAA" if "and another" in name else b"x=1," + right
    with pytest.raises(ScramError) as caught:
        one.process_server_final_message(message)
    assert caught.value.failure is ReadFailure.SCRAM_NOT_VERIFIED
    one.process_server_final_message(right)


def test_a_user_s_name_is_escaped_as_the_rfc_wants():
    one = BoundedScramClient("a=b,c", "secret", "SCRAM-SHA-512")
    assert one.first_message() == b"n,,n=a=3Db=2Cc,r=" + one.nonce
