"""One Spark session for all of these tests."""

import pytest

from kafka_audit.spark import session


@pytest.fixture(scope="session")
def spark():
    spark = session.start("local[2]")
    spark.conf.set("spark.sql.codegen.wholeStage", value=False)
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.stop()
