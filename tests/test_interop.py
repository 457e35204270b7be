# SPDX-License-Identifier: GPL-2.0-only
"""A packet simulation and ns-3's own Python bindings in one process: one ns-3, one clock, one queue of events."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = Path(__file__).parent.parent / "workloads" / "astra2020_16.toml"

LOOK = """
import astra_py as ap
from astra_py import interop

ns = interop.import_ns()
run = ap.load(SCENARIO)
with interop.built(run) as simulation:
    print("nodes", ns.NodeList.GetNNodes(), len(simulation.node_ids))
    print("devices", ns.NodeList.GetNode(simulation.node_ids[0]).GetNDevices())
    device = ns.NodeList.GetNode(simulation.node_ids[0]).GetDevice(0)
    print("device", device.GetInstanceTypeId().GetName())
    result = simulation.run()
    print("now", ns.Simulator.Now().GetTimeStep() >= result.iterations["time_ps"].sum())
print("left", ns.NodeList.GetNNodes())
alone = ap.load(SCENARIO).run()
print("same", (alone.messages == result.messages).all().all())
"""

# A Python function hears of every frame that a NIC's port sends, as the tables count them.
TRACE = """
from collections import Counter

import astra_py as ap
from astra_py import interop

ns = interop.import_ns()
run = ap.load(SCENARIO)
heard = Counter()
times = []
ranks = set()


def hear(kind, src, dst, psn, payload_bytes):
    heard[kind] += 1
    heard["payload"] += payload_bytes if kind == 0 else 0
    ranks.add(src)
    times.append(ns.Simulator.Now().GetTimeStep())


with interop.built(run) as simulation:
    device = ns.NodeList.GetNode(simulation.node_ids[3]).GetDevice(0)
    simulation.trace_frames(device, hear)
    result = simulation.run()
link = result.links[result.links["from"] == "rank3"].iloc[0]
print("frames", heard[0] + heard[1] == link["frames"] > 0, heard["payload"] == link["payload_bytes"])
print("ranks", ranks, times == sorted(times))


def fail(*frame):
    raise ValueError("of the user")


with interop.built(run) as simulation:
    simulation.trace_frames(ns.NodeList.GetNode(simulation.node_ids[0]).GetDevice(0), fail)
    try:
        simulation.run()
    except ValueError as error:
        print("raised", error)
"""

# A UDP client on ns-3's own nodes and links, beside our traffic: every datagram arrives, and ours is not disturbed.
BACKGROUND = """
import astra_py as ap
from astra_py import interop

ns = interop.import_ns()
run = ap.load(SCENARIO)
with interop.built(run) as simulation:
    nodes = ns.NodeContainer()
    nodes.Create(2)
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue("10Gbps"))
    link.SetChannelAttribute("Delay", ns.StringValue("1us"))
    devices = link.Install(nodes)
    ns.InternetStackHelper().Install(nodes)
    address = ns.Ipv4AddressHelper()
    address.SetBase(ns.Ipv4Address("10.1.1.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = address.Assign(devices)
    server = ns.UdpServerHelper(9)
    servers = server.Install(nodes.Get(1))
    client = ns.UdpClientHelper(interfaces.GetAddress(1).ConvertTo(), 9)
    # More than the job has time for: what is left of them at its end is no fault.
    client.SetAttribute("MaxPackets", ns.UintegerValue(1000))
    client.SetAttribute("Interval", ns.TimeValue(ns.MicroSeconds(50)))
    clients = client.Install(nodes.Get(0))
    servers.Start(ns.Seconds(0))
    clients.Start(ns.MicroSeconds(5))
    result = simulation.run()
    print("received", 15 < servers.Get(0).GetObject[ns.UdpServer]().GetReceived() < 25)
alone = ap.load(SCENARIO).run()
print("same", (alone.messages == result.messages).all().all())
"""

# The wheel's TCP on our simulator and on ns-3's own: the same events to the same bytes at the same time.
TCP = """
from astra_py import interop

ns = interop.import_ns()


def transfer(simulator):
    ns.Simulator.Destroy()
    ns.GlobalValue.Bind("SimulatorImplementationType", ns.StringValue(simulator))
    ns.RngSeedManager.SetSeed(1)
    ns.RngSeedManager.SetRun(1)
    nodes = ns.NodeContainer()
    nodes.Create(2)
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue("1Gbps"))
    link.SetChannelAttribute("Delay", ns.StringValue("20us"))
    devices = link.Install(nodes)
    ns.InternetStackHelper().Install(nodes)
    address = ns.Ipv4AddressHelper()
    address.SetBase(ns.Ipv4Address("10.1.1.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = address.Assign(devices)
    target = ns.InetSocketAddress(interfaces.GetAddress(1), 5000).ConvertTo()
    source = ns.BulkSendHelper("ns3::TcpSocketFactory", target)
    source.SetAttribute("MaxBytes", ns.UintegerValue(2000000))
    source.Install(nodes.Get(0)).Start(ns.MilliSeconds(1))
    sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", target)
    sinks = sink.Install(nodes.Get(1))
    sinks.Start(ns.Seconds(0))
    ns.Simulator.Stop(ns.Seconds(1))
    ns.Simulator.Run()
    received = sinks.Get(0).GetObject[ns.PacketSink]().GetTotalRx()
    outcome = (received, ns.Simulator.GetEventCount(), ns.Simulator.Now().GetTimeStep())
    ns.Simulator.Destroy()
    return outcome


ours = transfer("ns3::FabricSimulatorImpl")
theirs = transfer("ns3::DefaultSimulatorImpl")
print("tcp", ours, theirs)
print("same", ours == theirs)
print("bytes", ours[0])
"""


# What must not be silently off: a simulator with a past, and one whose times count nanoseconds for good.
IN_USE = """
import astra_py as ap
from astra_py import interop
from astra_py.errors import ConfigError

ns = interop.import_ns()
nodes = ns.NodeContainer()
nodes.Create(1)
try:
    ap.load(SCENARIO).run()
except ConfigError as error:
    print("refused", "in use" in str(error))
ns.Simulator.Destroy()
with interop.built(ap.load(SCENARIO)) as simulation:
    ns.Simulator.Destroy()
    try:
        simulation.run()
    except ConfigError as error:
        print("refused", "runs once" in str(error))
print("runs", len(ap.load(SCENARIO).run().iterations))
"""

TOO_LATE = """
from ns import ns

ns.Simulator.Run()
ns.Simulator.Destroy()
try:
    import astra_py._ns3_ext
except ImportError as error:
    print("refused", "picoseconds" in str(error))
"""


def output(script: str, folder: Path) -> list[str]:
    text = f"SCENARIO = {str(SCENARIO)!r}\n{script}"
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_the_engines_nodes_are_seen_through_the_bindings(tmp_path: Path) -> None:
    lines = output(LOOK, tmp_path)
    nodes = lines[0].split()
    assert nodes[1] == nodes[2]
    assert int(nodes[1]) > 16
    assert lines[1:] == ["devices 1", "device ns3::FabricDevice", "now True", "left 0", "same True"]


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_a_python_function_hears_of_every_frame_of_a_port(tmp_path: Path) -> None:
    assert output(TRACE, tmp_path) == ["frames True True", "ranks {3} True", "raised of the user"]


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_an_application_of_ns3_runs_beside_ours(tmp_path: Path) -> None:
    assert output(BACKGROUND, tmp_path) == ["received True", "same True"]


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_tcp_of_ns3_runs_on_our_simulator_as_on_its_own(tmp_path: Path) -> None:
    lines = output(TCP, tmp_path)
    assert lines[1:] == ["same True", "bytes 2000000"], lines[0]


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_a_simulator_in_use_is_refused(tmp_path: Path) -> None:
    assert output(IN_USE, tmp_path) == ["refused True", "refused True", "runs 2"]


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_the_engine_is_refused_where_times_count_nanoseconds_for_good(tmp_path: Path) -> None:
    assert output(TOO_LATE, tmp_path) == ["refused True"]
