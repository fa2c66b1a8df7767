"""Numbers of variable length in what brokers answer."""

import pytest
from kafka.protocol.admin import (
    DescribeAclsResponse,
    DescribeClusterResponse,
    DescribeConfigsResponse,
    DescribeLogDirsResponse,
    DescribeQuorumResponse,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse

from counted_work import counted_calls
from fuzz.talk import Talk
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.brokers import scram_users

FLEXIBLE = [
    (ApiVersionsResponse, 3, b"\0\0"),
    (MetadataResponse, 12, bytes(4)),
    (DescribeAclsResponse, 3, bytes(4 + 2)),
    (DescribeClusterResponse, 0, bytes(4 + 2)),
    (DescribeConfigsResponse, 4, bytes(4)),
    (DescribeLogDirsResponse, 4, bytes(4 + 2)),
    (DescribeQuorumResponse, 2, bytes(2)),
    (ListPartitionReassignmentsResponse, 0, bytes(4 + 2)),
]


@pytest.mark.parametrize(("response", "version", "before"), FLEXIBLE)
def test_a_number_without_end_is_refused_at_its_sixth_byte(response, version, before):
    def decode(count):
        with pytest.raises(ValueError, match="a number of more than five bytes"):
            response[version].decode(before + b"\xff" * count)

    decode(6)  # the first decoding of a version makes its decoder
    assert counted_calls(decode, 1 << 20) == counted_calls(decode, 6), "it reads on: the time grows with the square of the answer"


@pytest.mark.parametrize("count", [0, 1, 127, 128, 300, 20_000])
def test_an_honest_number_is_read(count):
    keys = [ApiVersionsResponse.ApiVersion(version=3, api_key=api, min_version=0, max_version=9) for api in range(count)]
    answer = ApiVersionsResponse(version=3, error_code=0, api_keys=keys, throttle_time_ms=0)
    read = ApiVersionsResponse[3].decode(bytes(answer.encode()))
    assert [api.api_key for api in read.api_keys] == list(range(count))


def test_an_answer_with_such_a_number_is_one_failed_read():
    with pytest.raises(ReadError, match="not a Kafka answer"):
        scram_users._describe(Talk(50, 0, b"\0" * 7 + b"\xff" * 300_000), ["kafka"])
