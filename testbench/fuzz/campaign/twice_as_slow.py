"""A scenario and the same with every time doubled and every rate halved.

Times in the models are whole picoseconds. A transfer of n bytes takes n / rate, rounded; the double is exact
only where nothing is rounded, so rates are first put where a byte, a cycle or a beat takes whole picoseconds.
The link is PCIe 2 in one and PCIe 1 in the other: half the rate with the same coding. The bus is as wide as a byte of it takes whole picoseconds.
"""

import copy

from campaign import quantities

# Rates that are exact: a byte or a cycle takes a whole number of picoseconds (the bus: a beat of two bytes).
_FREQUENCIES = {("ssd.cpu", "clock"): (10**9, 5 * 10**8, 2 * 10**8), ("ssd.bus", "clock"): (10**9, 5 * 10**8),
                ("ssd.flash", "bus"): (10**9, 5 * 10**8, 4 * 10**8, 2 * 10**8)}
_BANDWIDTHS = (2 * 10**9, 10**9, 5 * 10**8)


def pair(tree, draft, random):
    """(scenario, scenario twice as slow); every time and rate stands in both, defaults too."""
    first, second = copy.deepcopy(tree), copy.deepcopy(tree)
    for section in draft.schema.sections.values():
        if section.listed or section.path.startswith(("load", "report", "precondition", "age", "run")):
            continue
        if section.optional and not _node(tree, section.path):
            continue
        _slow_down(first, second, draft, section, random)
    _slow_link(first, second, random)
    width = random.choice((32, 64))
    for tree in (first, second):
        _node(tree, "ssd.bus", make=True)["width"] = width
    return first, second


def _node(tree, path, make=False):
    node = tree
    for step in filter(None, path.split(".")):
        if not make and step not in node:
            return {}
        node = node.setdefault(step, {})
    return node


def _slow_down(first, second, draft, section, random):
    for parameter in section.of(draft.policy(section.path)):
        if parameter.kind not in ("time", "frequency", "bandwidth") or parameter.default is None \
                and parameter.key not in _node(first, section.path):
            continue
        one, two = (_node(tree, section.path, make=True) for tree in (first, second))
        one[parameter.key], two[parameter.key] = _both(parameter, one.get(parameter.key), section.path, random)


def _both(parameter, text, path, random):
    """The value for one and the other."""
    if parameter.kind == "frequency":
        rate = random.choice(_FREQUENCIES.get((path, parameter.key), (10**9,)))
        return quantities.write("frequency", rate), quantities.write("frequency", rate // 2)
    if parameter.kind == "bandwidth":
        rate = random.choice(_BANDWIDTHS)
        return quantities.write("bandwidth", rate), quantities.write("bandwidth", rate // 2)
    texts = text if text is not None else parameter.default
    if parameter.listed:
        values = [_time(t, parameter) for t in texts]
        return [quantities.write("time", v) for v in values], [quantities.write("time", 2 * v) for v in values]
    value = _time(texts, parameter)
    return quantities.write("time", value), quantities.write("time", 2 * value)


def _time(text, parameter):
    value = quantities.parse("time", text)
    return value if parameter.high is None or 2 * value <= parameter.high else int(parameter.high) // 2


def _slow_link(first, second, random):
    one, two = (_node(tree, "ssd.host", make=True) for tree in (first, second))
    lanes = random.choice((1, 2, 4, 8, 16))
    one["link"], two["link"] = f"pcie2x{lanes}", f"pcie1x{lanes}"
