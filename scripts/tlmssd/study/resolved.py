"""A study with everything spelt out, as YAML that can be run again."""

import yaml

from tlmssd.study.axes import Axis
from tlmssd.study.study import Study


def resolved_study(study: Study) -> str:
    """The text of the resolved study: all defaults and all values of ranges."""
    content: dict = {"title": study.title, "base": str(study.base.resolve())}
    if study.settings:
        content["set"] = {path: yaml.safe_load(value) for path, value in study.settings}
    content["axes"] = {axis.name: _axis(axis) for axis in study.axes}
    if study.search:
        search = study.search
        content["search"] = {"engine": "optuna", **vars(search)}
    elif study.design.kind == "grid":
        content["design"] = "grid"
    else:
        content["design"] = {study.design.kind: study.design.points, "seed": study.design.seed}
    if study.seeds:
        content["seeds"] = list(study.seeds)
    content["metrics"] = {metric.name: metric.expression.text for metric in study.metrics}
    if study.constraints:
        content["constraints"] = [metric.expression.text for metric in study.constraints]
    if study.objectives:
        content["objectives"] = {
            objective.metric: "maximize" if objective.maximize else "minimize"
            for objective in study.objectives
        }
    limits = {}
    if study.limits.seconds:
        limits["time"] = f"{study.limits.seconds:g} s"
    if study.limits.memory:
        limits["memory"] = f"{study.limits.memory} B"
    if limits:
        content["limits"] = limits
    return yaml.safe_dump(content, sort_keys=False, width=100, allow_unicode=True)


def _axis(axis: Axis) -> object:
    if axis.span:
        span = axis.span
        ends = {"from": axis.ends()[0].label, "to": axis.ends()[1].label}
        return {**ends, "scale": "log" if span.logarithmic else "linear"}
    if all(
        len(choice.settings) == 1 and choice.settings[0][0] == axis.name for choice in axis.choices
    ):
        return [yaml.safe_load(choice.settings[0][1]) for choice in axis.choices]
    return {
        choice.label: {path: yaml.safe_load(value) for path, value in choice.settings}
        for choice in axis.choices
    }
