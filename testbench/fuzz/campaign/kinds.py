"""All campaigns by name.

A kind is a module with NAME, COUNT (cases in a short run) and run(setup, number) -> Result; with
trial(setup, number, tree, text, files) -> findings its findings can be made small, and all_of_them(setup) says
how many cases there are when they are a list.
"""

from campaign import (budgets, concurrent, damaged, disks, failing_calls, mutations, proposals, relations, scenarios,
                      signals)

ALL = {kind.NAME: kind for kind in (scenarios, mutations, proposals, relations, budgets, damaged, signals, disks, concurrent,
                                     failing_calls)}
