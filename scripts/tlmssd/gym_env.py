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
from tlmssd.errors import InputError, RunFailed

Found = Mapping[str, Any]
LEAST = 1e-6
"""Share of the base scenario's objective that counts for what is less: of 0 there is no ratio."""


class StudyEnv(gymnasium.Env):
    """Action: one number per axis, MultiDiscrete (the place of its value) where all axes have
    steps, else Box from 0 to 1 (the share of the way). Observation: Box of the study's metrics,
    float64, base units, means over seeds; 0 where there is none, all 0 without results. `info`:
    point, status, reason, metrics.

    `reward` is worked out from the metrics; without one it is the sum over the objectives of the
    natural logarithm of how many times better than the base scenario they are, where less than a
    millionth of the base's counts as that. A point that fails, misses a constraint or lacks an
    objective has `penalty`. Episodes are truncated after `steps` designs. Further arguments are
    those of AskTell. Raises InputError for what is wrong in the study, such as an objective that is
    0 in the base scenario, and RunFailed when that has no results to compare with.
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
            base = self.study.evaluate([{}])[0]
            if base["status"] != "ok":
                raise RunFailed(f"the study's base scenario: {base['reason']}")
            if self._reward == self._better_than_base:
                self._check_base(base)
            self._base = base
        return self._observation(self._base), {"point": {}, **self._base}

    def step(self, action: Any):
        """Runs the design of `action`, unless the store knows it.

        Raises InputError for what is not in `action_space`, and before the first reset().
        """
        if not self.action_space.contains(np.asarray(action, self.action_space.dtype)):
            raise InputError(f"action {action}: is none of {self.action_space}")
        if self._base is None:
            raise InputError("step: call reset() first")
        values = self.values(action)
        found = self.study.evaluate([values])[0]
        good = found["status"] == "ok" and found["violation"] <= 0
        reward = float(self._reward(found)) if good else math.nan
        reward = self.penalty if math.isnan(reward) else max(reward, self.penalty)
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
        known = np.array([found.get(name, 0.0) for name in self._names], np.float64)
        return np.nan_to_num(known, nan=0.0, posinf=np.inf, neginf=-np.inf)

    def _check_base(self, base: Found) -> None:
        """Raises InputError where an objective of the base scenario is nothing to compare with."""
        study = self.study.study
        entries = {metric.name: metric.entry or study.entry for metric in study.metrics}
        for goal in study.objectives:
            value = base[goal.metric]
            if not (math.isfinite(value) and value > 0):
                entries[goal.metric].fail(
                    f"{goal.metric} is {value:g} in {study.base}; the reward compares by ratios "
                    "and needs objectives above 0, or reward= of your own"
                )

    def _better_than_base(self, found: Found) -> float:
        total = 0.0
        for goal in self.study.study.objectives:
            base = self._base[goal.metric]
            value = found[goal.metric]
            if not math.isnan(value):  # which max() may lose
                value = max(value, LEAST * base)
            total += (math.log(value) - math.log(base)) * (1 if goal.maximize else -1)
        return total
