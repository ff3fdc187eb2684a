"""python -m tlmssd COMMAND ..."""

import sys

from tlmssd.cli import main

sys.exit(main())
