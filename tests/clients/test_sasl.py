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


def first(scram, nonce="server", salt=SALT, iterations="4096", more=""):
    return f"r={scram.nonce.decode()}{nonce},s={salt},i={iterations}{more}".encode()


def refused(scram, message):
    with pytest.raises(ScramError) as caught:
        scram.process_server_first_message(message)
    assert scram.client_proof is None  # nothing was computed that could be sent
    return caught.value.failure, caught.value.words


@pytest.mark.parametrize("iterations", [1, 2, LEAST_ITERATIONS - 1])
def test_few_iterations_end_the_login_before_a_proof(iterations):
    scram = client()
    error, words = refused(scram, first(scram, iterations=str(iterations)))
    assert error is ReadFailure.SCRAM_WEAK
    assert words.startswith(f"its SCRAM parameters are too weak: {iterations} of at least 4096 iterations")


@pytest.mark.parametrize("iterations", [LEAST_ITERATIONS, 16384, MOST_ITERATIONS])
def test_iterations_of_tools_are_taken(iterations):
    scram = client()
    scram.process_server_first_message(first(scram, iterations=str(iterations)))
    assert len(scram.client_proof) == 32


@pytest.mark.parametrize("iterations", [MOST_ITERATIONS + 1, 999_999, 9_999_999_999])
def test_so_many_that_they_cost_seconds_are_not_computed(iterations):
    scram = client()
    assert refused(scram, first(scram, iterations=str(iterations)))[0] is ReadFailure.SCRAM_NOT_VERIFIED


MALFORMED = {
    "empty": lambda _: b"",
    "no nonce": lambda scram: first(scram).partition(b",")[2],
    "another nonce": lambda _: f"r=another,s={SALT},i=4096".encode(),
    "our nonce alone": lambda scram: first(scram, nonce=""),
    "a part of our nonce": lambda scram: first(scram).replace(scram.nonce, scram.nonce[:-1]),
    "a nonce that is not printable": lambda scram: first(scram, nonce="\x7f"),
    "a nonce that is no UTF-8": lambda scram: first(scram).replace(b"server", b"\xff"),
    "no salt": lambda scram: first(scram, salt=""),
    "a salt that is no base64": lambda scram: first(scram, salt="!!!!"),
    "a salt with a wrong end": lambda scram: first(scram, salt="QUJDR"),
    "no iterations": lambda scram: first(scram, iterations=""),
    "iterations of minus one": lambda scram: first(scram, iterations="-1"),
    "zero iterations": lambda scram: first(scram, iterations="0"),
    "iterations with a plus": lambda scram: first(scram, iterations="+4096"),
    "iterations with a blank": lambda scram: first(scram, iterations=" 4096"),
    "iterations with an underscore": lambda scram: first(scram, iterations="4_096"),
    "other digits": lambda scram: first(scram, iterations="٤٠٩٦"),
    "iterations of 5,000 digits": lambda scram: first(scram, iterations="4" * 5000),
    "iterations twice, the weak ones last": lambda scram: first(scram, more=",i=1"),
    "iterations twice, the weak ones first": lambda scram: first(scram, iterations="1,i=4096"),
    "a nonce twice": lambda scram: first(scram, more=",r=x"),
    "an extension that must be known": lambda scram: b"m=x," + first(scram),
    "that extension behind": lambda scram: first(scram, more=",m=x"),
    "an extension twice": lambda scram: first(scram, more=",x=1,x=2"),
    "an extension without a value's sign": lambda scram: first(scram, more=",x"),
    "an extension that is no UTF-8": lambda scram: first(scram, more=",x=") + b"\xff",
    "another order": lambda scram: b",".join(first(scram).split(b",")[::-1]),
    "a comma at the end": lambda scram: first(scram, more=","),
    "too long": lambda scram: first(scram, more=",x=" + "y" * 5000),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_first_message_ends_the_login(message):
    scram = client()
    assert refused(scram, message(scram))[0] is ReadFailure.SCRAM_NOT_VERIFIED


def test_an_extension_that_nobody_has_to_know_is_passed_over():
    scram = client()
    scram.process_server_first_message(first(scram, more=",x=1,y="))
    assert scram.client_proof is not None


@pytest.mark.parametrize("when", ["first", "final"])
def test_a_refusal_by_scram_s_own_means_is_a_refused_login(when):
    scram = client()
    if when == "final":
        scram.process_server_first_message(first(scram))
    with pytest.raises(ScramError) as caught:
        getattr(scram, f"process_server_{when}_message")(b"e=unknown-user\xff")
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
    scram = client()
    scram.process_server_first_message(first(scram))
    right = b"v=" + base64.b64encode(scram.server_signature)
    if message is None:
        message = right + b",v=AAAA" if "and another" in name else b"x=1," + right
    with pytest.raises(ScramError) as caught:
        scram.process_server_final_message(message)
    assert caught.value.failure is ReadFailure.SCRAM_NOT_VERIFIED
    scram.process_server_final_message(right)


def test_a_user_s_name_is_escaped_as_the_rfc_wants():
    scram = BoundedScramClient("a=b,c", "secret", "SCRAM-SHA-512")
    assert scram.first_message() == b"n,,n=a=3Db=2Cc,r=" + scram.nonce
