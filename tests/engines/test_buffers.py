# SPDX-License-Identifier: GPL-2.0-only
"""What switches keep of their buffers on a platform, and thresholds for each of its rates."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.cli.app import command
from astra_py.config import load_scenario
from astra_py.engines.buffers import (
    buffer_bytes,
    buffer_warnings,
    kept_bytes,
    require_room,
    require_thresholds,
    switch_ports,
)
from astra_py.engines.resolve import switch_model, transport_model
from astra_py.errors import ConfigError
from astra_py.platforms import build_platform
from astra_py.platforms.platform import NodeKind, Platform, PlatformArrays

#: Two ranks, two switches in a row; the middle link is four times as fast, and ten times as long.
RATES, DELAYS = (25 * 10**9, 100 * 10**9, 25 * 10**9), (10**6, 10**7, 10**6)


def line(efficiency: float = 0.0) -> PlatformArrays:
    """rank 0 - switch 1 - switch 2 - rank 1; the first link scale-up where an efficiency is given."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for node, rank in enumerate((0, -1, -1, 1)):
        is_switch = rank < 0
        graph.add_node(
            node,
            kind=NodeKind.SWITCH if is_switch else NodeKind.ACCELERATOR,
            rank=rank,
            latency_ps=0,
            name=f"n{node}",
            forwards=is_switch,
        )
    for link in range(3):
        graph.add_edge(
            link,
            link + 1,
            link=link,
            rate_bps=RATES[link],
            delay_ps=DELAYS[link],
            loss=0.0,
            link_class="link",
            efficiency=efficiency if link == 0 else 0.0,
        )
    return Platform("line", graph).arrays()


def kept(*overrides: str, priorities: tuple[int, ...] = (0,), arrays: PlatformArrays | None = None) -> list[int]:
    scenario = load_scenario({}, overrides)
    found = kept_bytes(switch_model(scenario), transport_model(scenario), arrays or line(), priorities)
    return found.tolist()


def test_the_ports_of_switches_are_those_on_ethernet() -> None:
    assert switch_ports(line()).tolist() == [1, 2, 3, 4]
    assert switch_ports(line(efficiency=0.9)).tolist() == [2, 3, 4]


def test_reserve_and_headroom_are_kept_for_each_port_and_priority_in_use() -> None:
    # 2 x delay x rate / 8, two frames of 4,194 B, 60 quanta; a frame and a PAUSE of 84 B
    slow, fast = 6250 + 8388 + 3840 + 4278, 250_000 + 8388 + 3840 + 4278
    assert kept() == [0, 2 * (slow + fast), 2 * (slow + fast), 0]
    assert kept(priorities=()) == [0, slow + fast, slow + fast, 0]
    assert kept(priorities=(0, 3, 7)) == [0, 3 * (slow + fast), 3 * (slow + fast), 0]
    # lossy priorities have a reserve too
    lossy = 2 * 2 * 4278
    assert kept("switch.lossless=[3]") == kept("switch.pfc=false") == [0, lossy, lossy, 0]
    mixed = slow + fast + 2 * 4278
    assert kept("switch.lossless=[3]", priorities=(3,)) == [0, mixed, mixed, 0]
    assert kept(arrays=line(efficiency=0.9)) == [0, 2 * fast, 2 * (slow + fast), 0]


def test_given_sizes_are_kept_as_they_are() -> None:
    assert kept("switch.reserve=1kB", "switch.headroom=9kB") == [0, 40_000, 40_000, 0]
    assert kept("switch.reserve=0B", "switch.headroom=0B") == [0, 0, 0, 0]


def test_nothing_is_kept_of_a_buffer_without_limit() -> None:
    assert kept("switch.buffer=unlimited") == [0, 0, 0, 0]


def sizes(*overrides: str) -> list[int]:
    scenario = load_scenario({}, overrides)
    return buffer_bytes(switch_model(scenario), transport_model(scenario), line(), (0,)).tolist()


def test_an_automatic_buffer_has_the_same_to_share_everywhere() -> None:
    assert sizes() == [0, 32_000_000 + kept()[1], 32_000_000 + kept()[2], 0]
    assert sizes("switch.buffer=1MB") == [0, 10**6, 10**6, 0]
    assert sizes("switch.buffer=unlimited") == [0, 0, 0, 0]


def test_frames_and_quanta_count() -> None:
    assert kept("transport.payload=1000B")[1] == kept()[1] - 4 * 3 * 3096
    assert kept("switch.pfc_response_quanta=0")[1] == kept()[1] - 4 * 3840
    assert kept("transport.header_size=0B")[1] == kept()[1] - 4 * 3 * 98


def warnings(*overrides: str) -> tuple[str, ...]:
    scenario = load_scenario({}, overrides)
    return buffer_warnings(switch_model(scenario), transport_model(scenario), line(), (0,))


def test_a_buffer_that_is_kept_whole_is_warned_of() -> None:
    most = kept()[1]
    (text,) = warnings(f"switch.buffer={most - 1}B")
    assert text.startswith("switch.buffer = ")
    assert f"2 switches keep more for their ports, as reserve and headroom, up to {most:,} B at n1" in text
    assert warnings(f"switch.buffer={most}B") == warnings("switch.buffer=unlimited") == warnings() == ()


def test_the_warning_says_what_becomes_of_frames() -> None:
    (lossless,) = warnings("switch.buffer=10kB")
    assert lossless.endswith("nothing is left to share, so that ports pause at once")
    (lossy,) = warnings("switch.buffer=10kB", "switch.pfc=false")
    assert "more for their ports, as reserve, up to" in lossy
    assert lossy.endswith("so that what exceeds a port's switch.reserve is dropped")
    (both,) = warnings("switch.buffer=10kB", "switch.lossless=[0]")
    assert both.endswith("so that ports pause at once and what exceeds a port's switch.reserve is dropped")


def test_a_run_warns_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job.toml"
    job.write_text('[workload]\nkind = "dlrm"\npreset = "dlrm_s"\n[switch]\nbuffer = "100kB"\n')
    (text,) = ap.load(job).warnings
    assert text in ap.load(job).notes
    assert ap.load(job, "switch.buffer=32MB").warnings == ()
    with pytest.raises(SystemExit) as exit_of:
        command(["run", str(job), "--dry-run", "--strict"])
    assert exit_of.value.code == 2
    assert "--strict: switch.buffer = '100kB': 1 switch keeps more" in capsys.readouterr().err


def room(*overrides: str) -> None:
    scenario = load_scenario({}, overrides)
    require_room(scenario, switch_model(scenario), transport_model(scenario), line(), (0,))


LOSSY = "switch.pfc=false"
NOTHING_KEPT = ("switch.reserve=0B", "switch.headroom=0B")


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        (LOSSY,),
        (LOSSY, "switch.buffer=1kB"),
        (LOSSY, "switch.buffer=4174B", "switch.reserve=0B"),
        (LOSSY, "switch.buffer=10kB", "switch.reserve=4174B", "switch.egress_alpha=1e-9"),
        (LOSSY, "switch.buffer=unlimited"),
        ("switch.buffer=1kB",),
        ("switch.buffer=4174B", *NOTHING_KEPT),
        ("switch.buffer=1kB", "switch.reserve=0B", "switch.headroom=4174B"),
        ("switch.buffer=1136B", "transport.header_size=36B", "transport.payload=1100B", *NOTHING_KEPT),
    ],
)
def test_buffers_that_a_frame_fits_in(overrides: tuple[str, ...]) -> None:
    room(*overrides)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ((LOSSY, "switch.buffer=4173B", "switch.reserve=0B"), ("leaves 4,173 B to share at n1", "a frame of 4,174 B")),
        ((LOSSY, "switch.egress_alpha=1e-9", "switch.reserve=0B"), ("'auto' leaves 32,000,000 B", "= 1e-09 times")),
        (("switch.lossless=[7]", "switch.buffer=10kB", "switch.reserve=4kB"), ("leaves 0 B to share",)),
        (
            ("switch.buffer=4173B", *NOTHING_KEPT),
            ("neither switch.reserve nor switch.headroom holds a frame of 4,174 B",),
        ),
    ],
)
def test_a_buffer_that_no_frame_fits_in_would_never_end_a_run(
    overrides: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as caught:
        room(*overrides)
    for part in ("switch.buffer: ", *parts):
        assert part in str(caught.value), str(caught.value)


def test_a_run_is_refused_before_it_starts(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        '[workload]\nkind = "dlrm"\npreset = "dlrm_s"\n[switch]\npfc = false\nreserve = "0B"\nbuffer = "4kB"\n'
    )
    with pytest.raises(ConfigError, match=r"job\.toml: switch\.buffer: '4kB' leaves 4,000 B"):
        ap.load(job).run()


def check(*overrides: str, kind: str = "leaf_spine") -> None:
    scenario = load_scenario({}, [f"platform.kind={kind}", *overrides])
    require_thresholds(scenario, build_platform(scenario.platform).arrays())


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("switch.ecn_kmin=100kB", "switch.ecn_kmax=100kB"),
        ("switch.ecn_kmin=100Gbps=400kB", "switch.ecn_kmax=25Gbps=1kB,100Gbps=400kB"),
        ("transport.preset=hpcc_sim",),
        ("transport.preset=hpcc_sim", "platform.link_rate=800Gbps"),
        ("transport.congestion_control=dctcp",),
    ],
)
def test_thresholds_that_are_right(overrides: tuple[str, ...]) -> None:
    check(*overrides)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        (("switch.ecn_kmin=25Gbps=1kB",), ("switch.ecn_kmin: '25Gbps=1kB'", "no entry for 100Gbps", "between ")),
        (
            ("transport.preset=hpcc_sim", "platform.link_rate=50Gbps"),
            ("switch.ecn_kmin: ", "no entry for 50Gbps, the rate of the link between "),
        ),
        (("switch.ecn_kmax=25Gbps=1kB",), ("switch.ecn_kmax: ", "a size for each rate of the platform")),
        (
            ("switch.ecn_kmin=2MB",),
            ("switch.ecn_kmin: '2MB' is 2,000,000 B at 100Gbps", "above switch.ecn_kmax = '400kB/25Gbps', 1,600,000 B"),
        ),
        (("transport.congestion_control=dctcp", "switch.ecn_kmax=1kB"), ("'30kB/10Gbps' is 300,000 B",)),
    ],
)
def test_thresholds_that_a_rate_has_none_of(overrides: tuple[str, ...], parts: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        check(*overrides)
    for part in parts:
        assert part in str(caught.value), str(caught.value)


def test_without_marks_no_threshold_is_needed() -> None:
    check("transport.preset=hpcc_sim", "platform.link_rate=50Gbps", "switch.ecn=false")


def test_a_run_names_the_file_of_its_thresholds(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        '[workload]\nkind = "dlrm"\npreset = "dlrm_s"\n[switch.ecn_kmin]\n"25Gbps" = "100kB"\n"40Gbps" = "200kB"\n'
    )
    with pytest.raises(ConfigError, match=r"job\.toml: switch\.ecn_kmin: .* has no entry for 100Gbps"):
        ap.load(job).estimate()
    with pytest.raises(ConfigError, match=r"job\.toml: switch\.ecn_kmin: .* has no entry for 100Gbps"):
        ap.load(job).run()


def test_nodes_that_do_not_forward_keep_nothing() -> None:
    arrays = build_platform(load_scenario({}).platform).arrays()
    found = np.array(kept(arrays=arrays))
    assert (found > 0).tolist() == (arrays.node_kind == NodeKind.SWITCH).tolist()


def test_pauses_that_are_over_before_they_can_be_sent_again_are_refused() -> None:
    """Half of 160 quanta is 5,120 B of line: a frame of 4,194, and a PAUSE of each priority behind it."""
    keys = ["platform.ranks=3", "transport.payload=4096B"]
    run = one_collective(load_scenario({}, [*keys, "switch.pause_quanta=64"]), "all_reduce", 4096)
    with pytest.raises(ConfigError, match=r"switch.pause_quanta: 64 quanta are over .*; allowed: at least 153"):
        run.run()
    one_collective(load_scenario({}, [*keys, "switch.pause_quanta=153"]), "all_reduce", 4096).run()
