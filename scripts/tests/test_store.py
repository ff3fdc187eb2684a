"""The store: what is put there is there, or it is said why not."""

import errno
import os
import socket
import subprocess
import time

import pytest

from tlmssd.engine import thread_pool
from tlmssd.execute import Job, Workshop
from tlmssd.runs import Runner, RunRequest
from tlmssd.store import Store


def results(folder, text):
    folder.mkdir()
    (folder / "report.json").write_text(text)
    return folder


def test_the_first_of_two_results_stays(tmp_path):
    """Two machines may carry out one run, where locks do not reach."""
    store = Store.create(tmp_path / "store")
    place = store.put("abcd", results(tmp_path / "first", "first"))
    assert store.put("abcd", results(tmp_path / "second", "second")) == place
    assert (place / "report.json").read_text() == "first"


def put_snapshots(store, *ages, size=100):
    """Snapshots a, b, ... of drives, used so many seconds ago."""
    for name, age in zip("abcdef", ages, strict=False):
        drive = store.snapshot(name)
        drive.parent.mkdir()
        drive.write_bytes(bytes(size))
        os.utime(drive, (time.time() - age,) * 2)


@pytest.mark.parametrize(
    ("space", "keep", "left"),
    [
        ("400 B", "", "abcd"),
        ("399 B", "", "abd"),  # c was used longest ago
        ("250 B", "", "bd"),
        ("250 B", "c", "cd"),
        ("150 B", "ab", "ab"),
        ("1 B", "abc", "abc"),
    ],
)
def test_the_snapshots_used_longest_ago_make_room(tmp_path, monkeypatch, space, keep, left):
    store = Store.create(tmp_path / "store")
    put_snapshots(store, 30, 20, 40, 10)
    monkeypatch.setenv("TLMSSD_SNAPSHOT_SPACE", space)
    store.trim_snapshots(set(keep))
    assert sorted(path.name for path in (tmp_path / "store/snapshots").iterdir()) == list(left)


def test_a_snapshot_that_is_asked_for_is_used(tmp_path):
    store = Store.create(tmp_path / "store")
    put_snapshots(store, 1000)
    done = Workshop("/nonexistent", "", str(store.folder)).prepare(Job("key", "a", b""))
    assert (done.status, done.known) == ("ok", True)
    assert time.time() - store.snapshot("a").stat().st_mtime < 100


def test_only_what_processes_of_this_machine_have_left_is_removed(tmp_path):
    store = Store.create(tmp_path / "store")
    with subprocess.Popen(["true"]) as ended:
        pass
    here = socket.gethostname()
    names = [f"{here}-{os.getpid()}-a", f"{here}-{ended.pid}-b", f"elsewhere-{ended.pid}-c", "d"]
    for name in names:
        (store.folder / "scratch" / name).mkdir()
    Store.create(tmp_path / "store")
    left = {path.name for path in (store.folder / "scratch").iterdir()}
    assert left == {names[0], names[2], names[3]}


def test_what_a_process_leaves_that_dies_while_it_notes_a_failure_is_removed(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "store")
    names = []

    def look(source, target):
        names.extend(path.name for path in (store.folder / "scratch").iterdir())
        os.replace(source, target)

    monkeypatch.setattr(os, "rename", look)
    store.put_failure("abcd", "failed", "why")
    assert store.failure("abcd") == ("failed", "why")
    (name,) = names
    assert name.startswith(f"{socket.gethostname()}-{os.getpid()}-")
    assert not list((store.folder / "scratch").iterdir())


def refuse_runs(monkeypatch, number):
    """Nothing can be moved to where runs are kept."""
    rename = os.rename

    def refused(source, target):
        if "runs" in str(target):
            raise OSError(number, os.strerror(number))
        rename(source, target)

    monkeypatch.setattr(os, "rename", refused)


@pytest.mark.parametrize(
    ("number", "status"), [(errno.EACCES, "lost"), (errno.ENOSPC, "disk"), (errno.EDQUOT, "disk")]
)
def test_results_that_cannot_be_put_there_are_not_said_to_be(folder, monkeypatch, number, status):
    refuse_runs(monkeypatch, number)
    store = Store.create()
    with pytest.raises(OSError, match=os.strerror(number)):
        store.put("abcd", results(folder / "first", "first"))
    with Runner() as runner, thread_pool(1) as pool:
        (outcome,) = runner.run([RunRequest(folder / "small.yaml")], pool)
    assert outcome.status == status
    assert outcome.reason == f"the worker could not read or write: {os.strerror(number)}"
    assert outcome.folder is None
