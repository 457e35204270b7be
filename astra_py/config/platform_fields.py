# SPDX-License-Identifier: GPL-2.0-only
"""The parameters of ``[platform]``: the accelerators and the network between them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.condition import Condition
from astra_py.config.platform_kinds import (
    DIRECT,
    FILE,
    FORWARDING,
    IS_BUILT,
    IS_FILE,
    KINDS,
    LEAVES,
    MACHINES,
    NICS,
    RAILS,
    WHOLE_LEAVES,
    only_kinds,
)
from astra_py.config.platform_presets import PlatformPresetRule
from astra_py.config.platform_rules import Dimensions, FunctionName
from astra_py.config.rules import Choice, Count, Flag, Number, PathRule, QuantityRule, Registered
from astra_py.config.scale_up import LONGEST_DELAY, PcieConfig, ScaleUpConfig
from astra_py.config.table import Ns3Attribute, Table, parameter
from astra_py.hardware import accelerators
from astra_py.units import RATE, TIME

__all__ = ["MOST_RANKS", "NODES_PER_GROUP", "RANKS_PER_LEAF", "PlatformFields"]

#: Ranks of the largest platform that a scenario may ask for.
MOST_RANKS = 2**20

_ONLY_MACHINES = only_kinds(*MACHINES)
_ONLY_NICS = only_kinds(*NICS)
_ONLY_LEAVES = only_kinds(*LEAVES)
_ONLY_FAT_TREE = only_kinds("fat_tree")
_ONLY_SWITCHES = Condition(
    "kind", f"a platform.kind other than {', '.join(map(repr, DIRECT))}", lambda kind: kind not in DIRECT
)
_ONLY_ECMP = Condition(
    "routing", "platform.routing = 'ecmp' or 'enhanced_ecmp'", ("ecmp", "enhanced_ecmp").__contains__
)
_ONLY_HOOK = Condition("routing", "platform.routing = 'hook'", lambda routing: routing == "hook")

#: Ranks on a leaf where there are no machines.
RANKS_PER_LEAF = 8

#: Machines that share leaf switches where nothing says it.
NODES_PER_GROUP = 32


class PlatformFields(Table):
    """The parameters of ``[platform]``; what follows from them is in :class:`~astra_py.config.PlatformConfig`."""

    key: ClassVar[str] = "platform"

    kind: Annotated[str, Registered("astra_py.topologies", *KINDS)] = parameter(
        "single_switch",
        "Shape: all ranks on one switch; linked in a ring, in a torus or each to each; on leaf switches of which "
        "each has one link to every spine switch; in a fat tree of three tiers; or in machines whose accelerators a "
        "scale-up switch joins, with NICs on such leaves ('zionex'), behind a host with a NIC each ('zion'), on a "
        "leaf for each rail below spines ('rail_optimized', and with their makers' figures 'dgx_a100', 'dgx_h100'), "
        "or on a switch for each rail without spines ('rail_only'); or in servers with nothing but PCIe inside, whose "
        "accelerators share NICs ('pcie_servers'); or what platform.file says ('file').",
    )
    file: Annotated[str | None, PathRule("the path of a platform file")] = parameter(
        None,
        "File of nodes and links, in a format that `astra-py inspect` knows, recognised from its content; must be "
        "given with kind = 'file'. Paths as of workload.file.",
        only=IS_FILE,
    )
    preset: Annotated[str | None, PlatformPresetRule(words={"none": None})] = parameter(
        "none",
        "A named set of values for the keys of this table; keys that are given override it. The kinds 'dgx_a100' and "
        "'dgx_h100' come with theirs.",
    )
    ranks: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        8,
        "Number of accelerators; of machines, platform.nodes x platform.accelerators_per_node; of a torus, the "
        "product of platform.dims.",
        source="assumed",
        only=IS_BUILT,
    )
    dims: Annotated[tuple[int, ...] | None, Dimensions(words={"auto": None}, most=MOST_RANKS)] = parameter(
        "auto",
        "Size of each dimension of a torus, that of neighbouring ranks first. 'auto': two, as near to a square as "
        "the ranks allow. Of a file: the dimensions in which collectives see its ranks, the first of which are "
        "machines; 'auto': those of the file.",
        only=only_kinds("torus", FILE),
    )
    nodes: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        2, "Number of machines.", source="assumed", only=_ONLY_MACHINES
    )
    accelerators_per_node: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        8, "Accelerators of a machine.", source="Zion and ZionEX, ISCA 2022", only=_ONLY_MACHINES
    )
    nics_per_node: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "NICs of a machine. 'auto': one for each accelerator. Another number makes each NIC a node of its own, "
        "behind PCIe.",
        source="Zion and ZionEX, ISCA 2022: 8 accelerators and 8 NICs",
        only=_ONLY_MACHINES,
    )
    nic_policy: Annotated[str, Choice("own", "hash", "striped", "pxn")] = parameter(
        "own",
        "Which NIC of its machine a flow takes. 'own': accelerator i the NIC floor(i x NICs / accelerators). 'hash': "
        "by the hash of routing. 'striped': queue pair number modulo the NICs. 'pxn': over NVLink to the accelerator "
        "that owns the NIC of the destination's rail, and that NIC, as NCCL's PXN; not of 'pcie_servers', which have "
        "no NVLink. With 'hash' and 'striped' all accelerators reach all NICs over their machine's PCIe.",
        only=_ONLY_NICS,
    )
    accelerator: Annotated[str, Choice(*accelerators())] = parameter(
        "A100-40", "What each rank computes with; its peaks, memory and scale-up rate are those of its data sheet."
    )
    accelerators_forward: Annotated[bool | None, Flag(words={"auto": None})] = parameter(
        "auto",
        "Whether frames may pass through an accelerator. 'auto': true; with platform.nic_policy = 'pxn', from a "
        "scale-up link to Ethernet only; of a file, what its format says.",
        only=only_kinds(*FORWARDING, FILE),
    )
    link_rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "100Gbps",
        "Rate of every Ethernet link, in each direction; with platform.fabric_rate, of those of NICs.",
        source="one 100 Gb/s NIC per GPU as in Neo, ISCA 2022",
        only=IS_BUILT,
        ns3=Ns3Attribute(("ns3::FabricDevice::DataRate",), suffix=None),
    )
    fabric_rate: Annotated[int | None, QuantityRule(RATE, least=1, words={"auto": None})] = parameter(
        "auto",
        "Rate of the links between switches, in each direction. 'auto': platform.link_rate.",
        source="one rate everywhere",
        only=_ONLY_LEAVES,
    )
    link_delay: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "500ns",
        "Propagation delay of every Ethernet link.",
        source="HOTI 2020, run line of the published artefact",
        only=IS_BUILT,
        ns3=Ns3Attribute(("ns3::FabricDevice::Delay",), suffix=None),
    )
    link_loss: Annotated[float, Number(least=0, most=1, is_most_allowed=False)] = parameter(
        0.0,
        "Probability that an Ethernet link loses a frame.",
        source="lossless Ethernet",
        only=IS_BUILT,
        ns3=Ns3Attribute(("ns3::FabricDevice::LossProbability",), suffix=None),
    )
    switch_latency: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "300ns",
        "Forwarding latency of an Ethernet switch, from a frame's last byte in to its first byte ready to leave. With "
        "kind = 'file' it is 0ns unless it is given: formats of networks have none.",
        source="assumed",
        only=_ONLY_SWITCHES,
        ns3=Ns3Attribute(("ns3::FabricSwitch::ForwardingLatency",), suffix=""),
    )
    ranks_per_leaf: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Ranks, each with its NIC, on a leaf switch; whole machines where there are some. The last leaf holds what "
        "is left and may be partly filled. 'auto': one machine, all 'pcie_servers', half of platform.ports in a fat "
        f"tree, or {RANKS_PER_LEAF}.",
        source="8 accelerators per node as in Neo, ISCA 2022",
        only=only_kinds(*WHOLE_LEAVES),
    )
    nodes_per_group: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Machines that share leaf switches, one for each rail, at most; the last group holds what is left. 'auto': "
        f"{NODES_PER_GROUP}.",
        source="scalable unit of NVIDIA's DGX SuperPOD with DGX H100, RA-11333-001",
        only=only_kinds(*RAILS),
    )
    oversubscription: Annotated[float | None, Number(least=0, is_least_allowed=False, words={"auto": None})] = (
        parameter(
            "auto",
            "Rate down over rate up of a full leaf: NICs on it over spines, of one rate. 'auto': what "
            "platform.spines gives, or 1.0 without it.",
            source="non-blocking",
            only=_ONLY_LEAVES,
        )
    )
    spines: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Spine switches, in a fat tree those of a pod. 'auto': rate of the NICs of a full leaf over oversubscription "
        "and platform.fabric_rate, which must be whole.",
        source="non-blocking",
        only=_ONLY_LEAVES,
    )
    ports: Annotated[int | None, Count(least=2, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Ports of each switch of a fat tree, an even number k: a full one has k pods of k/2 leaves and k/2 spines, "
        "and k^3/4 ranks. 'auto': the fewest that hold the ranks; what other keys give comes first.",
        source="Al-Fares et al., SIGCOMM 2008, section 2.2",
        only=_ONLY_FAT_TREE,
    )
    leaves_per_pod: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Leaf switches of a pod. 'auto': half of platform.ports.",
        source="Al-Fares et al., SIGCOMM 2008, section 2.2",
        only=_ONLY_FAT_TREE,
    )
    cores: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Core switches, a multiple of platform.spines: the first spine of each pod is linked to the first ones of "
        "them, the second to those after, and so on. 'auto': platform.spines x leaves_per_pod, as many as spines "
        "have links down.",
        source="Al-Fares et al., SIGCOMM 2008, section 2.2",
        only=_ONLY_FAT_TREE,
    )
    routing: Annotated[str, Choice("ecmp", "enhanced_ecmp", "spray", "least_loaded", "static_rail", "hook")] = (
        parameter(
            "ecmp",
            "How one of several shortest ways is chosen. 'ecmp': by a hash of source and destination. 'enhanced_ecmp': "
            "of the queue pair too (Gangidi et al., SIGCOMM 2024). 'spray': at random for each packet. 'least_loaded': "
            "for each packet the shortest queue. 'static_rail': the destination's rail modulo the ways, and what is "
            "left of it at the next switch. 'hook': by a Python function, at set-up.",
        )
    )
    ecmp_seeds: Annotated[str, Choice("per_switch", "common")] = parameter(
        "per_switch",
        "Whether each switch hashes with a seed of its own, or all with one: then each tier chooses as the one "
        "before it and leaves ways unused (polarisation).",
        only=_ONLY_ECMP,
    )
    routing_hook: Annotated[str | None, FunctionName(words={"none": None})] = parameter(
        "none",
        "Python function that chooses ways: f(src, dst, queue_pair, ways) gets the names of both accelerators, the "
        "queue pair's number and each way as the names of its nodes, and returns the index of one.",
        only=_ONLY_HOOK,
    )
    scale_up: ScaleUpConfig = ScaleUpConfig()
    pcie: PcieConfig = PcieConfig()
