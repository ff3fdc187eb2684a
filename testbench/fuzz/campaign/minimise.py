"""Makes a finding small: delta debugging over the tree of the scenario, over lines of text and of files."""

import copy
import time

_DROP = object()


class _Budget:
    """Trials end with the time that a finding is worth."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return time.monotonic() < self.end


def minimise(still_fails, tree, text, files, seconds=60):
    """The smallest (tree, text, files) found that `still_fails(tree, text, files)` is true of."""
    budget = _Budget(seconds)
    if tree is not None:
        tree = _smaller_tree(lambda t: still_fails(t, text, files), tree, budget)
        files = {name: data for name, data in files.items() if _mentions(tree, name)}
    if text is not None:
        text = _smaller_lines(lambda t: still_fails(tree, t, files), text, budget)
    for name, data in list(files.items()):
        if isinstance(data, dict):
            files = {**files, name: _smaller_tree(lambda t, n=name: still_fails(tree, text, {**files, n: t}), data,
                                                  budget)}
        elif isinstance(data, str):
            files = {**files, name: _smaller_lines(lambda t, n=name: still_fails(tree, text, {**files, n: t}), data,
                                                   budget)}
    return tree, text, files


def _mentions(node, name):
    if isinstance(node, dict):
        return any(_mentions(v, name) for v in node.values())
    if isinstance(node, list):
        return any(_mentions(v, name) for v in node)
    return isinstance(node, str) and name.startswith(node)


def _leaves(node, path=()):
    """Paths of everything that can be left out, sections before what is in them."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _leaves(value, (*path, key))


def _without(tree, paths):
    tree = copy.deepcopy(tree)
    for path in paths:
        node = tree
        try:
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = _DROP
        except (KeyError, IndexError, TypeError):
            continue
    return _swept(tree)


def _swept(node):
    """Without what is marked, and without sections that have nothing left."""
    if isinstance(node, dict):
        kept = {k: _swept(v) for k, v in node.items() if v is not _DROP}
        return {k: v for k, v in kept.items() if v != {} or node[k] == {}}
    if isinstance(node, list):
        return [_swept(v) for v in node if v is not _DROP]
    return node


def _smaller_tree(fails, tree, budget):
    """Leaves out whole sections first, then runs of keys, then single keys, until nothing more can go."""
    changed = True
    while changed and budget.left():
        changed = False
        paths = list(_leaves(tree))
        step = max(len(paths) // 2, 1)
        while step >= 1 and budget.left():
            at = 0
            while at < len(paths) and budget.left():
                smaller = _without(tree, paths[at:at + step])
                if smaller != tree and fails(smaller):
                    tree, changed = smaller, True
                    paths = list(_leaves(tree))
                else:
                    at += step
            step //= 2
    return tree


def _smaller_lines(fails, text, budget):
    lines = text.splitlines(keepends=True)
    step = max(len(lines) // 2, 1)
    while step >= 1 and budget.left():
        at = 0
        while at < len(lines) and budget.left():
            fewer = lines[:at] + lines[at + step:]
            if fails("".join(fewer)):
                lines = fewer
            else:
                at += step
        step //= 2
    return "".join(lines)
