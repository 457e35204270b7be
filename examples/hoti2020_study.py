# SPDX-License-Identifier: GPL-2.0-only
"""How much communication a DLRM leaves exposed over TCP and over RoCE: a trend reproduction of HOTI 2020.

    python examples/hoti2020_study.py --out study            # minutes: 4 servers of 8 accelerators
    python examples/hoti2020_study.py --quick                # seconds: a few points of 2 servers
    python examples/hoti2020_study.py --full --out study     # 16 servers, 128 accelerators

Each axis changes one thing of ``workloads/hoti2020_dlrm.toml`` and is run over both transports. The second iteration of
a point is in the table: its time, its compute, and the rest of it, which is exposed communication. With ``--out`` the
table is written as CSV and, if matplotlib is there, drawn. What comes out, and why: ``docs/hoti2020.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import astra_py as ap

WORKLOADS = Path(__file__).parents[1] / "workloads"
TRANSPORTS = ("tcp", "roce")
#: Of each point: of its iteration, then of its longest all-to-all and its longest all-reduce.
FIGURES = (
    *("time_us", "compute_us", "exposed_us", "exposed_percent"),
    *("all_to_all_us", "all_to_all_bottleneck", "all_reduce_us", "all_reduce_bottleneck"),
)


@dataclass(frozen=True)
class Setting:
    """One place on an axis.

    Attributes
    ----------
    label : what the table and the plot call it.
    keys : what it changes of its scenario, over any transport.
    by_transport : what it changes beside over one; without an entry for a transport it is not run over that one,
        unless there is none for any.
    scenario : its file in the folder of workloads.
    is_quick : whether it is in the smallest study, too.
    is_long : whether it is in the largest study only: it takes a minute.
    """

    label: str
    keys: tuple[str, ...] = ()
    by_transport: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scenario: str = "hoti2020_dlrm.toml"
    is_quick: bool = False
    is_long: bool = False

    def is_in(self, size: str) -> bool:
        """Whether it is in a study of that size, "quick", "default" or "full"."""
        return {"quick": self.is_quick, "default": not self.is_long, "full": True}[size]

    @property
    def transports(self) -> tuple[str, ...]:
        """The transports that it is run over."""
        return tuple(name for name in TRANSPORTS if not self.by_transport or name in self.by_transport)


@dataclass(frozen=True)
class Axis:
    """What is changed, and the places on it."""

    name: str
    title: str
    settings: tuple[Setting, ...]


def _mtu(label: str, mtu: str, payload: str, *, is_quick: bool = False) -> Setting:
    keys = {"tcp": (f"transport.tcp.mtu={mtu}",), "roce": (f"transport.payload={payload}",)}
    return Setting(label, by_transport=keys, is_quick=is_quick)


def _control(tcp: str, roce: str) -> tuple[Setting, ...]:
    return tuple(
        Setting(name, by_transport={kind: (f"transport.congestion_control={name}",)})
        for kind, names in (("tcp", tcp), ("roce", roce))
        for name in names.split()
    )


def _host(*keys: str) -> dict[str, tuple[str, ...]]:
    return {"tcp": tuple(f"host.{key}" for key in keys)}


def _collectives(all_reduce: str, all_to_all: str) -> tuple[str, ...]:
    return f"collective.all_reduce={all_reduce}", f"collective.all_to_all={all_to_all}"


AXES = (
    Axis(
        "accelerators",
        "accelerators, 8 a server",
        tuple(Setting(str(8 * n), (f"platform.nodes={n}",), is_quick=n <= 2) for n in (1, 2, 4, 8, 16)),
    ),
    Axis(
        "accelerators_large",
        "accelerators, 8 a server, the larger model",
        tuple(
            Setting(str(8 * n), (f"platform.nodes={n}",), scenario="hoti2020_large.toml", is_long=n > 4)
            for n in (1, 2, 4, 8, 16)
        ),
    ),
    Axis(
        "link_rate",
        "link rate in Gb/s",
        tuple(
            Setting(str(rate), (f"platform.link_rate={rate}Gbps",), is_quick=rate in (10, 400))
            for rate in (10, 25, 50, 100, 200, 400)
        ),
    ),
    Axis(
        "nics_per_node",
        "NICs a server",
        tuple(
            Setting(str(nics), (f"platform.nics_per_node={nics}",), is_quick=nics in (1, 8)) for nics in (1, 2, 4, 8)
        ),
    ),
    Axis(
        "fabric",
        "switches",
        (
            Setting("one switch", is_quick=True),
            Setting("leaf-spine 1:1", ("platform.ranks_per_leaf=16",), is_quick=True),
            Setting("leaf-spine 2:1", ("platform.ranks_per_leaf=16", "platform.oversubscription=2")),
        ),
    ),
    Axis(
        "mtu",
        "MTU in B (RoCE: payload 1,024 and 4,096)",
        (_mtu("1500", "1500B", "1024B", is_quick=True), _mtu("9000", "9000B", "4096B", is_quick=True)),
    ),
    Axis(
        "collectives",
        "all-reduce and all-to-all",
        (
            Setting("hierarchical, direct", is_quick=True),
            Setting("ring, direct", _collectives("ring", "direct"), is_quick=True),
            Setting("direct, direct", _collectives("direct", "direct")),
            Setting("halving-doubling, direct", _collectives("halving_doubling", "direct")),
            Setting("hierarchical", _collectives("hierarchical", "hierarchical"), is_quick=True),
        ),
    ),
    Axis("congestion_control", "congestion control", _control("dctcp cubic linux_reno bbr", "dcqcn hpcc none")),
    Axis(
        "host",
        "host (TCP only)",
        (
            Setting("ideal", by_transport=_host("preset=ideal"), is_quick=True),
            Setting("kernel", by_transport=_host("preset=kernel_tcp")),
            Setting("kernel, TSO", by_transport=_host("preset=kernel_tcp", "tso=true")),
            Setting("kernel, GRO", by_transport=_host("preset=kernel_tcp", "gro=true")),
            Setting("kernel, TSO and GRO", by_transport=_host("preset=kernel_tcp_tso_gro")),
        ),
    ),
    Axis(
        "cores",
        "networking cores of a server (TCP only)",
        tuple(
            Setting(str(cores), by_transport=_host("preset=kernel_tcp_tso_gro", f"cores={cores}"))
            for cores in (1, 2, 4, 8, 16)
        ),
    ),
    Axis(
        "platform",
        "server, 8 NICs each",
        (
            Setting("PCIe only", ("platform.nics_per_node=8",)),
            Setting("Zion", scenario="hoti2020_zion.toml"),
            Setting("ZionEX", scenario="hoti2020_zionex.toml"),
        ),
    ),
    Axis(
        "compute",
        "compute time, as a factor",
        tuple(Setting(str(scale), (f"workload.compute_scale={scale}",)) for scale in ("0.25", "1", "4")),
    ),
)


@dataclass(frozen=True)
class Point:
    """One run: where it is on its axis, and what is run."""

    axis: str
    setting: str
    transport: str
    scenario: str
    keys: tuple[str, ...]

    def load(self) -> ap.Run:
        """The run, whose keys are checked."""
        return ap.load(WORKLOADS / self.scenario, *self.keys)


def points_of(axes: Iterable[Axis], keys: Sequence[str], *, size: str) -> list[Point]:
    """The runs of a study.

    Parameters
    ----------
    axes : what is changed.
    keys : ``"key.path=value"`` for all points, under what these change themselves.
    size : "quick", "default" or "full".
    """
    nodes = {"quick": 2, "default": 4, "full": 16}[size]
    points = []
    for axis in axes:
        for setting in axis.settings:
            for kind in setting.transports if setting.is_in(size) else ():
                own = (f"platform.nodes={nodes}", f"transport.kind={kind}", *keys, *setting.keys)
                changes = (*own, *setting.by_transport.get(kind, ()))
                points.append(Point(axis.name, setting.label, kind, setting.scenario, changes))
    return points


def measure(point: Point) -> dict[str, Any]:
    """Run a point: figures of the second iteration, and of its longest collective of each kind.

    A point that fails has the reason in place of figures, and the others of the study go on.
    """
    try:
        result = point.load().run()
    except ap.AstraPyError as error:
        return dict.fromkeys(FIGURES, float("nan")) | {"failed": str(error)}
    iteration = result.iterations.iloc[1]
    row = {name: iteration[name] for name in FIGURES[:4]}
    collectives = result.collectives[result.collectives["iteration"] == iteration["iteration"]]
    for kind in ("all_to_all", "all_reduce"):
        longest = collectives[collectives["kind"].str.startswith(kind)].sort_values("time_us").iloc[-1]
        row |= {f"{kind}_us": longest["time_us"], f"{kind}_bottleneck": longest["bottleneck"]}
    return row | {"failed": ""}


def run_study(axes: Iterable[Axis], keys: Sequence[str], *, size: str, processes: int | None) -> pd.DataFrame:
    """Run all points, each in a process; one row a point, in order.

    The base point is on nearly all axes: what has the same digest is run once.
    """
    points = {point: point.load().digest for point in points_of(axes, keys, size=size)}
    different = {digest: point for point, digest in points.items()}
    with ProcessPoolExecutor(processes) as pool:
        rows = dict(zip(different, pool.map(measure, different.values()), strict=True))
    place = ("axis", "setting", "transport")
    return pd.DataFrame(
        {name: getattr(point, name) for name in place} | rows[digest] for point, digest in points.items()
    )


def text_of(table: pd.DataFrame) -> str:
    """The table for a terminal, axis by axis and with the transports side by side.

    Of each: exposed communication in us and as a share of the iteration, and what held the longest all-to-all and the
    longest all-reduce up.
    """
    titles = {axis.name: axis.title for axis in AXES}
    blocks = []
    for axis, rows in table.groupby("axis", sort=False):
        columns = {}
        for kind, of_kind in rows.set_index("setting").groupby("transport", sort=False):
            columns[f"{kind} us"] = of_kind["exposed_us"].map("{:,.1f}".format, na_action="ignore")
            columns["%", kind] = of_kind["exposed_percent"].map("{:.1f}".format, na_action="ignore")
            columns["all-to-all", kind] = of_kind["all_to_all_bottleneck"]
            columns["all-reduce", kind] = of_kind["all_reduce_bottleneck"]
        wide = pd.DataFrame(columns, index=list(dict.fromkeys(rows["setting"])))
        header = [name if isinstance(name, str) else name[0] for name in columns]
        blocks += [f"{axis}: {titles[axis]}", wide.to_string(header=header, na_rep="-"), ""]
    return "\n".join(line.rstrip() for line in "\n".join(blocks).splitlines())


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw exposed communication against each axis, a panel each, and write it as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    titles = {axis.name: axis.title for axis in AXES}
    axes = list(dict.fromkeys(table["axis"]))
    figure, panels = plt.subplots(-(-len(axes) // 3), 3, figsize=(14, 3.4 * -(-len(axes) // 3)), squeeze=False)
    # Okabe and Ito's blue and vermilion, which the colour-blind tell apart, and hatches for paper
    looks = {"tcp": ("#0072B2", ""), "roce": ("#D55E00", "//")}
    for panel, axis in zip(panels.flat, axes, strict=False):
        rows = table[table["axis"] == axis]
        settings = list(dict.fromkeys(rows["setting"]))
        for number, (kind, (colour, hatch)) in enumerate(looks.items()):
            of_kind = rows[rows["transport"] == kind]
            place = [settings.index(setting) + 0.4 * (number - 0.5) for setting in of_kind["setting"]]
            panel.bar(place, of_kind["exposed_us"], 0.38, color=colour, hatch=hatch, edgecolor="white", label=kind)
        panel.set_xticks(range(len(settings)), settings, rotation=15 if max(map(len, settings)) > 8 else 0)
        panel.set(xlabel=titles[axis], ylabel="exposed communication in us")
    for panel in panels.flat[len(axes) :]:
        panel.axis("off")
    panels.flat[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Run the study as the command line says, and print its table."""
    parser = argparse.ArgumentParser(
        description="Exposed communication of a DLRM over TCP and RoCE, one axis at a time."
    )
    names = [axis.name for axis in AXES]
    parser.add_argument("keys", nargs="*", metavar="key.path=value", help="changes to all points")
    parser.add_argument("--axis", action="append", choices=names, help="one axis; again for more (all of them)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", dest="size", const="quick", help="the smallest points only")
    size.add_argument(
        "--full", action="store_const", dest="size", const="full", help="128 accelerators at the base point"
    )
    parser.add_argument("--engine", choices=("packet", "flow", "analytic"), default="packet")
    parser.add_argument("--processes", type=int, help="how many at a time (one a core)")
    parser.add_argument("--out", type=Path, help="a new folder for exposed.csv and exposed.png")
    options = parser.parse_args(arguments)
    if options.out is not None:
        options.out.mkdir(parents=True)
    axes = [axis for axis in AXES if axis.name in (options.axis or names)]
    keys = [f"engine={options.engine}", *options.keys]
    table = run_study(axes, keys, size=options.size or "default", processes=options.processes)
    print(text_of(table))
    for row in table[table["failed"] != ""].itertuples():
        print(f"{row.axis} {row.setting} over {row.transport} failed: {row.failed}", file=sys.stderr)
    if options.out is not None:
        table.to_csv(options.out / "exposed.csv", index=False)
        try:
            draw(table, options.out / "exposed.png")
        except ImportError:
            print("no picture: it needs matplotlib (pip install 'astra-py[plot]')", file=sys.stderr)
    return table


if __name__ == "__main__":
    sys.exit(3 if (main()["failed"] != "").any() else 0)
