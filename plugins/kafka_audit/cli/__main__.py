"""`python -m kafka_audit.cli`: the console script where none is installed."""

import sys

from kafka_audit.cli import main

sys.exit(main())
