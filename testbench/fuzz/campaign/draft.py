"""A scenario while it is drawn: the tree, the random stream, the schema, and what was decided on the way."""

import math
import random
from types import SimpleNamespace

from campaign import quantities

_NO_DEFAULT = {"size": 4096, "time": 10**6, "duration": 3600, "share": 0.25, "frequency": 10**8,
               "bandwidth": 10**8, "temperature": 40, "size or share": 2**20, "integer": 4, "number": 1}


class Draft:
    """What the modules of knowledge draw into.

    `tree` is the scenario, `files` the files beside it (name -> bytes), `facts` the numbers that one module
    decides and others need, `drawn` every (section, key) that was set.
    """

    def __init__(self, schema, seed):
        self.schema = schema
        self.random = random.Random(seed)
        self.tree = {}
        self.files = {}
        self.facts = SimpleNamespace()
        self.drawn = set()
        self._visited = set()
        # Some scenarios draw far from the defaults; most stay where drives are valid and fast.
        self.wild = self.random.random() < 0.1

    # ---- chance

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *values):
        return self.random.choice(values)

    def whole(self, low, high):
        return self.random.randint(low, high)

    def log_whole(self, low, high):
        """A whole number between the two, small ones as likely as large ones."""
        return min(high, int(math.exp(self.random.uniform(math.log(low), math.log(high + 1)))))

    # ---- the tree

    def node(self, path):
        """The section at `path` of the tree, made when it is not there."""
        node = self.tree
        for step in filter(None, path.split(".")):
            if step.isdigit():
                while len(node) <= int(step):
                    node.append({})
                node = node[int(step)]
            else:
                below = self.schema.sections.get(self._plain(step, path))
                if isinstance(node.get(step), str):  # a part named by its file alone
                    node[step] = {"file": node[step]}
                node = node.setdefault(step, [] if below is not None and below.listed else {})
        return node

    def _plain(self, step, path):
        steps = [s for s in path.split(".") if not s.isdigit()]
        return ".".join(steps[: steps.index(step) + 1])

    @staticmethod
    def section_of(path):
        return ".".join(s for s in path.split(".") if not s.isdigit())

    def put(self, path, key, value):
        """Sets a parameter; numbers are in base units and written with a unit where the parameter has one."""
        section = self.section_of(path)
        parameter = self.schema.find(section, key, self.policy(path))
        self.node(path)[key] = self._written(parameter, value)
        self.drawn.add((section, key))
        return value

    def get(self, path, key):
        """What is set, in base units, or the default."""
        section = self.section_of(path)
        parameter = self.schema.find(section, key, self.policy(path))
        text = self.node(path).get(key, parameter.default)
        if parameter.kind == "size or share":
            return quantities.parse("share" if str(text).strip()[-1] in "%x" else "size", text)
        return quantities.parse(parameter.kind, text) if quantities.is_quantity(parameter.kind) else text

    def has(self, path, key):
        return key in self.node(path)

    def drop(self, path, key):
        self.node(path).pop(key, None)

    @staticmethod
    def _written(parameter, value):
        if isinstance(value, list):
            return [Draft._written(parameter, v) for v in value]
        if quantities.is_quantity(parameter.kind) and not isinstance(value, str):
            return quantities.write(parameter.kind, value)
        return value

    # ---- drawing

    def policy(self, path):
        """The policy chosen in the section (its default when none is), or None."""
        section = self.schema.sections[self.section_of(path)]
        if section.policy is None:
            node = self.node(path) if section.without else {}
            return next((k for k in section.without if k in node), None)
        return self.node(path).get(section.policy.key, section.policy.default)

    def choose(self, path, *among):
        """Sets the section's policy to any of `among`, or of all there are."""
        policy = self.schema.sections[self.section_of(path)].policy
        return self.put(path, policy.key, self.random.choice(list(among) or policy.choices))

    def section(self, path, share=0.25, leave=(), **hints):
        """Draws each parameter of the section that goes with its policy and is not set, with this chance.

        `hints` gives lists of values, or functions, for parameters where any value of the range would be
        invalid or slow; keys in `leave` are not drawn at all.
        """
        section = self.section_of(path)
        self._visited.add(section)
        here = self.schema.sections[section]
        for parameter in here.of(self.policy(path)):
            if parameter.key in leave or self.has(path, parameter.key) or not self.chance(share):
                continue
            hint = hints.get(parameter.key)
            if hint is None:
                value = self.any_value(parameter)
            else:
                value = hint() if callable(hint) else self.random.choice(hint)
            if value is not None:
                self.put(path, parameter.key, value)

    def finished(self):
        """The tree without sections in which nothing was set."""
        return _without_empty(self.tree)

    def leave_out(self, path):
        """This section stays as it is: by its defaults, or absent."""
        self._visited.add(path)

    def rest(self):
        """Sections that no module of knowledge has looked at: drawn by their ranges alone."""
        for path, section in self.schema.sections.items():
            inside_list = any(path == p or path.startswith(p + ".")
                              for p, s in self.schema.sections.items() if s.listed)
            if path in self._visited or inside_list or (section.optional and not self.chance(0.2)):
                continue
            if section.policy is not None and self.chance(0.4):
                self.choose(path)
            self.section(path, 0.15)

    def any_value(self, parameter):
        """A value of the parameter's range: mostly near its default, sometimes at an end of the range."""
        if parameter.listed:
            return None
        if parameter.kind == "boolean":
            return self.chance(0.5)
        if parameter.kind in ("enum", "policy"):
            return self.random.choice(parameter.choices)
        if parameter.kind == "text":
            return None
        return self._number(parameter)

    def _number(self, parameter):
        default = self._default(parameter)
        low = parameter.low if parameter.low is not None else 0
        high = parameter.high if parameter.high is not None else max(default * 1000, 1000)
        chance = self.random.random()
        if chance < 0.06 or (self.wild and chance < 0.12):
            value = low
        elif self.wild and chance < 0.18:
            value = high
        elif self.wild and chance < 0.3:
            value = math.exp(self.random.uniform(math.log(max(low, 1e-6)), math.log(max(high, 1e-6))))
        elif default == 0:
            value = self._beside_nothing(parameter.kind)
        else:
            value = default * 2 ** self.random.uniform(-3, 2)
        value = min(max(value, low), high)
        exact = parameter.kind in ("share", "number", "temperature")
        if parameter.kind == "size or share":
            return int(value)
        return float(f"{value:.3g}") if exact and low <= float(f"{value:.3g}") <= high else \
            (value if exact else round(value))

    def _default(self, parameter):
        if parameter.default is None:
            return _NO_DEFAULT[parameter.kind]
        if quantities.is_quantity(parameter.kind):
            text = str(parameter.default)
            share = parameter.kind == "size or share" and text.strip()[-1] in "%x"
            kind = "share" if share else "size" if parameter.kind == "size or share" else parameter.kind
            return quantities.parse(kind, text)
        return parameter.default

    def _beside_nothing(self, kind):
        """A modest value where the default is none at all."""
        if kind in ("share", "number"):
            return self.random.random()
        if kind == "temperature":
            return self.random.uniform(0, 80)
        return _NO_DEFAULT[kind] * 2 ** self.random.uniform(-4, 4)


def _without_empty(node):
    if not isinstance(node, dict):
        return [_without_empty(n) if isinstance(n, dict) else n for n in node] if isinstance(node, list) else node
    kept = {k: _without_empty(v) for k, v in node.items()}
    return {k: v for k, v in kept.items() if v != {} and not (v == [] and k in ("precondition",))}
