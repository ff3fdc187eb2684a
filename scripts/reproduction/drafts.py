"""Scenarios of the project with a preparation and loads of a page's own."""

import tempfile
from pathlib import Path

import runs


class Drafts:
    """Runs of drives under loads of their own; each method returns the Seeds of a run."""

    def __init__(self, runner):
        self.runner = runner
        self.short = runner.short
        self.folder = tempfile.TemporaryDirectory()
        self.drafts = {}

    def start(self, scenario, load, changes=None, precondition=None, log=False, certain=False, shared=False, seeds=None):
        """`load`: what stands after `load:` in braces, or a list of such, or a function of the seed that makes either; `precondition`: the same in
        brackets, instead of the scenario's; `certain`: nothing depends on chance; `shared`: the drive is prepared without chance, so that the seeds are
        those of the loads and all loads begin with one snapshot of it; `seeds`: so many, instead of the runner's."""
        settings = dict(changes or {})
        if log:
            settings["report.command_log"] = "csv"
        count = min(seeds or self.runner.seeds, 2 if certain else self.runner.seeds)
        futures = []
        for seed in range(1, count + 1):
            loads = load(seed) if callable(load) else load
            loads = [loads] if isinstance(loads, str) else loads
            drawn = {"seed": "1" if shared else str(seed)}
            if shared:
                drawn |= {f"load.{n}.randseed": str(seed) for n, one in enumerate(loads) if not one.startswith("trace:")}
            futures.append(self.runner.start(self.draft(scenario, loads, precondition), settings | drawn, shared))
        return runs.Seeds(futures, certain)

    def draft(self, scenario, loads, precondition):
        """File of the scenario with these loads and preconditioning."""
        text = (runs.ROOT / scenario).read_text(encoding="utf-8")
        body, _, steps = text.partition("\nprecondition:")
        steps = steps.partition("\nload:")[0] if precondition is None else f" [{precondition}]"
        draft = f"{body}\nprecondition:{steps}\nload: [{', '.join(f'{{{one}}}' for one in loads)}]\n"
        if draft not in self.drafts:
            path = Path(self.folder.name) / f"{len(self.drafts)}.yaml"
            path.write_text(draft, encoding="utf-8")
            self.drafts[draft] = path
        return self.drafts[draft]

    def trace(self, name, requests, queue_depth=1):
        """A file of `requests`, each (operation, offset, bytes), and the words of a load that replays it."""
        path = Path(self.folder.name) / f"{name}.csv"
        if not path.exists():
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{n},host,0,{kind},{offset},{size},0\n" for n, (kind, offset, size) in enumerate(requests))
        return f"trace: {path}, format: msr, queue_depth: {queue_depth}"
