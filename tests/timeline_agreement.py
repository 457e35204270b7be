# SPDX-License-Identifier: GPL-2.0-only
"""That a timeline says what the tables say: each slice, arrow and value derived from them again, to the picosecond."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np

from astra_py.results import Result
from perfetto_cases import Slice, Timeline

#: Tracks of operations that are in no stream.
BESIDE = {"compute": "compute", "collective": "collectives", "memory": "memory"}
Seen = tuple[str, str, str, int, int, bool]


def require_agreement(result: Result, timeline: Timeline) -> None:
    """Require that a timeline that leaves out nothing shows all of a result, and nothing else."""
    assert timeline.metadata["left_out"] == []
    shown = [
        operations(result, timeline),
        messages(result, timeline),
        collectives(result, timeline),
        exposed(result, timeline),
        links(result, timeline),
        pauses(result, timeline),
    ]
    assert sum(shown) == len(timeline.slices), "there are slices of which no table has anything"
    queues(result, timeline)
    order(result, timeline)


def _end(result: Result, moment: int) -> int:
    return int(result.manifest["run"]["time_ps"]) if moment < 0 else moment


def _title(each: Slice) -> str:
    """The name of a track without the number of its lane."""
    head, _, lane = each.track.rpartition(" (")
    return head if lane.endswith(")") and lane[:-1].isdigit() else each.track


def _seen(each: Slice) -> Seen:
    unfinished = bool(each.args.get("unfinished", False))
    return each.process, _title(each), each.name, each.start_ps, each.end_ps, unfinished


def operations(result: Result, timeline: Timeline) -> int:
    """Each operation that began is a slice on the track of its stream."""
    found = {each.args["operation"]: _seen(each) for each in timeline.slices if "operation" in each.args}
    expected = {
        row.operation: (
            f"rank {row.rank}",
            f"stream {row.stream}" if row.stream else BESIDE[row.kind],
            row.name,
            row.start_ps,
            _end(result, row.end_ps),
            row.end_ps < 0,
        )
        for row in result.operations.itertuples()
        if row.start_ps >= 0
    }
    assert found == expected
    # a stream runs one at a time, and needs one track
    assert not [each for each in timeline.slices if each.track.startswith("stream ") and each.track != _title(each)]
    return len(found)


def messages(result: Result, timeline: Timeline) -> int:
    """Each message is a slice at its sender and, once it is there, at its receiver, and an arrow."""
    names = dict(zip(result.collectives.collective, result.collectives.name, strict=True))
    sends = {each.args["message"]: each for each in timeline.slices if _title(each) == "NIC sends"}
    receives = {each.args["message"]: each for each in timeline.slices if _title(each) == "NIC receives"}
    table = list(result.messages.itertuples())
    for row in table:
        name = names.get(row.collective, "message")
        one = sends[row.message]
        left = _end(result, row.sent_ps)
        assert _seen(one) == (f"rank {row.src}", "NIC sends", name, row.posted_ps, left, row.sent_ps < 0)
        about = {"message": row.message, "src": row.src, "dst": row.dst, "bytes": row.size_bytes}
        about["collective"] = row.collective
        assert {key: one.args[key] for key in about} == about
        assert (one.args["phase"], one.args["chunk"]) == (row.phase, row.chunk)
        if row.delivered_ps < 0:
            assert row.message not in receives
            continue
        other = receives[row.message]
        assert _seen(other) == (f"rank {row.dst}", "NIC receives", name, left, row.delivered_ps, False)
        assert other.args == about
        assert timeline.arrows[row.message] == (one, other)
        assert timeline.moments[row.message] == (row.posted_ps, left)
    delivered = sum(row.delivered_ps >= 0 for row in table)
    assert (len(sends), len(receives), len(timeline.arrows)) == (len(table), delivered, delivered)
    return len(sends) + len(receives)


def collectives(result: Result, timeline: Timeline) -> int:
    """Collectives and iterations are slices of the run."""
    found = {each.args["collective"]: each for each in timeline.of("run", "collectives")}
    assert len(found) == len(result.collectives)
    for row in result.collectives.itertuples():
        start = round(row.start_us * 1e6)
        each = found[row.collective]
        assert _seen(each) == ("run", "collectives", row.name, start, start + row.time_ps, False)
        assert each.args.get("bottleneck_at", "") == row.bottleneck_at
        assert each.args["size_bytes"] == row.size_bytes
    iterations = timeline.of("run", "iterations")
    assert sorted(_seen(each)[1:5] for each in iterations) == sorted(
        (
            f"iterations of {row.job}" if row.job else "iterations",
            f"iteration {row.iteration}",
            round(row.start_us * 1e6),
            round(row.start_us * 1e6) + row.time_ps,
        )
        for row in result.iterations.itertuples()
    )
    return len(found) + len(iterations)


def exposed(result: Result, timeline: Timeline) -> int:
    """A rank either computes or has exposed communication, from its job's start to its last operation's end."""
    shown = 0
    table = result.operations[result.operations.start_ps >= 0]
    for rank, rows in table.groupby("rank"):
        starts = [(row.start_ps, _end(result, row.end_ps)) for row in rows.itertuples() if row.kind == "compute"]
        gaps = [(each.start_ps, each.end_ps) for each in timeline.of(f"rank {rank}", "exposed communication")]
        assert all(low < high for low, high in gaps)
        moments = sorted({moment for interval in starts + gaps for moment in interval})
        for low, high in pairwise(moments):
            computes = any(start <= low and high <= end for start, end in starts)
            is_exposed = any(start <= low and high <= end for start, end in gaps)
            assert computes != is_exposed, f"rank {rank}, {low} to {high}"
        last = max(_end(result, moment) for moment in rows.end_ps)
        assert not moments or moments[-1] == last
        shown += len(gaps)
    if not result.is_partial and len(result.iterations):
        for job, rows in result.iterations.groupby("job"):
            if rows["rank"].nunique() == 1:
                rank = int(rows["rank"].iloc[0])
                gaps = timeline.of(f"rank {rank}", "exposed communication")
                total = sum(each.end_ps - each.start_ps for each in gaps)
                assert abs(total - rows.exposed_us.sum() * 1e6) <= len(rows), f"job {job!r}"
    return shown


def _process_of(result: Result) -> dict[int, str]:
    """The process of each direction of a link."""
    columns = (result.links[name].tolist() for name in ("channel", "from", "to", "rate_Gbps"))
    return {
        channel: f"link {one} to {other}, {rate:g} Gb/s, channel {channel}"
        for channel, one, other, rate in zip(*columns, strict=True)
    }


def links(result: Result, timeline: Timeline) -> int:
    """Busy slices have all that a link carried, cover the bins in which it did, and counters have the bins' values."""
    bins, process = result.link_bins, _process_of(result)
    named = {name: channel for channel, name in process.items()}
    slices: dict[int, list[Slice]] = defaultdict(list)
    for each in timeline.slices:
        if each.process in named and each.track == "busy":
            slices[named[each.process]].append(each)
    counted = {named[name] for name, _ in timeline.counters if name in named}
    assert counted == set(bins.channel)
    assert set(slices) == set(bins.channel[bins.line_bytes > 0])
    carried = result.links.set_index("channel").line_bytes
    for channel, mine in bins.groupby("channel"):
        shown = sum(each.args["line_bytes"] for each in slices[channel])
        assert shown == mine.line_bytes.sum()
        # of a run that was stopped, what is on the wire is counted as a whole there
        assert shown == carried[channel] or (result.is_partial and shown < carried[channel])
        starts = np.round(mine.start_us.to_numpy() * 1e6).astype(np.int64)
        ends = np.append(starts[1:], round(float(mine.start_us.iloc[-1] + mine.time_us.iloc[-1]) * 1e6))
        for start, end, row in zip(starts.tolist(), ends.tolist(), mine.itertuples(), strict=True):
            over = [each for each in slices[channel] if each.start_ps <= start and end <= each.end_ps]
            names = ["full" if row.utilisation_percent >= 90 else "busy"] if row.line_bytes else []
            assert [each.name for each in over] == names
            for each in over:
                assert each.args["max_queue_bytes"] >= row.max_queue_bytes
        for counter, column in (("utilisation %", "utilisation_percent"), ("longest queue B", "max_queue_bytes")):
            values = timeline.counters[process[channel], counter]
            np.testing.assert_allclose(_at(values, starts), mine[column], atol=5e-4)
            assert values[-1][1] == 0
            assert values[-1][0] <= ends[-1]
    return sum(map(len, slices.values()))


def _at(values: list[tuple[int, float]], moments: np.ndarray) -> np.ndarray:
    """What a counter says at moments: the last value from before or then."""
    times, found = (np.array(each) for each in zip(*values, strict=True))
    return found[np.searchsorted(times, moments, side="right") - 1]


def pauses(result: Result, timeline: Timeline) -> int:
    """Each episode of a pause is a slice of the link that is held."""
    process = _process_of(result)
    found = sorted(_seen(each) for each in timeline.slices if each.track.startswith("paused, "))
    assert found == sorted(
        (
            process[row.channel],
            f"paused, priority {row.priority}",
            f"paused by {row.by}",
            row.start_ps,
            _end(result, row.end_ps),
            row.end_ps < 0,
        )
        for row in result.pauses.itertuples()
    )
    return len(found)


def queues(result: Result, timeline: Timeline) -> None:
    """What a NIC has to send, at each moment at which it changes, is what was posted and has not left."""
    for rank, rows in result.messages.groupby("src"):
        values = timeline.counters[f"rank {rank}", "NIC to send B"]
        posted, sent, size = (rows[name].to_numpy() for name in ("posted_ps", "sent_ps", "size_bytes"))
        moments = np.unique(np.concatenate([[0], posted, sent[sent >= 0]]))
        waits = (posted <= moments[:, None]) & ((sent > moments[:, None]) | (sent < 0))
        np.testing.assert_array_equal(_at(values, moments), waits @ size)
        assert {moment for moment, _ in values} <= set(moments.tolist())
    counted = {process for process, counter in timeline.counters if counter == "NIC to send B"}
    assert counted == {f"rank {rank}" for rank in result.messages.src.unique()}


def order(result: Result, timeline: Timeline) -> None:
    """The run, then the ranks in their order, then links; on a rank what it does before what its NIC does."""
    ranks = [f"rank {rank}" for rank in range(result.manifest["platform"]["ranks"])]
    names = list(timeline.processes)
    assert names[: 1 + len(ranks)] == ["run", *ranks]
    channels = [int(name.rpartition(" ")[2]) for name in names[1 + len(ranks) :]]
    assert channels == sorted(channels)
    heads = ["stream", "compute", "exposed", "collectives", "memory", "NIC sends", "NIC receives"]
    for rank in ranks:
        tracks = timeline.processes[rank]
        places = [next(i for i, head in enumerate(heads) if track.startswith(head)) for track in tracks]
        assert places == sorted(places), tracks
        streams = [track for track in tracks if track.startswith("stream ")]
        kinds = [{each.args["kind"] for each in timeline.of(rank, track)} for track in streams]
        assert [i for i, kind in enumerate(kinds) if "compute" in kind] == list(
            range(sum("compute" in k for k in kinds))
        )
