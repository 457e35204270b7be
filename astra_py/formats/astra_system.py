# SPDX-License-Identifier: GPL-2.0-only
"""The formats ``astra_system`` and ``astra_logical_dims``: ASTRA-sim's system settings and logical dimensions (JSON).

Of the system's settings act: the algorithms by kind of collective, an entry a dimension of the network;
``preferred-dataset-splits``, the chunks of a collective; ``endpoint-delay`` in ns; ``local-mem-bw`` in GB/s of 10^9 B.
Along several dimensions, an all-reduce with ``collective-optimization`` = ``localBWAware`` scatters along the first
dimensions, reduces along the last and gathers back: our ``hierarchical``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from astra_py.config.platform import MOST_RANKS
from astra_py.errors import did_you_mean
from astra_py.formats.head import Head
from astra_py.formats.json_keys import JsonKeys
from astra_py.formats.lines import WHOLE
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.units import INT64_MAX, format_rate, format_time

__all__ = ["ASTRA_LOGICAL_DIMS", "ASTRA_SYSTEM"]

#: Our names of their algorithms by kind of collective.
_ALGORITHMS = {
    "all-reduce": {
        **{"ring": "ring", "direct": "direct", "halvingDoubling": "halving_doubling"},
        "doubleBinaryTree": "double_binary_tree",
    },
    "all-gather": {"ring": "ring", "direct": "direct", "halvingDoubling": "doubling"},
    "reduce-scatter": {"ring": "ring", "direct": "direct", "halvingDoubling": "halving"},
    "all-to-all": {"ring": "ring", "direct": "direct"},
}
_LEVELS = ("ring", "direct", "halving_doubling")
_IMPLEMENTATION = "-implementation"
_KNOWN = (
    *(f"{kind}{_IMPLEMENTATION}" for kind in _ALGORITHMS),
    *("collective-optimization", "preferred-dataset-splits", "endpoint-delay", "local-mem-bw"),
    *("scheduling-policy", "active-chunks-per-dimension"),
)

#: Further keys of their program, which nothing here is made of.
_OTHERS = (
    *("boost-mode", "track-local-mem", "local-mem-trace-filename", "roofline-enabled", "peak-perf", "trace-enabled"),
    *(
        "replay-only",
        "inter-dimension-scheduling",
        "intra-dimension-scheduling",
        "model-shared-bus",
        "L",
        "o",
        "g",
        "G",
    ),
    *("local-mem-latency", "local-reduction-delay"),
)
_COLLECTIVE_KEYS = {kind: f"collective.{kind.replace('-', '_')}" for kind in _ALGORITHMS}


def _recognises(path: Path, head: Head) -> bool:
    """An object with two of the keys that act, at least."""
    return not head.is_gzip and len(head.json_keys & {*_KNOWN}) >= 2


def _read(path: Path, options: Options) -> Document:
    keys = JsonKeys(path)
    settings = _Settings(keys, options)
    for kind in _ALGORITHMS:
        if f"{kind}{_IMPLEMENTATION}" in keys.values:
            settings.take_algorithm(kind)
    settings.take_figures()
    ignored = [key for key in keys.values if key not in settings.taken]
    hints = {key: did_you_mean(key, _KNOWN) for key in ignored if key not in (*_KNOWN, *_OTHERS)}
    return Document(
        format=ASTRA_SYSTEM.name,
        path=path,
        content=settings.tables,
        summary=(f"{path}: {len(keys.values)} keys, {len(settings.taken)} of them act", *settings.said),
        ignored=tuple(f"key {key!r}" for key in ignored),
        warnings=(
            *settings.warnings,
            *(f"{path}, line {keys.line(key)}: key {key!r} is ignored{hint}" for key, hint in hints.items() if hint),
        ),
    )


class _Settings:
    """Tables of a scenario in the making.

    Attributes
    ----------
    tables : ``system`` and ``collective``.
    said, warnings : sentences on what was taken, and on what one may not expect.
    taken : the keys of the file that acted.
    """

    def __init__(self, keys: JsonKeys, options: Options) -> None:
        self._keys = keys
        self._options = options
        self.tables: dict[str, dict[str, Any]] = {"system": {}, "collective": {}}
        self.said: list[str] = []
        self.warnings: list[str] = []
        self.taken: set[str] = set()

    def take_algorithm(self, kind: str) -> None:
        """The algorithm of a kind of collective: one, or one a dimension."""
        key, ours = f"{kind}{_IMPLEMENTATION}", _COLLECTIVE_KEYS[kind]
        self.taken.add(key)
        names = self._keys.names(key)
        dims = self._options.dims
        if dims is not None and len(names) != len(dims) and not names[0].startswith("one"):
            size = "x".join(map(str, dims))
            raise self._keys.error(
                key, f"{len(names)} names for {len(dims)} dimensions ({size}); allowed: one a dimension"
            )
        if ours in self._options.given:
            self.taken.discard(key)
            return
        known = _ALGORITHMS[kind]
        translated = [known.get(self._flat(name)) for name in names]
        for name, its in zip(names, translated, strict=True):
            if its is None:
                hint = did_you_mean(name, known)
                raise self._keys.error(
                    key, f"unknown algorithm {name!r}{hint}; allowed: {', '.join(known)}, or {ours} in the scenario"
                )
        table = self.tables["collective"]
        if len(names) == 1:
            table[kind.replace("-", "_")] = translated[0]
            self.said.append(f"{kind} by {translated[0]}")
        elif kind == "all-reduce":
            self._take_hierarchy(key, [str(name) for name in translated])
        elif len(set(names)) == 1:
            table[kind.replace("-", "_")] = translated[0]
            self.warnings.append(
                f"{self._keys.path}: {key} = {', '.join(names)} goes dimension by dimension in ASTRA-sim, and here by "
                f"one {translated[0]} over all ranks"
            )
        else:
            raise self._keys.error(
                key, f"{', '.join(names)} differ by dimension; allowed: one for all, or {ours} in the scenario"
            )

    def take_figures(self) -> None:
        """Chunks, endpoint delay, memory bandwidth, order of collectives."""
        keys, system, collective = self._keys, self.tables["system"], self.tables["collective"]
        for key, name, most in (
            ("preferred-dataset-splits", "chunks", 2**20),
            ("active-chunks-per-dimension", "active_chunks", 2**20),
        ):
            if self._take(key):
                collective[name] = keys.whole(key, 1, most)
                self.said.append(f"collective.{name} = {collective[name]} ({key})")
        if self._take("endpoint-delay"):
            delay = keys.decimal("endpoint-delay", "a time in ns") * 1000
            if delay.denominator != 1 or not 0 <= delay <= 10**14:
                raise keys.error("endpoint-delay", "is out of range; allowed: whole picoseconds from 0 to 100 s, in ns")
            system["endpoint_delay"] = format_time(int(delay))
            self.said.append(f"system.endpoint_delay = {system['endpoint_delay']} (endpoint-delay in ns)")
        if self._take("local-mem-bw"):
            rate = keys.decimal("local-mem-bw", "a rate in GB/s") * 8 * 10**9
            if not 0 <= rate <= INT64_MAX:
                raise keys.error("local-mem-bw", "is out of range; allowed: from 0 to below 2^63 bit/s, in GB/s")
            system["local_memory_bandwidth"] = format_rate(round(rate)) if round(rate) else "none"
            self.said.append(
                f"system.local_memory_bandwidth = {system['local_memory_bandwidth']} (local-mem-bw in GB/s of 10^9 B)"
            )
        if "scheduling-policy" in keys.values:
            self._take_order()

    def _take(self, key: str) -> bool:
        if key not in self._keys.values:
            return False
        self.taken.add(key)
        return True

    def _take_order(self) -> None:
        """The order of collectives that wait, which only a limit of active ones makes."""
        order = self._keys.values["scheduling-policy"]
        if order not in ("LIFO", "FIFO"):
            raise self._keys.error("scheduling-policy", f"{order!r} is unknown; allowed: 'LIFO' or 'FIFO'")
        if "system.max_active_collectives" in self._options.given:
            self.taken.add("scheduling-policy")
            self.tables["system"]["scheduling"] = order.lower()
            self.said.append(f"system.scheduling = {order.lower()}")

    def _take_hierarchy(self, key: str, names: list[str]) -> None:
        """An all-reduce over several dimensions."""
        optimization = self._keys.values.get("collective-optimization", "baseline")
        self._take("collective-optimization")
        if optimization != "localBWAware":
            raise self._keys.error(
                "collective-optimization" if "collective-optimization" in self._keys.values else key,
                f"an all-reduce over several dimensions with {optimization!r} is not simulated; allowed: "
                "'localBWAware', or collective.all_reduce in the scenario",
            )
        for name in names:
            if name not in _LEVELS:
                raise self._keys.error(
                    key, f"{name} is none of one dimension among several; allowed: {', '.join(_LEVELS)}"
                )
        dims = self._options.dims
        if len(names) > 2 and dims is None:
            raise self._keys.error(
                key, f"{len(names)} dimensions need a platform.file or platform.dims that says how large they are"
            )
        table = self.tables["collective"]
        table |= {
            "all_reduce": "hierarchical",
            "all_reduce_inside": names[0],
            "all_reduce_between": "/".join(names[1:]),
        }
        if dims is not None and len(names) > 2:
            table["machines_per_group"] = "x".join(map(str, dims[1:-1]))
        self.said.append(
            f"all-reduce hierarchical, {names[0]} in dimension 0 and {', '.join(names[1:])} above, as localBWAware does"
        )

    @staticmethod
    def _flat(name: str) -> str:
        """``oneRing``, over all dimensions at once, without its ``one``."""
        return name[3:4].lower() + name[4:] if name.startswith("one") else name


ASTRA_SYSTEM = register_format(
    Format(
        name="astra_system",
        title="ASTRA-sim system settings (JSON)",
        kind=Kind.SYSTEM,
        recognises=_recognises,
        read=_read,
    )
)


def _recognises_dims(path: Path, head: Head) -> bool:
    return not head.is_gzip and "logical-dims" in head.json_keys


def _read_dims(path: Path, options: Options) -> Document:
    keys = JsonKeys(path)
    if "logical-dims" not in keys.values:
        raise keys.error("logical-dims", "is missing")
    texts = keys.values["logical-dims"]
    is_list = isinstance(texts, list) and 1 <= len(texts) <= 8
    if not is_list or not all(isinstance(text, str) and WHOLE.fullmatch(text) and int(text) for text in texts):
        raise keys.error("logical-dims", 'is no list of sizes; allowed: such as ["8", "2"]')
    sizes = [int(text) for text in texts]
    if math.prod(sizes) > MOST_RANKS:
        raise keys.error("logical-dims", f"makes {math.prod(sizes)} ranks; allowed: at most {MOST_RANKS}")
    dims = "x".join(map(str, sizes))
    return Document(
        format=ASTRA_LOGICAL_DIMS.name,
        path=path,
        content={"platform": {"dims": dims}},
        summary=(f"{path}: {math.prod(sizes)} ranks in dimensions of {dims}, that of neighbouring ranks first",),
        ignored=tuple(f"key {key!r}" for key in keys.values if key != "logical-dims"),
        ranks=math.prod(sizes),
    )


ASTRA_LOGICAL_DIMS = register_format(
    Format(
        name="astra_logical_dims",
        title="ASTRA-sim logical dimensions (JSON)",
        kind=Kind.SYSTEM,
        recognises=_recognises_dims,
        read=_read_dims,
    )
)
