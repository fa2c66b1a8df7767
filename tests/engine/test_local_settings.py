"""Whoever starts Spark elsewhere reads these settings without importing pyspark."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kafka_audit.spark.local_settings import driver_java_options

PLUGINS = Path(__file__).parents[2] / "plugins"


def test_they_need_no_pyspark():
    code = "import sys, kafka_audit.spark.local_settings; sys.exit('pyspark' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(PLUGINS)}, check=False).returncode == 0


def test_java_is_told_a_file_that_is_there():
    (url,) = (word.partition("=")[2] for word in driver_java_options().split() if "log4j2" in word)
    assert Path(unquote(urlsplit(url).path)).is_file()


def test_a_job_has_no_pandas():
    """It is installed beside Spark, and whatever imports it takes a second."""
    code = (
        "import sys; from kafka_audit.spark import session; session.without_pandas();"
        "import pyarrow, pyspark.sql.pandas.types; pyarrow.array(['a']); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(PLUGINS)}, check=False).returncode == 0
