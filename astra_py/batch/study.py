# SPDX-License-Identifier: GPL-2.0-only
"""A study: a scenario, what is varied in it, and the points that follow, all checked before anything runs."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.api import Run
from astra_py.batch.designs import Design, multiply, require_different_keys
from astra_py.batch.point import Point
from astra_py.collectives.registry import is_of_script as is_algorithm_of_script
from astra_py.config import load_scenario
from astra_py.config.load import apply_overrides, place_files, scenario_tree
from astra_py.errors import AstraPyError, ConfigError
from astra_py.plugins import is_of_script

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["Study"]


@dataclass(frozen=True)
class Study:
    """A scenario and what is varied in it. It can be pickled, and a worker needs nothing else but the input files.

    Attributes
    ----------
    title : what is swept, in a few words.
    tree : the scenario's tables as its file has them, base overrides in them, paths absolute: what runs is what was
        read, though the file may be edited while points run.
    designs : what is varied; every combination of their rows is a point.
    folder : where relative paths in values of the designs are taken from.
    overrides : base overrides that are in ``tree``.
    put_aside : keys that were taken out of ``tree``, as being for another kind of transport than base overrides chose.
    """

    title: str
    tree: Mapping[str, Any]
    designs: tuple[Design, ...]
    folder: Path
    overrides: tuple[str, ...] = ()
    put_aside: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        scenario: str | Path | Mapping[str, Any],
        designs: Iterable[Design] = (),
        *,
        overrides: Iterable[str] = (),
        folder: Path | None = None,
    ) -> Study:
        """Read a scenario and vary it.

        Parameters
        ----------
        scenario : path of a scenario file, or its tables.
        designs : what is varied.
        overrides : ``"key.path=value"`` for all points.
        folder : where relative paths in tables, overrides and values are taken from; the current folder where None. A
            scenario file's own are from the file's folder.

        Raises
        ------
        ConfigError : the file cannot be read, an override is none, its key is one that is varied, or a key is
            varied twice.
        """
        folder = Path.cwd() if folder is None else folder.resolve()
        if isinstance(scenario, Mapping):
            title, tree = "a scenario", copy.deepcopy(dict(scenario))
            place_files(tree, folder)
        else:
            title, tree = str(scenario), scenario_tree(Path(scenario).resolve())
        return cls(title, tree, (), folder).varied(designs, overrides, folder)

    def varied(self, designs: Iterable[Design], overrides: Iterable[str] = (), folder: Path | None = None) -> Study:
        """The same study with more designs, and with overrides for all points.

        Parameters
        ----------
        designs, overrides, folder : as :meth:`of` takes them; ``folder`` is for the overrides alone.

        Raises
        ------
        ConfigError : as :meth:`of`.
        """
        tree, made = copy.deepcopy(dict(self.tree)), (*self.designs, *designs)
        require_different_keys(made)
        varied = {key for design in made for key in design.keys}
        overrides = tuple(overrides)
        for override in overrides:
            if (key := _key(override)) in varied:
                raise ConfigError(f"{override!r}: the sweep varies {key}; allowed: keys that it does not vary")
        put_aside = apply_overrides(tree, overrides, Path.cwd() if folder is None else folder)
        return replace(
            self,
            tree=tree,
            designs=made,
            overrides=(*self.overrides, *overrides),
            put_aside=(*self.put_aside, *put_aside),
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are varied, in order."""
        return tuple(key for design in self.designs for key in design.keys)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All points, each of them checked.

        Raises
        ------
        ConfigError : scenarios of points are not allowed: a line for each problem, with its key and its points.
        """
        points, problems = [], dict[str, list[str]]()
        built: set[str] = set()
        useless = dict.fromkeys([*map(_key, self.overrides), *self.keys], "")
        for index, values in enumerate(multiply(self.designs)):
            try:
                scenario = self.scenario(Point(index, values, ""))
                _require_possible(scenario, built)
                useless = dict(_still_useless(scenario, useless))
                points.append(Point(index, values, scenario.digest))
            except AstraPyError as error:
                problems.setdefault(str(error), []).append(Point(index, values, "").title)
        if problems:
            raise ConfigError("\n".join(_listed(self.title, problems)))
        for key, put_aside in useless.items():
            raise ConfigError(
                f"{self.title}: {key} changes nothing in any point: {put_aside} is for another kind of transport; "
                "allowed: keys that mean something with transport.kind of at least one point"
            )
        return tuple(points)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all points: their values and digests, in order; raises as :attr:`points`."""
        text = json.dumps([[list(point.values.items()), point.digest] for point in self.points])
        return hashlib.sha256(text.encode()).hexdigest()

    def scenario(self, point: Point) -> Scenario:
        """The scenario of one point.

        Raises
        ------
        ConfigError : it is not allowed.
        """
        tree = copy.deepcopy(dict(self.tree))
        control = apply_overrides(tree, [f"{key}={text}" for key, text in point.values.items()], self.folder)
        return load_scenario(tree, put_aside=(*control, *self.put_aside))


def _require_possible(scenario: Scenario, built: set[str]) -> None:
    """Refuse a scenario with nothing to do, what a point's process does not know, or a platform that cannot be built.

    Parameters
    ----------
    scenario : of a point.
    built : platforms that are known to be possible; this one is added.
    """
    scenario.require_work()
    if scenario.pcap.ports:
        raise ConfigError(
            "pcap.ports: captures of different points would have the same names, and points may run on other machines; "
            "allowed: with astra-py run"
        )
    run = Run(scenario)
    _require_known(scenario, run.algorithms)
    if (platform := scenario.platform.model_dump_json()) not in built:
        _ = run.platform
        built.add(platform)


def _require_known(scenario: Scenario, algorithms: Mapping[str, str]) -> None:
    """Refuse names that a script registered: another process does not know them, and no digest tells their versions.

    Raises
    ------
    ConfigError : there is such a name.
    """
    names = [("platform.kind", scenario.platform.kind, is_of_script("astra_py.topologies", scenario.platform.kind))]
    for key, workload in scenario.workloads.items():
        names.append((f"{key}.kind", workload.kind, is_of_script("astra_py.workloads", workload.kind)))
        names.append((f"{key}.format", workload.format, is_of_script("astra_py.formats", workload.format)))
    names += [(f"collective.{kind}", name, is_algorithm_of_script(kind, name)) for kind, name in algorithms.items()]
    for key, name, is_unknown in names:
        if is_unknown:
            raise ConfigError(
                f"{key} = {name!r} was registered by a script, and a point runs in a process of its own, which does "
                f"not know it; allowed: from a file ('file:PATH.py:{name}') or an installed plug-in"
            )


def _key(override: str) -> str:
    return override.partition("=")[0].strip()


def _still_useless(scenario: Scenario, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Those of ``keys`` that ``scenario`` puts aside, and what it puts aside of each."""
    for key in keys:
        for put_aside in scenario.put_aside:
            if put_aside == key or put_aside.startswith(f"{key}."):
                yield key, put_aside
                break


def _listed(title: str, problems: Mapping[str, Sequence[str]]) -> Iterator[str]:
    count = sum(map(len, problems.values()))
    yield f"{title}: {count} {'point is' if count == 1 else 'points are'} not allowed, and nothing was run"
    for problem, points in problems.items():
        more = f" and {len(points) - 1} more" if len(points) > 1 else ""
        yield f"  {points[0]}{more}: {problem}"
