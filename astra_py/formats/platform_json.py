# SPDX-License-Identifier: GPL-2.0-only
"""The format ``platform``: our own files of platforms, JSON of nodes and links with units.

``{"name": ..., "nodes": [...], "links": [...]}``. A node has ``name`` and ``kind`` (accelerator, host, nic, switch),
and where they are not as by default ``rank``, ``latency`` (``"0s"``), ``forwards`` (none, all, scale_up_to_ethernet),
``machine`` and ``rail``. A link has ``a`` and ``b``, names of nodes, ``rate``, ``delay``, ``class``, and where they are
not 0 ``loss`` and ``efficiency``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import networkx as nx

from astra_py.config import PlatformConfig
from astra_py.errors import ConfigError, TopologyError, did_you_mean
from astra_py.formats.head import Head
from astra_py.formats.lines import read_text
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.platforms import Forwarding, NodeKind, Platform
from astra_py.platforms.routing import routing_of
from astra_py.units import RATE, TIME, Quantity, format_rate, format_time

__all__ = ["PLATFORM_JSON", "read_platform", "write_platform"]

_KINDS = {kind.name.lower(): kind for kind in NodeKind}
_FORWARDS = {forwarding.name.lower(): forwarding for forwarding in Forwarding}
_NODE_KEYS = ("name", "kind", "rank", "latency", "forwards", "machine", "rail")
_LINK_KEYS = ("a", "b", "rate", "delay", "class", "loss", "efficiency")


def _recognises(path: Path, head: Head) -> bool:
    return not head.is_gzip and (head.text or "").lstrip().startswith("{") and {"nodes", "kind"} <= head.json_keys


def _read(path: Path, options: Options) -> Document:
    config = options.platform or PlatformConfig(kind="file", file=str(path))
    text = read_text(path, TopologyError)
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise TopologyError(f"{path}, line {error.lineno}: is no JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        raise TopologyError(f"{path}: is no JSON: {error}") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("nodes"), list) or not isinstance(tree.get("links"), list):
        raise TopologyError(f"{path}: a platform has 'name', and lists of 'nodes' and 'links'")
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    numbers: dict[str, int] = {}
    for index, given in enumerate(tree["nodes"]):
        fields = _Fields(path, f"node {index}", given, _NODE_KEYS)
        name = fields.text("name")
        if numbers.setdefault(name, index) != index:
            raise fields.error(f"name {name!r} is that of node {numbers[name]}, too")
        graph.add_node(index, **fields.node(name))
    for index, given in enumerate(tree["links"]):
        fields = _Fields(path, f"link {index}", given, _LINK_KEYS)
        ends = [fields.choice(end, numbers) for end in ("a", "b")]
        graph.add_edge(*ends, link=index, **fields.link())
    name = tree.get("name", path.stem)
    hosts = sum(node["kind"] == NodeKind.ACCELERATOR for node in graph.nodes.values())
    return Document(
        format=PLATFORM_JSON.name,
        path=path,
        content=lambda: _build(path, str(name), graph, config),
        summary=(f"{path}: {hosts} accelerators among {len(graph)} nodes, {graph.number_of_edges()} links",),
        ranks=hosts,
    )


def _build(path: Path, name: str, graph: nx.MultiGraph[int], config: PlatformConfig) -> Platform:
    try:
        return Platform(name, graph, routing_of(config))
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from None


class _Fields:
    """The fields of a node or a link, and errors that name it."""

    def __init__(self, path: Path, where: str, given: Any, keys: tuple[str, ...]) -> None:
        self._where = f"{path}, {where}"
        if not isinstance(given, dict):
            raise self.error("is no table of keys and values")
        for key in given:
            if key not in keys:
                raise self.error(f"unknown key {key!r}{did_you_mean(key, keys)}; allowed: {', '.join(keys)}")
        self._given = given

    def error(self, what: str) -> TopologyError:
        return TopologyError(f"{self._where}: {what}")

    def text(self, key: str) -> str:
        value = self._given.get(key)
        if not isinstance(value, str) or not value:
            raise self.error(f"{key} is {value!r}; allowed: a text")
        return value

    def choice(self, key: str, choices: dict[str, Any], default: str | None = None) -> Any:
        value = self._given.get(key, default)
        if not isinstance(value, str) or value not in choices:
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            listed = ", ".join(list(choices)[:8]) + (", ..." if len(choices) > 8 else "")
            raise self.error(f"{key} is {value!r}{hint}; allowed: {listed}")
        return choices[value]

    def quantity(self, key: str, quantity: Quantity, default: str | None = None) -> int:
        try:
            # what is no text is refused there
            return quantity.parse(cast(str, self._given.get(key, default)))
        except ConfigError as error:
            raise self.error(f"{key}: {error}") from None

    def whole(self, key: str, default: int) -> int:
        value = self._given.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 2**31:
            raise self.error(f"{key} is {value!r}; allowed: a whole number")
        return value

    def share(self, key: str) -> float:
        value = self._given.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.error(f"{key} is {value!r}; allowed: a number from 0 to 1")
        return float(value)

    def node(self, name: str) -> dict[str, Any]:
        """Attributes of a node of a platform's graph."""
        kind = self.choice("kind", _KINDS)
        forwards = "all" if kind == NodeKind.SWITCH else "none"
        place = {key: self.whole(key, 0) for key in ("machine", "rail") if key in self._given}
        return {
            "name": name,
            "kind": kind,
            "rank": self.whole("rank", -1),
            "latency_ps": self.quantity("latency", TIME, "0s"),
            "forwards": self.choice("forwards", _FORWARDS, forwards),
            **place,
        }

    def link(self) -> dict[str, Any]:
        """Attributes of a link of a platform's graph."""
        return {
            "rate_bps": self.quantity("rate", RATE),
            "delay_ps": self.quantity("delay", TIME),
            "link_class": self.text("class"),
            "loss": self.share("loss"),
            "efficiency": self.share("efficiency"),
        }


def _write(document: Document, path: Path, options: Options) -> tuple[str, ...]:
    platform: Platform = document.content()
    nodes, links = write_platform(platform, path)
    return (f"{path}: {nodes} nodes, {platform.ranks} of them accelerators, and {links} links",)


def write_platform(platform: Platform, path: Path) -> tuple[int, int]:
    """Write a platform, a node or a link a line; gives how many nodes and links it has. Its routing is not in it."""
    graph = platform.graph
    names = [str(data["name"]) for data in graph.nodes.values()]
    links = sorted(graph.edges(data=True), key=lambda edge: edge[2]["link"])
    lines = {
        "nodes": [_node_text(data) for data in graph.nodes.values()],
        "links": [_link_text(names[a], names[b], data) for a, b, data in links],
    }
    lists = ",\n".join(f'"{key}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for key, rows in lines.items())
    path.write_text(f'{{"name": {json.dumps(platform.name)},\n{lists}}}\n', encoding="utf-8")
    return len(names), len(links)


def read_platform(path: Path) -> Platform:
    """The platform that a file of this format has, with the routing of the defaults.

    Raises
    ------
    TopologyError : the file cannot be read, or has no platform.
    """
    platform: Platform = _read(path, Options()).content()
    return platform


def _node_text(data: dict[str, Any]) -> dict[str, Any]:
    kind, forwards = NodeKind(data["kind"]), Forwarding(int(data["forwards"]))
    text: dict[str, Any] = {"name": str(data["name"]), "kind": kind.name.lower()}
    if data["rank"] >= 0:
        text["rank"] = data["rank"]
    if data["latency_ps"]:
        text["latency"] = format_time(data["latency_ps"])
    if forwards != (Forwarding.ALL if kind == NodeKind.SWITCH else Forwarding.NONE):
        text["forwards"] = forwards.name.lower()
    return text | {key: data[key] for key in ("machine", "rail") if key in data}


def _link_text(a: str, b: str, data: dict[str, Any]) -> dict[str, Any]:
    rate, delay = format_rate(data["rate_bps"]), format_time(data["delay_ps"])
    text = {"a": a, "b": b, "rate": rate, "delay": delay, "class": data["link_class"]}
    return text | {key: data[key] for key in ("loss", "efficiency") if data.get(key)}


PLATFORM_JSON = register_format(
    Format(
        name="platform",
        title="platform (JSON)",
        kind=Kind.PLATFORM,
        recognises=_recognises,
        read=_read,
        write=_write,
        writes=frozenset({Kind.PLATFORM}),
        suffixes=(".json",),
    )
)
