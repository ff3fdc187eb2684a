"""One scenario with several seeds, and the figures that come of it."""

from samples import Sample
from tlmssd.errors import RunFailed


class Seeds:
    """A future of a Report for each seed; `certain`: nothing in the runs depends on chance."""

    def __init__(self, futures, certain):
        self.futures = futures
        self.certain = certain

    def of(self, figure):
        """A Sample of `figure` (a function of a Report). What is said to be certain must come out the same with every seed."""
        values = tuple(float(figure(future.result())) for future in self.futures)
        if not self.certain:
            return Sample(values)
        if len(set(values)) > 1:
            raise RunFailed(f"said to be free of chance, but seeds differ: {values}")
        return Sample(values[:1], True)

    def result(self):
        """The Report of the first seed, for what is shown of one run."""
        return self.futures[0].result()
