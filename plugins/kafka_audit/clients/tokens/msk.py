"""Access tokens of Amazon MSK (IAM): a request that Amazon's own library signs with the AWS credentials of this process."""

import time
from functools import partial

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.tokens.access_token import AccessToken
from kafka_audit.clients.tokens.cloud_libraries import demand_library, within
from kafka_audit.model.read_failure import ReadFailure


def fetch_msk_token(region: str, seconds: float) -> AccessToken:
    """Sign a token for the clusters of a region; raises ReadError.

    The library finds the credentials where every AWS client finds them: the environment, a profile, the role of the machine.
    """
    demand_library("aws_msk_iam_sasl_signer", "aws-msk-iam-sasl-signer-python", "msk_region", "msk")
    return within(seconds, partial(_signed, region), "AWS credentials")


def _signed(region: str) -> AccessToken:
    import botocore.exceptions  # noqa: PLC0415 -- optional, and takes half a second
    import botocore.session  # noqa: PLC0415 -- see above
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415 -- see above

    needs = "AWS credentials of this worker: environment variables, AWS_PROFILE, or the role of the machine"
    try:
        # The library itself fails without credentials with an error that does not say so.
        if botocore.session.Session().get_credentials() is None:
            raise ReadError(ReadFailure.NO_TOKEN, "this worker has no AWS credentials", needs)
        token, ends_ms = MSKAuthTokenProvider.generate_auth_token(region)
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, ValueError) as error:
        raise ReadError(ReadFailure.NO_TOKEN, clean_line(masked(f"no AWS credentials ({error})"), 200), needs) from None
    return AccessToken(value=token, lifetime_s=ends_ms / 1000 - time.time(), about=f"AWS region {region}")
