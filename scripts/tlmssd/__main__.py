"""python -m tlmssd explore|compare|whatif ..."""

import sys

from tlmssd.cli import main

sys.exit(main())
