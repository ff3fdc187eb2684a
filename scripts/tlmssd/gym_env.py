"""A study as a Gymnasium environment, for reinforcement learning and everything that speaks it.

env = tlmssd.StudyEnv("study.yaml", jobs=2)
observation, info = env.reset()
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

An action is a design, an observation what it came to; as in ArchGym, each step is a new design.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np

from tlmssd.ask_tell import AskTell
from tlmssd.errors import RunFailed

Found = Mapping[str, Any]


class StudyEnv(gymnasium.Env):
    """Action: one number per axis, MultiDiscrete (the place of its value) where all axes have
    steps, else Box from 0 to 1 (the share of the way). Observation: Box of the study's metrics,
    float64, base units, means over seeds; all 0 without results. `info`: point, status, reason,
    metrics.

    `reward` is worked out from the metrics; without one it is the sum over the objectives of the
    natural logarithm of how many times better than the base scenario they are. A point that fails
    or misses a constraint has `penalty`. Episodes are truncated after `steps` designs. Further
    arguments are those of AskTell. Raises InputError for what is wrong in the study, and RunFailed
    when the base scenario itself has no results to compare with.
    """

    def __init__(
        self,
        study: str,
        *,
        steps: int = 10,
        penalty: float = -10.0,
        reward: Callable[[Found], float] | None = None,
        **arguments: Any,
    ):
        self.study = AskTell(study, **arguments)
        self.steps, self.penalty = steps, penalty
        self._names = [metric.name for metric in self.study.study.metrics]
        self._discrete = all(axis.span is None for axis in self.study.axes)
        if self._discrete:
            counts = [len(axis.choices) for axis in self.study.axes]
            self.action_space = gymnasium.spaces.MultiDiscrete(counts)
        else:
            self.action_space = gymnasium.spaces.Box(0.0, 1.0, (len(self.study.axes),), np.float64)
        size = (len(self._names),)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, size, np.float64)
        self._reward = reward or self._better_than_base
        self._base: Found | None = None
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begins an episode, at the base scenario; runs are the study's seeds', not `seed`'s."""
        super().reset(seed=seed)
        self._taken = 0
        if self._base is None:
            self._base = self.study.evaluate([{}])[0]
            if self._base["status"] != "ok":
                raise RunFailed(f"the study's base scenario: {self._base['reason']}")
        return self._observation(self._base), {"point": {}, **self._base}

    def step(self, action: Any):
        """Runs the design of `action`, unless the store knows it."""
        values = self.values(action)
        found = self.study.evaluate([values])[0]
        good = found["status"] == "ok" and found["violation"] <= 0
        reward = max(float(self._reward(found)), self.penalty) if good else self.penalty
        self._taken += 1
        info = {"point": values, **found}
        return self._observation(found), reward, False, self._taken >= self.steps, info

    def values(self, action: Any) -> dict[str, float | str]:
        """The design of an action: the value of each axis."""
        chosen = {}
        for axis, number in zip(self.study.axes, np.asarray(action).tolist(), strict=True):
            choice = axis.choices[number] if self._discrete else axis.choose(number)
            chosen[axis.name] = axis.value(choice)
        return chosen

    def close(self) -> None:
        self.study.close()

    def _observation(self, found: Found) -> np.ndarray:
        return np.array([found.get(name, 0.0) for name in self._names], np.float64)

    def _better_than_base(self, found: Found) -> float:
        total = 0.0
        for goal in self.study.study.objectives:
            ratio = found[goal.metric] / self._base[goal.metric]
            total += math.log(ratio) * (1 if goal.maximize else -1)
        return total
