"""Ctrl-C, and children that end by themselves: neither is lost, nor taken for something else."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from tests.conftest import start_explore
from tlmssd import cli
from tlmssd.interrupts import interrupts_held

INTERRUPT_ITSELF = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"


@pytest.fixture(autouse=True)
def interrupts_are_not_ignored():
    """A shell starts what it runs in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_is_held_comes_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        os.kill(os.getpid(), signal.SIGINT)
        done.append(True)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_interrupt_is_held_whichever_thread_the_system_gives_it_to():
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()  # from before: it does not hold back interrupts
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
    finally:
        waiting.set()
        thread.join()


def test_processes_that_begin_while_interrupts_are_held_see_none():
    with interrupts_held():
        child = subprocess.run(
            [sys.executable, "-c", INTERRUPT_ITSELF], capture_output=True, text=True, check=False
        )
    assert (child.returncode, child.stdout) == (0, "alive\n")


def test_nothing_is_held_in_other_threads():
    found = []
    thread = threading.Thread(target=lambda: found.extend(_handler_while_held()))
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def _handler_while_held():
    with interrupts_held():
        yield signal.getsignal(signal.SIGINT)


def test_ctrl_c_during_imports_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(cli.importlib, "import_module", _after_interrupt(cli.importlib))
    assert cli.main(["explore", "study.yaml"]) == 130
    assert capsys.readouterr().err == "tlmssd: interrupted\n"


def _after_interrupt(importlib):
    load = importlib.import_module

    def import_module(name: str):
        signal.raise_signal(signal.SIGINT)
        return load(name)

    return import_module


def test_a_pipe_to_another_process_that_breaks_is_a_failure(capfd):
    def command(_):
        raise BrokenPipeError(32, "Broken pipe")

    assert cli._carry_out(command, None) == cli.FAILED
    assert capfd.readouterr().err == "tlmssd: Broken pipe\n"


def children_of(process: int, word: str) -> list[psutil.Process]:
    children = psutil.Process(process).children(recursive=True)
    return [child for child in children if word in " ".join(child.cmdline())]


def wait_for_child(process: int, word: str) -> psutil.Process:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in children_of(process, word):
            return child
        time.sleep(0.005)
    raise AssertionError(f"no {word} in time")


@pytest.mark.slow
@pytest.mark.parametrize("to_all", [True, False], ids=["of the terminal", "of the process"])
def test_ctrl_c_while_the_engine_starts_ends_the_study(folder, to_all):
    process = start_explore("study.yaml", "--jobs", 1, "--no-page")
    wait_for_child(process.pid, "spawn_main")
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 130, err
    assert err.startswith("tlmssd: interrupted; 0 runs are done and kept")
    assert not (folder / "out").exists()


@pytest.mark.slow
def test_a_study_whose_scenarios_cannot_be_filled_in_any_more_fails(folder):
    process = start_explore("study.yaml", "--jobs", 1, "--no-page")
    resolver = wait_for_child(process.pid, "resolve")
    wait_for_child(process.pid, "spawn_main")  # the study has been checked
    resolver.kill()
    _, err = process.communicate(timeout=200)
    assert process.returncode == 1, err
    assert "the program has ended while it filled in scenarios" in err
    assert not (folder / "out").exists()
