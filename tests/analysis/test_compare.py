# SPDX-License-Identifier: GPL-2.0-only
"""Engines, transports and algorithms side by side: what is compared, what is refused, and what a tolerance says."""

import json

import pandas as pd
import pytest

import astra_py as ap
from astra_py.analysis.knobs import _DETAILS, _FABRIC_KNOBS, _KNOBS, _PCIE_KNOBS, _POOLS, _SCALE_UP_KNOBS
from astra_py.analysis.stretches import Part
from astra_py.config.params import parameter_table
from astra_py.errors import ConfigError
from small_job import write_job

RING = ("platform.ranks=4", "collective.all_reduce=ring")
ASTRA_NS3 = [
    "transport.preset=astra_ns3",
    "system.endpoint_delay=10ns",
    "system.local_memory_bandwidth=1600GB/s",
    "platform.switch_latency=0ns",
]
JOB = "workloads/astra2020_16.toml"


def parts(row):
    return {part: row[f"{part}_us"] for part in Part}


@pytest.fixture(scope="module")
def ring():
    return ap.compare({}, *RING, collective="all_reduce", sizes=[2**13, 2**20])


def test_every_engine_has_a_column_and_a_difference(ring):
    assert ring.labels == ("packet", "analytic")
    table = ring.collectives
    assert list(table["size_bytes"]) == [2**13, 2**20]
    expected = (table["analytic_us"] - table["packet_us"]) / table["packet_us"]
    pd.testing.assert_series_equal(table["analytic_difference"], expected, check_names=False)
    assert set(ring.table["level"]) == {"iteration", "collective", "phase"}
    assert list(ring.phases["phase"].unique()) == ["reduce_scatter, between", "all_gather, between"]
    assert not ring.table.isna().any().any()


def test_the_parts_add_up_to_the_time(ring):
    for row in ring.why.to_dict("records"):
        assert sum(parts(row).values()) == pytest.approx(row["packet_us"])
        assert row["packet_us"] - row["analytic_us"] == pytest.approx(row["analytic_difference_us"])
    assert list(ring.why["packet_us"]) == list(ring.collectives["packet_us"])
    assert list(ring.why["knob"]) == ["platform.link_delay", "platform.link_rate"]


def test_stretches_are_the_paths(ring):
    each = ring.stretches.groupby("run")
    for run, stretches in each:
        assert (stretches["start_ps"].iloc[1:].to_numpy() == stretches["end_ps"].iloc[:-1].to_numpy()).all()
        length = (stretches["end_ps"] - stretches["start_ps"]).sum()
        assert length == ring.why[ring.why["run"] == run]["time_ps"].item()


def test_queueing_is_told_by_link(tmp_path):
    given = ["collective.gather=direct", "transport.congestion_control=none"]
    pair = ap.compare({}, "platform.ranks=4", *given, engines=["packet"], collective="gather", sizes=[2**17, 2**18])
    # three senders of one port: all the queueing there
    assert list(pair.queueing["run"]) == [0, 1]
    assert list(pair.queueing["link"]) == ["switch0 -> rank0"] * 2
    assert list(pair.queueing["queueing_us"]) == pytest.approx(list(pair.why["queueing_us"]))
    spine = ["platform.kind=leaf_spine", "platform.ranks=8", "platform.ranks_per_leaf=4", "platform.oversubscription=4"]
    given[0] = "collective.all_reduce=direct"
    many = ap.compare({}, *spine, *given, engines=["packet"], collective="all_reduce", sizes=[2**20])
    assert len(many.queueing) > 1
    assert many.queueing["queueing_us"].is_monotonic_decreasing
    assert many.queueing["queueing_us"].sum() == pytest.approx(many.why["queueing_us"].item())
    assert many.queueing["link"].iloc[0] == many.why["longest_queue"].item()
    assert many.queueing["queueing_us"].iloc[0] == pytest.approx(many.why["longest_queue_us"].item())
    assert json.loads(many.to_json())["queueing"] == many.queueing.to_dict("records")
    assert "### queueing by link" in many.to_markdown()
    assert "longest queue" in many.report()
    written = pd.read_csv(many.save(tmp_path / "out") / "queueing.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(written, many.queueing, check_dtype=False)


def test_without_a_queue_there_is_no_queueing():
    alone = ap.compare({}, "platform.ranks=2", engines=["packet"], collective="sendrecv", sizes=[2**13])
    assert not len(alone.queueing)
    assert "queueing" not in alone.to_markdown()


def test_a_tolerance_is_a_share_of_the_first_column(ring):
    largest = ring.collectives["analytic_difference"].abs().max()
    assert ring.is_within_tolerance
    for tolerance, is_within in ((largest * 1.01, True), (largest * 0.99, False), (0.0, False)):
        again = ap.compare({}, *RING, collective="all_reduce", sizes=[2**13, 2**20], tolerance=tolerance)
        assert again.is_within_tolerance == is_within
        assert bool(len(again.outside)) != is_within


def test_transports_and_algorithms_are_varied():
    vary = {"collective.all_reduce": ["ring", "direct"], "transport.window": ["none", "5000B"]}
    both = ap.compare({}, "platform.ranks=4", engines=["packet"], vary=vary, collective="all_reduce", sizes=[2**20])
    assert both.labels == tuple(
        f"packet, collective.all_reduce={a}, transport.window={w}"
        for a in ("ring", "direct")
        for w in ("none", "5000B")
    )
    assert list(both.why["algorithm"]) == ["ring", "ring", "direct", "direct"]
    assert (both.why["window_us"] > 0).tolist() == [False, True, False, True]


def test_a_job_is_compared_by_iteration_collective_and_phase():
    job = ap.compare(JOB, engines=["packet", "analytic"])
    assert list(job.iterations["iteration"]) == [0, 1]
    assert len(job.collectives) == len(job.why)
    assert (job.why["unexplained_ps"] < 0.01 * job.why["time_ps"]).all()
    assert list(job.why["packet_us"]) == pytest.approx(list(job.collectives["packet_us"]))
    joined = job.why[job.why["waiting_for_others_us"] > 0]
    assert len(joined)
    assert joined["last_to_join"].str.startswith("rank ").all()


def test_the_gap_to_another_simulators_semantics_is_explained_part_by_part():
    platform = ("platform.ranks=8", "platform.link_rate=400Gbps", "platform.link_delay=500ns")
    gap = ap.compare(
        {},
        *platform,
        engines=["packet"],
        variants={"own": ["platform.switch_latency=0ns", "transport.congestion_control=none"], "astra_ns3": ASTRA_NS3},
        collective="all_reduce",
        sizes=[2**20],
    )
    own, theirs = gap.why.to_dict("records")
    assert own["unexplained_ps"] == theirs["unexplained_ps"] == 0
    (difference,) = gap.gaps.to_dict("records")
    assert difference["packet_us"] == pytest.approx(sum(parts(difference).values()))
    assert difference["packet_us"] == pytest.approx(theirs["packet_us"] - own["packet_us"])
    # their receiver is told by the sender's ACK: each of 14 steps has the way back, too
    assert difference["propagation_us"] == pytest.approx(14 * 1.0)
    # 10 ns before the first post, then 10 ns a step, and 7 times 3 x floor(131,072 / 1,600) ns of local memory
    assert difference["host_us"] == pytest.approx(0.01 + 14 * 0.01 + 7 * 3 * 81 / 1000)
    assert difference["headers_us"] > 0
    shown = [line.split() for line in gap.report().splitlines() if line.startswith(("host ", "propagation "))]
    assert [line[0] for line in shown] == ["propagation", "host"]
    assert [float(line[-1]) for line in shown] == pytest.approx([14.0, 1.851])
    assert "astra_ns3 against own" in gap.to_markdown()


def test_a_log_is_what_is_compared_with():
    log = pd.DataFrame({"size_bytes": [2**20], "time_us": [200.0], "algbw_GBps": [5.0], "busbw_GBps": [7.5]})
    against = ap.compare({}, *RING, collective="all_reduce", sizes=[2**13, 2**20], reference=log, tolerance=0.5)
    assert against.labels == ("measured", "packet", "analytic")
    row = against.collectives[against.collectives["size_bytes"] == 2**20].iloc[0]
    assert row["packet_difference"] == pytest.approx(row["packet_us"] / 200 - 1)
    assert against.is_within_tolerance
    none = ap.compare({}, *RING, collective="all_reduce", sizes=[2**13], reference=log, tolerance=0.5)
    assert not none.is_within_tolerance
    assert "nothing to compare" in none.verdict


def test_what_is_written_is_what_is_compared(ring, tmp_path):
    ring.save(tmp_path / "out")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "table.csv", keep_default_na=False), ring.table, check_dtype=False
    )
    assert len(pd.read_csv(tmp_path / "out" / "stretches.csv")) == len(ring.stretches)
    assert "| collective |" in (tmp_path / "out" / "comparison.md").read_text()
    content = json.loads(ring.to_json())
    assert content["labels"] == ["packet", "analytic"]
    assert [row["packet_us"] for row in content["why"]] == list(ring.why["packet_us"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engines": ["packt"]}, "did you mean 'packet'"),
        ({"engines": []}, "one or more"),
        ({"engines": ["packet", "packet"]}, "compared with itself"),
        ({"vary": {"transport.window": []}}, "transport.window has no value"),
        ({"vary": {"transport.windw": ["none"]}}, "transport.windw"),
        ({"sizes": None}, "collective is given without sizes"),
        ({"sizes": []}, "sizes: there is none"),
        ({"vary": {"engine": ["packet", "analytic"]}}, "their names as engines"),
        ({"group": (0, 9)}, "rank 9 is not on the platform"),
        ({"tolerance": -0.1}, "0 or more"),
        ({"tolerance": float("nan")}, "0 or more"),
        ({"reference": pd.DataFrame({"size": [1]})}, "no column 'size_bytes'"),
        ({"reference": pd.DataFrame({"size_bytes": [1, 1], "time_us": [1.0, 2.0]})}, "a size twice"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        ap.compare({}, *RING, **({"collective": "all_reduce", "sizes": [1024]} | arguments))


def test_a_log_needs_a_collective():
    with pytest.raises(ConfigError, match="of one collective"):
        ap.compare(JOB, reference=pd.DataFrame({"size_bytes": [1], "time_us": [1.0]}))


def test_groups_are_of_single_collectives():
    with pytest.raises(ConfigError, match="with collective"):
        ap.compare(JOB, group=(0, 1))
    some = ap.compare({}, *RING, engines=["packet"], collective="all_reduce", sizes=[1024], group=(1, 2))
    assert list(some.why["ranks"]) == [2]
    assert list(ap.compare({}, *RING, engines=["packet"], collective="sendrecv", sizes=[0]).why["ranks"]) == [2]
    assert list(ap.compare({}, *RING, engines=["packet"], collective="barrier").collectives["size_bytes"]) == [0]


def test_parts_are_drawn_as_stacked_bars(ring):
    pytest.importorskip("matplotlib").use("Agg")
    ax = ring.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "all_reduce of 8192 B: all_reduce",
        "all_reduce of 1048576 B: all_reduce",
    ]
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "payload",
        "headers",
        "propagation",
        "switching",
    ]
    # each begins where the one before ends, and the last one ends at the collective's time
    for bars in zip(*ax.containers, strict=True):
        edges = [0.0, *(bar.get_x() + bar.get_width() for bar in bars)]
        assert [bar.get_x() for bar in bars] == pytest.approx(edges[:-1])
    assert [bar.get_x() + bar.get_width() for bar in ax.containers[-1]] == pytest.approx(list(ring.why["packet_us"]))
    assert ring.plot(ax) is ax


def test_without_packets_there_is_no_why():
    alone = ap.compare({}, *RING, engines=["analytic"], collective="all_reduce", sizes=[1024])
    with pytest.raises(ConfigError, match="no packet run"):
        _ = alone.why
    with pytest.raises(ConfigError, match="no packet run"):
        alone.plot()
    assert "columns compared" in alone.report()


def test_knobs_are_parameters():
    keys = {parameter.key for parameter in parameter_table()}
    tables = (_KNOBS, _SCALE_UP_KNOBS, _PCIE_KNOBS, _FABRIC_KNOBS, _DETAILS, _POOLS)
    others = {"collective.in_flight", "platform.kind", "platform.file", "platform.routing"}
    losses = {"transport.recovery", "switch.pfc", "platform.link_loss"}
    named = (others | losses).union(*(table.values() for table in tables))
    assert named - {""} <= keys


@pytest.mark.parametrize(
    ("overrides", "knob"),
    [
        (["platform.kind=leaf_spine", "platform.ranks=16", "platform.oversubscription=4"], "platform.oversubscription"),
        (["platform.kind=zionex", "platform.nodes=2"], "platform.routing"),
        (["platform.kind=zionex", "platform.nodes=1"], "platform.scale_up.rate"),
        (["platform.ranks=4", "transport.window=5000B"], "transport.window"),
        (["platform.ranks=4", "system.endpoint_delay=1ms"], "system.endpoint_delay"),
        (["platform.ranks=4", "collective.in_flight=1"], "collective.in_flight"),
        (["platform.ranks=4", "transport.send_latency=1ms"], "transport.send_latency"),
    ],
)
def test_the_largest_part_names_its_knob(overrides, knob):
    changes = ["transport.congestion_control=none", *overrides]
    alone = ap.compare({}, *changes, engines=["packet"], collective="all_to_all", sizes=[2**20])
    assert alone.why["knob"].item() == knob
    assert f"{knob} moves it" in alone.report()


LOSSY = ("platform.ranks=4", "collective.gather=direct", "switch.pfc=false", "switch.buffer=100kB")
SPINE = ("platform.kind=leaf_spine", "platform.ranks=16", "platform.oversubscription=4")
#: Part: kind, size, what makes it the largest one, the key that is named, a value that makes the part shorter.
KNOBS = {
    "payload": ("all_reduce", 2**20, ("platform.ranks=4",), "platform.link_rate", "200Gbps"),
    "headers": ("all_reduce", 2**16, ("platform.ranks=4", "transport.payload=64B"), "transport.payload", "1024B"),
    "propagation": ("all_reduce", 2**12, ("platform.ranks=4",), "platform.link_delay", "100ns"),
    "switching": (
        "all_reduce",
        2**12,
        ("platform.ranks=4", "platform.switch_latency=5us"),
        "platform.switch_latency",
        "0ns",
    ),
    "queueing": ("all_to_all", 2**20, SPINE, "platform.oversubscription", "1"),
    "host": (
        "all_reduce",
        2**12,
        ("platform.ranks=4", "transport.receive_latency=9us"),
        "transport.receive_latency",
        "1us",
    ),
    "pools": ("all_to_all", 2**20, ("platform.ranks=4", "collective.in_flight=1"), "collective.in_flight", "3"),
    "window": ("all_to_all", 2**20, ("platform.ranks=4", "transport.window=5000B"), "transport.window", "none"),
    "pauses": ("all_to_all", 2**21, (*SPINE, "switch.buffer=400kB"), "switch.buffer", "32MB"),
    "congestion_control": (
        "all_to_all",
        2**21,
        (*SPINE, "transport.congestion_control=hpcc"),
        "transport.congestion_control",
        "none",
    ),
    "loss_recovery": ("gather", 2**20, LOSSY, "transport.recovery", "selective_repeat"),
    "loss_recovery, no room": (
        "gather",
        2**20,
        (*LOSSY, "transport.recovery=selective_repeat"),
        "switch.pfc",
        "true",
    ),
    "loss_recovery, on links": (
        "sendrecv",
        1000,
        ("platform.ranks=2", "platform.link_loss=0.2", "seed=1"),
        "platform.link_loss",
        "0",
    ),
    "payload, NVLink": (
        "all_to_all",
        2**20,
        ("platform.kind=zionex", "platform.nodes=1", "platform.nics_per_node=2", "platform.nic_policy=hash"),
        "platform.scale_up.rate",
        "600GB/s",
    ),
    "payload, behind PCIe": (
        "all_reduce",
        2**22,
        ("platform.kind=zionex", "platform.nodes=2", "platform.nic_policy=hash", "platform.link_rate=400Gbps"),
        "platform.pcie.rate",
        "63GB/s",
    ),
}


@pytest.mark.parametrize("case", KNOBS)
def test_the_knob_that_is_named_moves_the_part(case):
    kind, size, overrides, knob, better = KNOBS[case]
    part = case.partition(",")[0]
    given = ["transport.congestion_control=none", *overrides]
    variants = {"as it is": [], "better": [f"{knob}={better}"]}
    both = ap.compare({}, *given, engines=["packet"], variants=variants, collective=kind, sizes=[size])
    first, second = both.why.to_dict("records")
    assert (first["largest_part"], first["knob"]) == (part, knob)
    assert second[f"{part}_us"] < 0.7 * first[f"{part}_us"]
    assert second["packet_us"] < first["packet_us"]


def test_jobs_and_flows_beside_each_other_have_their_own_rows():
    scenario = {
        "platform": {"kind": "leaf_spine", "ranks": 8, "ranks_per_leaf": 4, "oversubscription": 2},
        "jobs": {
            name: {"ranks": ranks, "workload": {"kind": "dlrm", "preset": "dlrm_s", "iterations": 1}}
            for name, ranks in {"a": "0-3", "b": "4-7"}.items()
        },
        "background": {"burst": {"kind": "incast", "senders": 3, "receiver": 5, "size": "200kB", "rounds": 2}},
    }
    shared = ap.compare(scenario, engines=["packet", "analytic"])
    assert [(row["job"], row["iteration"]) for row in shared.iterations.to_dict("records")] == [("a", 0), ("b", 0)]
    assert set(shared.why["job"]) == {"a", "b", "burst"}
    assert (shared.why["unexplained_ps"] < 0.01 * shared.why["time_ps"]).all()
    (burst,) = shared.why[shared.why["job"] == "burst"].to_dict("records")
    assert sum(parts(burst).values()) == pytest.approx(burst["packet_us"])
    assert "a, iteration 0" in shared.report()


def test_a_report_of_many_variants_fits_a_terminal_and_tells_the_same(tmp_path):
    job = write_job(tmp_path)
    vary = {"transport.window": ["none", "bdp"], "collective.all_reduce": ["ring", "direct"], "seed": [1, 2]}
    many = ap.compare(job, vary=vary)
    lines = many.report().splitlines()
    assert max(map(len, lines)) <= 100
    # each letter is explained, and each time stands under its own
    variants = list(dict.fromkeys(case.variant for case in many.cases))
    assert lines[:9] == ["variants:", *(f"  {'ABCDEFGH'[i]}: {name}" for i, name in enumerate(variants))]
    start = lines.index(next(line for line in lines if line.startswith("iteration 0 ")))
    shown = [line.removeprefix("iteration 0").split() for line in lines[start : start + 16]]
    row = many.iterations.iloc[0]
    for i, case in enumerate(many.cases):
        assert shown[i][:2] == [case.engine, "ABCDEFGH"[i // 2]]
        assert float(shown[i][2]) == pytest.approx(row[f"{case.label}_us"], abs=5e-4)
        if i:
            assert float(shown[i][3]) == pytest.approx(100 * row[f"{case.label}_difference"], abs=5e-3)
    # one variant is told as ever, side by side
    assert ap.compare(job).report().splitlines()[0].split() == ["what", "packet", "us", "analytic", "us", "difference"]
