# SPDX-License-Identifier: GPL-2.0-only
"""Every bad scenario is refused with its key path, its value and what is allowed, in Python and on the command line.

A case is a scenario as overrides on the defaults, so that the same text goes through both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from astra_py.cli.app import COMMANDS, command
from astra_py.config import load_scenario
from astra_py.errors import ConfigError


@dataclass(frozen=True)
class BadScenario:
    """A rule's name, the overrides that break it, and what its message has to hold."""

    rule: str
    overrides: tuple[str, ...]
    key: str
    value: str
    allowed: str


def _bad(rule: str, key: str, value: str, allowed: str, *overrides: str) -> BadScenario:
    return BadScenario(rule, overrides, key, value, allowed)


_LEAF = "platform.kind=leaf_spine"
_RING = "platform.kind=ring"
_ZION = "platform.kind=zion"
_ZIONEX = "platform.kind=zionex"

BAD_SCENARIOS = (
    # Keys and tables
    _bad("unknown top key", "enginee", "'packet'", "did you mean 'engine'?", "enginee=packet"),
    _bad("unknown key of a table", "platform.link_rat", "'1Gbps'", "'platform.link_rate'", "platform.link_rat=1Gbps"),
    _bad("key of another table", "link_rate", "'1Gbps'", "'platform.link_rate'", "link_rate=1Gbps"),
    _bad("key of later work", "trace", "'32MB'", "[platform]", "trace.file=32MB"),
    _bad("value for a table", "system", "3", "a table with the keys preset", "system=3"),
    _bad("table for a value", "seed", "{'a': 1}", "a whole number from 0", "seed.a=1"),
    _bad("no key", "=3", "=3", "key.path=value", "=3"),
    _bad("no value", "platform.ranks", "platform.ranks", "key.path=value", "platform.ranks"),
    _bad("below a value", "platform.ranks", "16", "not a table", "platform.ranks=16", "platform.ranks.x=3"),
    # Top
    _bad("seed below 0", "seed", "-1", "a whole number from 0", "seed=-1"),
    _bad("seed not whole", "seed", "1.5", "a whole number from 0", "seed=1.5"),
    _bad("engine unknown", "engine", "'paket'", "'packet' or 'flow' or 'analytic'", "engine=paket"),
    # Platform
    _bad(
        "platform kind unknown",
        "platform.kind",
        "'leaf_spin'",
        "did you mean 'leaf_spine'?; allowed: 'single_switch' or 'ring' or 'torus' or",
        "platform.kind=leaf_spin",
    ),
    _bad("no ranks", "platform.ranks", "0", "from 1 to 1048576", "platform.ranks=0"),
    _bad("too many ranks", "platform.ranks", "1048577", "from 1 to 1048576", "platform.ranks=1048577"),
    _bad("ranks a boolean", "platform.ranks", "True", "a whole number", "platform.ranks=true"),
    _bad("rate of 0", "platform.link_rate", "'0Gbps'", "at least 1bps", "platform.link_rate=0Gbps"),
    _bad("rate without unit", "platform.link_rate", "100", "with a unit", "platform.link_rate=100"),
    _bad("rate in the wrong case", "platform.link_rate", "'400gbps'", "'400Gbps'", "platform.link_rate=400gbps"),
    _bad("rate as a size", "platform.link_rate", "'12GB'", "'12GB/s'", "platform.link_rate=12GB"),
    _bad("rate beyond 64 bits", "platform.link_rate", "'99999999TB/s'", "at most", "platform.link_rate=99999999TB/s"),
    _bad("delay negative", "platform.link_delay", "'-1ns'", "0 or more", "platform.link_delay=-1ns"),
    _bad("delay too long", "platform.link_delay", "'200s'", "at most 100s", "platform.link_delay=200s"),
    _bad("delay not whole", "platform.link_delay", "'0.5ps'", "a time", "platform.link_delay=0.5ps"),
    _bad("latency as a rate", "platform.switch_latency", "'3Gbps'", "units of time", "platform.switch_latency=3Gbps"),
    _bad("loss of 1", "platform.link_loss", "1", "from 0 to below 1", "platform.link_loss=1"),
    _bad("loss negative", "platform.link_loss", "-0.1", "from 0 to below 1", "platform.link_loss=-0.1"),
    _bad("loss not finite", "platform.link_loss", "nan", "from 0 to below 1", "platform.link_loss=nan"),
    _bad("leaf key on one switch", "platform.ranks_per_leaf", "4", "'leaf_spine'", "platform.ranks_per_leaf=4"),
    _bad("spines on one switch", "platform.spines", "4", "'leaf_spine'", "platform.spines=4"),
    _bad("ratio on one switch", "platform.oversubscription", "2.0", "'leaf_spine'", "platform.oversubscription=2"),
    _bad("no ranks on a leaf", "platform.ranks_per_leaf", "0", "from 1 to", _LEAF, "platform.ranks_per_leaf=0"),
    _bad("ratio of 0", "platform.oversubscription", "0", "above 0", _LEAF, "platform.oversubscription=0"),
    _bad(
        "spines do not fit ratio",
        "platform.spines",
        "3",
        "spines = 4",
        _LEAF,
        "platform.spines=3",
        "platform.oversubscription=2",
    ),
    _bad(
        "ratio makes part spines",
        "platform.oversubscription",
        "3",
        "nearest 4 and 2.666667 (8/3)",
        _LEAF,
        "platform.oversubscription=3",
    ),
    _bad("a packet takes hours", "platform.link_rate", "'1bps'", "takes 33,552 s", "platform.link_rate=1bps"),
    _bad("a packet takes minutes", "platform.link_rate", "'335bps'", "at least 336bps", "platform.link_rate=335bps"),
    _bad("ratio makes no spine", "platform.oversubscription", "16", "nearest 8", _LEAF, "platform.oversubscription=16"),
    _bad(
        "ratio makes too many",
        "platform.oversubscription",
        "1e-06",
        "at most 1048576",
        _LEAF,
        "platform.oversubscription=1e-6",
    ),
    _bad("routing unknown", "platform.routing", "'ecpm'", "'ecmp'", "platform.routing=ecpm"),
    _bad("file without a path", "platform.file", "missing", "the path of a platform file", "platform.kind=file"),
    _bad("machines on one switch", "platform.nodes", "4", "'zion', 'zionex'", "platform.nodes=4"),
    _bad(
        "accelerators on one switch",
        "platform.accelerators_per_node",
        "4",
        "'zion', 'zionex'",
        "platform.accelerators_per_node=4",
    ),
    _bad("NICs on one switch", "platform.nics_per_node", "4", "'zion', 'zionex'", "platform.nics_per_node=4"),
    _bad("no machines", "platform.nodes", "0", "from 1 to", _ZIONEX, "platform.nodes=0"),
    _bad("too many machines", "platform.nodes", "8000000 ranks", "at most 1048576", _ZIONEX, "platform.nodes=1000000"),
    _bad("ranks of machines", "platform.ranks", "8", "16, or leave it out", _ZIONEX, "platform.ranks=8"),
    _bad("too few NICs", "platform.nics_per_node", "4 NICs", "8, as", _ZION, "platform.nics_per_node=4"),
    _bad("part of a machine", "platform.ranks_per_leaf", "12", "such as 16", _ZIONEX, "platform.ranks_per_leaf=12"),
    _bad("forwarding switch", "platform.accelerators_forward", "True", "'ring'", "platform.accelerators_forward=true"),
    _bad(
        "forwarding unclear",
        "platform.accelerators_forward",
        "'yes'",
        "'auto' or true or false",
        _RING,
        "platform.accelerators_forward=yes",
    ),
    _bad(
        "switch of a ring",
        "platform.switch_latency",
        "'1us'",
        "other than 'ring'",
        _RING,
        "platform.switch_latency=1us",
    ),
    _bad("accelerator unknown", "platform.accelerator", "'V10'", "did you mean 'V100'?", "platform.accelerator=V10"),
    _bad("NVLink on one switch", "platform.scale_up", "'8Gbps'", "'zionex'", "platform.scale_up.rate=1GB/s"),
    _bad("PCIe of ZionEX", "platform.pcie", "'1us'", "platform.kind = 'zion'", _ZIONEX, "platform.pcie.latency=1us"),
    _bad(
        "unknown key of NVLink",
        "platform.scale_up.rat",
        "'1GB/s'",
        "did you mean 'platform.scale_up.rate'?; allowed: rate, switch_rates",
        _ZIONEX,
        "platform.scale_up.rat=1GB/s",
    ),
    _bad("NVLink a value", "platform.scale_up", "3", "keys rate, switch_rates", _ZIONEX, "platform.scale_up=3"),
    _bad("rate of NVLink", "platform.scale_up.rate", "'0bps'", "at least 1bps", _ZIONEX, "platform.scale_up.rate=0bps"),
    _bad(
        "no efficiency", "platform.scale_up.efficiency", "0", "above 0 to 1", _ZIONEX, "platform.scale_up.efficiency=0"
    ),
    _bad("too efficient", "platform.pcie.efficiency", "1.1", "above 0 to 1", _ZION, "platform.pcie.efficiency=1.1"),
    _bad("NVLink misplaced", "scale_up", "{'rate': '1GB/s'}", "'platform.scale_up'", "scale_up.rate=1GB/s"),
    # Transport
    _bad("transport unknown", "transport.kind", "'rocev3'", "'roce'", "transport.kind=rocev3"),
    _bad("preset unknown", "transport.preset", "'astra_ns'", "'astra_ns3' or", "transport.preset=astra_ns"),
    _bad("preset no text", "transport.preset", "3", "'hpcc_sim' or 'ideal'", "transport.preset=3"),
    _bad("payload too small", "transport.payload", "'63B'", "at least 64B", "transport.payload=63B"),
    _bad("payload too large", "transport.payload", "'9001B'", "at most 9kB", "transport.payload=9001B"),
    _bad("payload in bits", "transport.payload", "'8kb'", "did you mean '8kB'?", "transport.payload=8kb"),
    _bad(
        "header too large",
        "transport.header_size",
        "'2KiB'",
        "'roce' or a size of at most 1KiB",
        "transport.header_size=2KiB",
    ),
    _bad("ack unknown", "transport.ack", "'per_packets'", "'every:N'", "transport.ack=per_packets"),
    _bad("every none", "transport.ack", "'every:0'", "N from 1 to 65535", "transport.ack=every:0"),
    _bad("ack of 0 bytes", "transport.ack_size", "'0B'", "at least 1B", "transport.ack_size=0B"),
    _bad(
        "size of no ack",
        "transport.ack_size",
        "'86B'",
        "other than 'out_of_band'",
        "transport.ack=out_of_band",
        "transport.ack_size=86B",
    ),
    _bad(
        "queue of no ack",
        "transport.ack_queue",
        "'shared'",
        "other than",
        "transport.ack=out_of_band",
        "transport.ack_queue=shared",
    ),
    _bad("ack queue unknown", "transport.ack_queue", "'share'", "'own' or 'shared'", "transport.ack_queue=share"),
    _bad("window unknown", "transport.window", "'bpd'", "did you mean 'bdp'?", "transport.window=bpd"),
    _bad("window below a packet", "transport.window", "'1KiB'", "at least 4KiB", "transport.window=1KiB"),
    _bad("too many queue pairs", "transport.qps_per_peer", "4097", "'per_message' or", "transport.qps_per_peer=4097"),
    _bad(
        "control unknown",
        "transport.congestion_control",
        "'dcqn' is unknown; did you mean 'dcqcn'?",
        "'none' or 'dcqcn' or 'hpcc' or 'timely' or 'swift' or 'dctcp'",
        "transport.congestion_control=dcqn",
    ),
    _bad(
        "scope of no control",
        "transport.cc_scope",
        "'peer'",
        "other than 'none'",
        "transport.congestion_control=none",
        "transport.cc_scope=peer",
    ),
    _bad(
        "CNP without DCQCN",
        "transport.cnp",
        "'ack_flag'",
        "only with transport.congestion_control = 'dcqcn'",
        "transport.congestion_control=hpcc",
        "transport.cnp=ack_flag",
    ),
    _bad(
        "policy of one pair", "transport.qp_policy", "'striped'", "qps_per_peer above 1", "transport.qp_policy=striped"
    ),
    _bad("recovery unknown", "transport.recovery", "'go_back_one'", "'go_back_n'", "transport.recovery=go_back_one"),
    _bad("timeout too short", "transport.timeout", "'1ps'", "at least 1ns", "transport.timeout=1ps"),
    _bad("notification unknown", "transport.notify_on", "'sent'", "'delivered' or 'acked'", "transport.notify_on=sent"),
    _bad(
        "rounding unknown", "transport.time_rounding", "'ns'", "'ps_ceil' or 'ns_nearest'", "transport.time_rounding=ns"
    ),
    # Switches
    _bad("unknown key of switches", "switch.bufer", "'32MB'", "'switch.buffer'", "switch.bufer=32MB"),
    _bad("buffer of 0", "switch.buffer", "'0B'", "'auto' or 'unlimited' or a size of at least 1B", "switch.buffer=0B"),
    _bad("alpha of 0", "switch.pfc_alpha", "0", "above 0", "switch.pfc_alpha=0"),
    _bad(
        "alpha without limit",
        "switch.pfc_alpha",
        "0.5 would mean nothing with switch.buffer = 'unlimited'",
        "only with switch.buffer other than 'unlimited' and switch.pfc = true",
        "switch.buffer=unlimited",
        "switch.pfc_alpha=0.5",
    ),
    _bad(
        "headroom without PFC",
        "switch.headroom",
        "'1MB'",
        "switch.pfc = true",
        "switch.pfc=false",
        "switch.headroom=1MB",
    ),
    _bad(
        "drops of lossless ones",
        "switch.egress_alpha",
        "switch.pfc = True, switch.lossless = 'all'",
        "switch.pfc = false or switch.lossless other than 'all'",
        "switch.egress_alpha=2",
    ),
    _bad("priority 8", "switch.lossless", "8 is out of range", "from 0 to 7", "switch.lossless=[0, 8]"),
    _bad("priority twice", "switch.lossless", "[3, 3]", "a list of priorities", "switch.lossless=[3, 3]"),
    _bad("priorities a number", "switch.lossless", "3 is not a list", "such as [0, 3]", "switch.lossless=3"),
    _bad("quanta beyond 16 bits", "switch.pause_quanta", "65536", "from 32 to 65535", "switch.pause_quanta=65536"),
    _bad("pauses of refreshing only", "switch.pause_quanta", "31", "from 32 to 65535", "switch.pause_quanta=31"),
    _bad(
        "headroom of no priority",
        "switch.headroom",
        "switch.lossless = []",
        "some priorities in switch.lossless",
        "switch.lossless=[]",
        "switch.headroom=10kB",
    ),
    _bad(
        "delay of a flag",
        "transport.dcqcn.cnp_delay",
        "'1us'",
        "transport.cnp = 'frame'",
        "transport.cnp=ack_flag",
        "transport.dcqcn.cnp_delay=1us",
    ),
    _bad(
        "no telemetry",
        "transport.hpcc.telemetry_size",
        "'0B'",
        "at least 1B",
        "transport.congestion_control=hpcc",
        "transport.hpcc.telemetry_size=0B",
    ),
    _bad("threshold without unit", "switch.ecn_kmin", "100", "'100kB/25Gbps'", "switch.ecn_kmin=100"),
    _bad("threshold at no rate", "switch.ecn_kmin", "'0Gbps'", "'auto' or a size", "switch.ecn_kmin=100kB/0Gbps"),
    _bad(
        "rate twice",
        "switch.ecn_kmax",
        "'25Gbps' is there twice",
        "or a table",
        "switch.ecn_kmax=25Gbps=1kB,25Gb/s=2kB",
    ),
    _bad("no rate at all", "switch.ecn_kmax", "{} has no rate", "or a table", "switch.ecn_kmax={}"),
    _bad("marks without ECN", "switch.ecn_pmax", "0.5", "switch.ecn = true", "switch.ecn=false", "switch.ecn_pmax=0.5"),
    _bad("probability above 1", "switch.ecn_pmax", "1.5", "from 0 to 1", "switch.ecn_pmax=1.5"),
    _bad(
        "weights without turns",
        "switch.weights",
        "[1, 2",
        "switch.scheduling = 'dwrr'",
        "switch.weights=[1,2,1,1,1,1,1]",
    ),
    _bad("six weights", "switch.weights", "[1]", "7 whole numbers", "switch.scheduling=dwrr", "switch.weights=[1]"),
    _bad(
        "weight of 0",
        "switch.weights",
        "0 is out of range",
        "from 1 to 100",
        "switch.scheduling=dwrr",
        "switch.weights=[0,1,1,1,1,1,1]",
    ),
    _bad(
        "header of whole frames",
        "switch.cut_through_header",
        "'64B'",
        "switch.forwarding = 'cut_through'",
        "switch.cut_through_header=64B",
    ),
    # Collectives and ranks
    _bad("algorithm no name", "collective.all_reduce", "''", "in snake_case", 'collective.all_reduce=""'),
    _bad("none in flight", "collective.in_flight", "0", "'none' or a whole number from 1", "collective.in_flight=0"),
    _bad("memory as a size", "system.local_memory_bandwidth", "'3GB'", "'3GB/s'", "system.local_memory_bandwidth=3GB"),
    _bad("order of nothing", "system.scheduling", "'lifo'", "max_active_collectives other", "system.scheduling=lifo"),
    _bad(
        "order unknown",
        "system.scheduling",
        "'lofi'",
        "'lifo'",
        "system.max_active_collectives=1",
        "system.scheduling=lofi",
    ),
    # Workload
    _bad("no workload file", "workload.file", "missing", "the path of a workload file", "workload.iterations=2"),
    _bad("workload file empty", "workload.file", "''", "the path of a workload file", 'workload.file=""'),
    _bad(
        "workload file absent",
        "workload.file",
        "'no/such.txt'",
        "the path of a workload file",
        "workload.file=no/such.txt",
    ),
    _bad("format unknown", "workload.format", "'astra'", "'astra_text'", "workload.file=x", "workload.format=astra"),
    _bad("unit of 0", "workload.compute_unit", "'0ns'", "at least 1ps", "workload.file=x", "workload.compute_unit=0ns"),
    _bad("scale of 0", "workload.comm_scale", "0", "above 0", "workload.file=x", "workload.comm_scale=0"),
    _bad("no iterations", "workload.iterations", "0", "from 1", "workload.file=x", "workload.iterations=0"),
    # Limits, analytic, ns-3
    _bad("limit of 0", "limits.max_events", "0", "'none' or a whole number from 1", "limits.max_events=0"),
    _bad("limit without unit", "limits.max_time", "5", "with a unit", "limits.max_time=5"),
    _bad("mode unknown", "analytic.mode", "'logp'", "'loggp'", "analytic.mode=logp"),
    _bad("mode of another engine", "analytic.mode", "'torchrec'", "engine = 'analytic'", "analytic.mode=torchrec"),
    _bad(
        "estimate without a plan",
        "analytic.mode",
        "'torchrec'",
        "workload.kind = 'dlrm'",
        "engine=analytic",
        "analytic.mode=torchrec",
    ),
    _bad("ns-3 name not full", "ns3.defaults", "'RoceNic'", "ns3::", 'ns3.defaults."RoceNic"=3'),
    _bad("ns-3 value a list", "ns3.defaults", "[1]", "ns-3's text", "ns3.defaults.ns3::TcpSocket::ConnCount=[1]"),
    _bad(
        "ns-3 of the platform",
        "ns3::FabricDevice::DataRate",
        "3",
        "platform.link_rate instead",
        "ns3.defaults.ns3::FabricDevice::DataRate=3",
    ),
    _bad("ns-3 no table", "ns3.defaults", "3", "a table of names", "ns3.defaults=3"),
    _bad(
        "ns-3 value of a parameter",
        "ns3::RoceNic::Payload",
        "'10'",
        "at least 64B",
        "ns3.defaults.ns3::RoceNic::Payload='10'",
    ),
    _bad(
        "ns-3 and parameter",
        "ns3::RoceNic::Payload",
        "1000",
        "one of the two",
        "ns3.defaults.ns3::RoceNic::Payload=1000",
        "transport.payload=1kB",
    ),
    _bad(
        "ns-3 not one to one",
        "ns3::RoceNic::Window",
        "1000",
        "transport.window instead",
        "ns3.defaults.ns3::RoceNic::Window=1000",
    ),
)

every_bad_scenario = pytest.mark.parametrize("bad", BAD_SCENARIOS, ids=lambda bad: bad.rule.replace(" ", "-"))


def says(bad: BadScenario, message: str) -> bool:
    return all(part in message for part in (bad.key, bad.value, bad.allowed))


def test_forty_rules() -> None:
    assert len({bad.rule for bad in BAD_SCENARIOS}) == len(BAD_SCENARIOS) >= 40
    assert len({bad.overrides for bad in BAD_SCENARIOS}) == len(BAD_SCENARIOS)


@every_bad_scenario
def test_refused(bad: BadScenario) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario({}, bad.overrides)
    assert says(bad, str(caught.value)), str(caught.value)


@pytest.mark.parametrize("arguments", [("topology",), ("run", "--dry-run")], ids=lambda arguments: arguments[0])
@every_bad_scenario
def test_exit_code_2(
    bad: BadScenario, arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arguments[0] in COMMANDS
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("")
    with pytest.raises(SystemExit) as exit_of:
        command([arguments[0], str(scenario), *bad.overrides, *arguments[1:]])
    printed = capsys.readouterr()
    assert exit_of.value.code == 2
    assert says(bad, printed.err), printed.err
    assert printed.out == ""


def test_each_problem_is_a_line() -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario({"seed": -1, "platform": {"ranks": 0, "lnk_rate": "1Gbps"}})
    first, *lines = str(caught.value).splitlines()
    assert first == "3 problems"
    assert sorted(line.split(":")[0].strip() for line in lines) == ["platform.lnk_rate", "platform.ranks", "seed"]
