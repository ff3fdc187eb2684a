"""Campaigns of random inputs against the program: scenarios, mutations, relations, budgets.

`scripts/campaign` is the command; docs/reliability.md says what is checked and what was found.
"""
