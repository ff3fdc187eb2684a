"""Faults planted in a copy of the sources, to see that the checks find them.

`scripts/plant_faults` is the command; docs/reliability.md says which check finds what.
"""
