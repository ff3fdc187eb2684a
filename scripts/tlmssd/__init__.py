"""tlmssd: explores SSD designs, compares runs and finds bottlenecks with the tlmssd emulator.

import tlmssd
result = tlmssd.run("drive.yaml", {"firmware.gc.policy": "fifo"}, seeds=5)
"""

import importlib

_HOMES = {
    "AskTell": "ask_tell",
    "InputError": "errors",
    "Outcome": "runs",
    "Program": "program",
    "Result": "result",
    "Results": "result",
    "RunFailed": "errors",
    "RunRequest": "runs",
    "Study": "study.study",
    "StudyEnv": "gym_env",
    "find_program": "program",
    "parameters": "schema",
    "run": "runs",
    "run_many": "runs",
}
"""What the package offers, and the module it lives in, which is imported when it is asked for."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tlmssd' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"tlmssd.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
