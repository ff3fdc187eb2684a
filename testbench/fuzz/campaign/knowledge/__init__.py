"""What is known of each section: how to draw values that make drives valid, small and fast.

One module per matter, in an order in which each finds in `facts` what it needs. What no module knows is
drawn by the ranges of the schema.
"""

from campaign.draft import Draft
from campaign.knowledge import (ahead, cache, capacity, cleaning, controller, errors, geometry, host, host_software, issue,
                                life, loads, mapping, outputs, parity, redirection, slc, streams, targets)

_ORDER = (geometry, host, controller, mapping, cleaning, errors, slc, cache, streams, capacity, parity, issue, ahead, host_software,
          redirection, outputs, life, loads, targets)


def draw(schema, seed):
    """The scenario that belongs to `seed`, any string or number."""
    d = Draft(schema, seed)
    for module in _ORDER:
        module.draw(d)
    d.rest()
    return d
