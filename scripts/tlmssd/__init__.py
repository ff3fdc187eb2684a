"""tlmssd: explores SSD designs, compares runs and finds bottlenecks with the tlmssd emulator.

import tlmssd
result = tlmssd.run("drive.yaml", {"firmware.gc.policy": "fifo"}, seeds=5)
"""

from tlmssd.errors import InputError, RunFailed
from tlmssd.program import Program, find_program
from tlmssd.result import Result, Results
from tlmssd.run import Outcome, RunRequest, run, run_many

__all__ = [
    "InputError",
    "Outcome",
    "Program",
    "Result",
    "Results",
    "RunFailed",
    "RunRequest",
    "find_program",
    "run",
    "run_many",
]
