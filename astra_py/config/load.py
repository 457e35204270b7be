# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario file and overrides to a Scenario, or to an error that says where, what, and what is allowed."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from astra_py.config.explain import explain
from astra_py.config.scenario import Scenario
from astra_py.config.transport import CONGESTION_CONTROLS
from astra_py.config.transport_kinds import transport_kind
from astra_py.errors import ConfigError
from astra_py.plugins import FILE

__all__ = [
    "apply_override",
    "apply_overrides",
    "load_scenario",
    "map_paths",
    "place_files",
    "read_toml",
    "scenario_tree",
]

_NS3_DEFAULTS = "ns3.defaults."
#: Keys that are paths, beside those of workloads.
_PATHS = (
    ("platform", "file"),
    ("transport", "file"),
    ("system", "file"),
    ("platform", "routing_hook"),
    ("pcap", "folder"),
)


def load_scenario(
    source: str | Path | Mapping[str, Any],
    overrides: Sequence[str] = (),
    *,
    for_all_kinds: bool = False,
    put_aside: tuple[str, ...] = (),
) -> Scenario:
    """Read a scenario.

    Parameters
    ----------
    source : path of a TOML file, or the same tree as a mapping.
    overrides : ``"key.path=value"``; each wins over the file and over those before it. A value is read as TOML, and as
        text where it is not TOML, so that ``platform.link_rate=100Gbps`` needs no quotes.
    for_all_kinds : whether overrides may be for another kind of transport than the scenario's, and are put aside then
        as those of its file are: for runs that compare kinds.
    put_aside : keys that were taken out of ``source`` before, as being for another kind of transport.

    Returns
    -------
    Scenario
        with ``workload.file``, ``workload.plan`` and ``platform.routing_hook`` as paths from the current folder:
        relative paths of a file are taken from the file's own folder, those of a mapping or an override from the
        current one.

    Raises
    ------
    ConfigError
        the file cannot be read or is not TOML, an override is not ``key.path=value`` or changes nothing because it is
        for another kind of transport, or any key or value is not allowed: a line for each problem, with its key path,
        its value and what is allowed.
    """
    path = None if isinstance(source, Mapping) else Path(source)
    tree = copy.deepcopy(dict(source)) if isinstance(source, Mapping) else scenario_tree(Path(source))
    control = apply_overrides(tree, overrides, for_all_kinds=for_all_kinds)
    try:
        scenario = Scenario.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_listed(path, explain(error, Scenario))) from None
    scenario._taken_out += (*control, *put_aside)
    if problems := [*_missing_files(scenario), *_missing_flows(scenario)]:
        raise ConfigError(_listed(path, problems))
    if not for_all_kinds and (useless := list(_useless(scenario, overrides))):
        raise ConfigError(_listed(None, useless))
    scenario._source_path = path
    return scenario


def _control_put_aside(own: Mapping[str, Any], tree: dict[str, Any], *, for_all_kinds: bool) -> tuple[str, ...]:
    """Take a congestion control out of ``tree`` where it is for another kind of transport than overrides chose.

    Parameters
    ----------
    own : the tree without overrides: a kind and a control that stand there together have to fit each other.
    tree : with them.
    for_all_kinds : whether the control may be an override, too.
    """
    table, before = tree.get("transport"), own.get("transport", {})
    if not isinstance(table, dict) or not isinstance(before, Mapping):
        return ()
    kind, control = transport_kind(tree, Scenario), table.get("congestion_control")
    is_chosen = kind != transport_kind(own, Scenario) and control == before.get("congestion_control")
    is_of_another = control not in CONGESTION_CONTROLS[kind] and any(
        control in names for names in CONGESTION_CONTROLS.values()
    )
    if not is_of_another or not (is_chosen or for_all_kinds):
        return ()
    del table["congestion_control"]
    return ("transport.congestion_control",)


def _useless(scenario: Scenario, overrides: Sequence[str]) -> Iterator[str]:
    """A line for each override of a key that is put aside."""
    for override in overrides:
        key = override.partition("=")[0].strip()
        for put_aside in scenario.put_aside:
            if put_aside == key or put_aside.startswith(f"{key}."):
                yield (
                    f"{override!r} changes nothing: {put_aside} is for another kind of transport, and transport.kind = "
                    f"{scenario.transport.kind!r}; allowed: keys of that kind, or this one in the scenario's file"
                )


def scenario_tree(path: Path) -> dict[str, Any]:
    """The tables of a scenario file as they stand there, with its relative paths taken from its own folder.

    Raises
    ------
    ConfigError
        the file cannot be read or is not TOML.
    """
    tree = read_toml(path)
    place_files(tree, path.parent)
    return tree


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; raises as :func:`scenario_tree`."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a scenario: TOML is UTF-8 text, and byte {error.start} is not") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error


def _missing_files(scenario: Scenario) -> Iterator[str]:
    """A line for each file of the platform and the workloads that is named and not there."""
    if scenario.platform.file is not None and not Path(scenario.platform.file).is_file():
        yield f"platform.file: {scenario.platform.file!r} is not a file; allowed: the path of a platform file"
    for key, workload in scenario.workloads.items():
        if workload.input_path is not None and not workload.input_paths:
            yield (
                f"{key}.file: {workload.file!r} is not a file; allowed: the path of a workload file, or what the names "
                "of one file a rank begin with"
            )
        if workload.plan is not None and not Path(workload.plan).is_file():
            yield f"{key}.plan: {workload.plan!r} is not a file; allowed: the path of a sharding plan"


def _missing_flows(scenario: Scenario) -> Iterator[str]:
    for name, background in scenario.background.items():
        if background.file is not None and not Path(background.file).is_file():
            yield f"background.{name}.file: {background.file!r} is not a file; allowed: the path of a file of flows"


def place_files(tree: dict[str, Any], folder: Path) -> None:
    """Take relative paths of a scenario file from its own folder."""
    map_paths(tree, lambda path: str(folder / path))


def map_paths(tree: dict[str, Any], place: Callable[[str], str]) -> None:
    """Put ``place(path)`` where a scenario's tables name a path; it may end in ``:NAME``, which is a part of the file.

    Parameters
    ----------
    tree : tables of a scenario, changed in place.
    place : from a path as it stands there, without ``file:``, to another.
    """
    tables = [(tree.get(table), key) for table, key in _PATHS]
    workloads = [tree.get("workload"), *(job.get("workload") for job in _tables_in(tree.get("jobs")))]
    tables += [(workload, key) for workload in workloads for key in ("file", "plan", "comm_groups")]
    tables += [(background, "file") for background in _tables_in(tree.get("background"))]
    for values, key in tables:
        if isinstance(values, dict) and isinstance(values.get(key), str) and values[key].strip() not in ("", "none"):
            values[key] = place(values[key])
    _map_named(tree, place)


def _map_named(table: dict[str, Any], place: Callable[[str], str]) -> None:
    """As :func:`map_paths`, values ``file:PATH`` of all tables."""
    for key, value in table.items():
        if isinstance(value, dict):
            _map_named(value, place)
        elif isinstance(value, str) and value.startswith(FILE) and value != FILE:
            table[key] = f"{FILE}{place(value.removeprefix(FILE))}"


def _tables_in(values: Any) -> list[dict[str, Any]]:
    """The tables that a table holds."""
    return [value for value in values.values() if isinstance(value, dict)] if isinstance(values, dict) else []


def apply_overrides(
    tree: dict[str, Any], overrides: Iterable[str], folder: Path | None = None, *, for_all_kinds: bool = False
) -> tuple[str, ...]:
    """Set some ``key.path=value`` in ``tree``, each over those before it.

    Parameters
    ----------
    tree, folder : as :func:`apply_override` takes them.
    overrides : read as :func:`load_scenario` reads them.
    for_all_kinds : as there.

    Returns
    -------
    tuple[str, ...]
        The key of the congestion control, if that of ``tree`` was taken out of it: it is for another kind of transport
        than the overrides chose.

    Raises
    ------
    ConfigError
        as :func:`apply_override`.
    """
    own = copy.deepcopy(tree)
    for override in overrides:
        apply_override(tree, override, folder)
    return _control_put_aside(own, tree, for_all_kinds=for_all_kinds)


def apply_override(tree: dict[str, Any], override: str, folder: Path | None = None) -> None:
    """Set one ``key.path=value`` in ``tree``.

    Parameters
    ----------
    tree : tables of a scenario, changed in place.
    override : read as :func:`load_scenario` reads it.
    folder : where a relative path that it names is taken from; the current folder where None.

    Raises
    ------
    ConfigError
        it is not ``key.path=value``, or a table of its key is a value in ``tree``.
    """
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals:
        raise ConfigError(f"{override!r} is not an override; allowed: key.path=value, such as platform.ranks=16")
    *tables, name = _key_parts(key, override)
    table = tree
    for depth, part in enumerate(tables, 1):
        below = table.setdefault(part, {})
        if not isinstance(below, dict):
            raise ConfigError(f"{override!r}: {'.'.join(tables[:depth])} = {below!r} is a value, not a table")
        table = below
    table[name] = value = _value(text.strip())
    if folder is not None:
        # alone, so that other paths of the tree are left where they are
        alone: dict[str, Any] = {name: value}
        for part in reversed(tables):
            alone = {part: alone}
        place_files(alone, folder)
        for part in tables:
            alone = alone[part]
        table[name] = alone[name]


def _key_parts(key: str, override: str) -> list[str]:
    # A shell eats the quotes that TOML wants around "::", so they may be left out here.
    if key.startswith(_NS3_DEFAULTS) and '"' not in key:
        return ["ns3", "defaults", key.removeprefix(_NS3_DEFAULTS)]
    try:
        node: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        node = {}
    parts = []
    while isinstance(node, dict) and len(node) == 1:
        ((part, node),) = node.items()
        parts.append(part)
    if node != 0:
        raise ConfigError(f"{override!r}: {key!r} is not a key; allowed: key.path=value, such as platform.ranks=16")
    return parts


def _value(text: str) -> Any:
    try:
        tree = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return tree["value"] if len(tree) == 1 else text


def _listed(path: Path | None, problems: list[str]) -> str:
    where = f"{path}: " if path is not None else ""
    if len(problems) == 1:
        return where + problems[0]
    return f"{where}{len(problems)} problems\n" + "\n".join(f"  {problem}" for problem in problems)
