"""The store: what is put there is there, or it is said why not."""

import errno
import os

import pytest

from tlmssd.engine import thread_pool
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
