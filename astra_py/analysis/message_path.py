# SPDX-License-Identifier: GPL-2.0-only
"""What a message was held up by on its way: back from its last byte, frame by frame, by the records of a watched run.

At each port either a frame waited for nothing, and it is followed up its way; or it waited for an own frame of the same
message, which is followed instead; or what it waited for is named by what was on the wire, by a pause, or by what held
its queue pair back. What none of these explains is unexplained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.analysis.frame_index import FrameIndex
from astra_py.analysis.stretches import MessageStep, Part, Stretch, split_bytes
from astra_py.collectives.schedule import EdgeOn
from astra_py.engines.watch import FrameKind, Hold

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["MessagePaths"]

#: Detail of stretches of headers that are those of frames without data.
ACKNOWLEDGEMENTS = "acknowledgements"

_PSN_MASK = 0xFFFFFF
#: What a queue pair that is held back spends its time on.
_HELD = {Hold.PACING: Part.CONTROL, Hold.WINDOW: Part.WINDOW, Hold.CONTROL_WINDOW: Part.CONTROL}


class MessagePaths:
    """Explains messages of a watched run.

    Parameters
    ----------
    record : the run; its log has the frames of the messages' ways, and of the ways of their acknowledgements.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.index = FrameIndex(record)
        self.delay = np.repeat(record.arrays.link_delay_ps, 2).tolist()
        self.latency = record.arrays.node_latency_ps.tolist()
        sender, receiver = record.channel_ends
        self.transmitter = sender.tolist()
        nodes = np.flatnonzero(record.arrays.node_rank >= 0)
        self.node_of_rank = dict(zip(record.arrays.node_rank[nodes].tolist(), nodes.tolist(), strict=True))
        self.channels_into = {node: np.flatnonzero(receiver == node).tolist() for node in nodes.tolist()}
        self.channels_from = {node: np.flatnonzero(sender == node).tolist() for node in nodes.tolist()}
        self._parts: dict[int, list[int]] = {}
        for part, message in enumerate(self.index.log.part_message.tolist()):
            self._parts.setdefault(message, []).append(part)

    def parts_of(self, message: int) -> list[int]:
        """Rows of the log's parts of a message."""
        return self._parts.get(message, [])

    def explain(self, step: MessageStep) -> list[Stretch]:
        """The stretches of a message, in order and contiguous, from its post to the moment."""
        return _MessageWalk(self, step).stretches()


class _MessageWalk:
    """One walk back in time; ``self._at`` is how far it has come."""

    def __init__(self, paths: MessagePaths, step: MessageStep) -> None:
        self._paths, self._index, self._log = paths, paths.index, paths.index.log
        self._step = step
        record, log = paths.record, self._log
        columns = record.columns
        self._src = int(columns.message_src[step.message])
        self._dst = int(columns.message_dst[step.message])
        self._instance = int(columns.message_instance[step.message])
        self._parts = paths.parts_of(step.message)
        self._of_flow = {
            int(log.part_flow[part]): (int(log.part_first_psn[part]), int(log.part_packets[part]))
            for part in self._parts
        }
        #: No frame of the message is at its port before.
        self._floor = step.start_ps + record.transport.send_latency_ps
        self._at = step.end_ps
        self._stretches: list[Stretch] = []

    def stretches(self) -> list[Stretch]:
        self._moment()
        self._spend(self._floor, Part.UNEXPLAINED)
        self._floor = self._step.start_ps
        self._spend(self._step.start_ps, Part.HOST, detail="send latency")
        return self._stretches[::-1]

    def _spend(self, start_ps: int, part: Part, channel: int = -1, detail: str = "") -> None:
        """What lies between ``start_ps`` and the point that the walk has come to was spent on ``part``."""
        start_ps = max(start_ps, self._floor)
        if start_ps < self._at:
            self._stretches.append(Stretch(start_ps, self._at, part, channel, detail))
            self._at = start_ps

    # ------------------------------------------------------------------------------- the moment

    def _moment(self) -> None:
        if self._step.moment == EdgeOn.SENT:
            frame = self._leaving(self._at)
        elif self._step.moment == EdgeOn.DELIVERED:
            self._spend(self._at - self._paths.record.transport.receive_latency_ps, Part.HOST, detail="receive latency")
            frame = self._arriving(self._dst, FrameKind.DATA)
        else:
            # a NAK of a later packet tells of all before it, too
            frame = self._arriving(self._src, FrameKind.ACK, FrameKind.NAK)
            if frame < 0:
                frame = self._out_of_band()
        if frame >= 0:
            self._follow(frame)

    def _leaving(self, at: int) -> int:
        """The data of the message whose last bit leaves its NIC at ``at``."""
        for channel in self._paths.channels_from[self._paths.node_of_rank[self._src]]:
            frame = self._index.ending(channel, at)
            if self._is_own(frame):
                return frame
        return -1

    def _arriving(self, rank: int, *kinds: FrameKind) -> int:
        """The frame of the message's queue pairs whose last byte arrives now at a rank, or -1; propagation is spent."""
        frame, channel = self._arrival(rank, *kinds)
        if frame >= 0:
            self._spend(int(self._log.frame_end_ps[frame]), Part.PROPAGATION, channel)
        return frame

    def _arrival(self, rank: int, *kinds: FrameKind) -> tuple[int, int]:
        log = self._log
        for channel in self._paths.channels_into[self._paths.node_of_rank[rank]]:
            frame = self._index.ending(channel, self._at - self._paths.delay[channel])
            if frame >= 0 and int(log.frame_flow[frame]) in self._of_flow and int(log.frame_kind[frame]) in kinds:
                return frame, channel
        return -1, -1

    def _out_of_band(self) -> int:
        """The data that an acknowledgement without a frame tells of; the way back is spent."""
        traffic, at = self._paths.record.traffic, self._at
        for wire in traffic.of_whole(np.array([self._step.message])).tolist():
            flow = int(traffic.flow[wire])
            back = traffic.back[traffic.back_ptr[flow] : traffic.back_ptr[flow + 1]].tolist()
            hops = [
                (
                    self._paths.delay[channel],
                    self._paths.latency[self._paths.transmitter[channel]] if hop else 0,
                    channel,
                )
                for hop, channel in enumerate(back)
            ]
            came = at - sum(delay + latency for delay, latency, _ in hops)
            if not self._arrives(came):
                continue
            for delay, latency, channel in reversed(hops):
                self._spend(self._at - delay, Part.PROPAGATION, channel)
                self._spend(self._at - latency, Part.SWITCHING, channel)
            return self._arriving(self._dst, FrameKind.DATA)
        return -1

    def _arrives(self, at: int) -> bool:
        for channel in self._paths.channels_into[self._paths.node_of_rank[self._dst]]:
            frame = self._index.ending(channel, at - self._paths.delay[channel])
            if frame >= 0 and int(self._log.frame_flow[frame]) in self._of_flow:
                return True
        return False

    # ------------------------------------------------------------------------------- frames

    def _is_own(self, frame: int) -> bool:
        """Whether a frame is data of this very message."""
        if frame < 0:
            return False
        log = self._log
        first, packets = self._of_flow.get(int(log.frame_flow[frame]), (0, 0))
        is_data = int(log.frame_kind[frame]) == FrameKind.DATA
        return is_data and (int(log.frame_psn[frame]) - first) & _PSN_MASK < packets

    def _follow(self, frame: int) -> None:
        """From a frame whose last bit has just left its port back to the message's post."""
        while frame >= 0 and self._at > self._floor:
            self._transmission(frame, int(self._log.frame_start_ps[frame]))
            frame = self._waited(frame)

    def _transmission(self, frame: int, start_ps: int) -> None:
        """The time since ``start_ps`` was that of a frame on its wire: of its payload and of its headers."""
        log, channel = self._log, int(self._log.frame_channel[frame])
        payload, line = int(log.frame_payload_bytes[frame]), int(log.frame_line_bytes[frame])
        detail = "" if int(log.frame_kind[frame]) == FrameKind.DATA else ACKNOWLEDGEMENTS
        self._spend(split_bytes(start_ps, self._at, payload, line), Part.HEADERS, channel, detail)
        self._spend(start_ps, Part.PAYLOAD, channel)

    def _waited(self, frame: int) -> int:
        """What the frame waited for before its first bit left; gives the frame that goes on from there, or -1."""
        log = self._log
        if int(log.frame_eligible_ps[frame]) < 0:
            return self._waited_in_nic(frame)
        low = int(log.frame_eligible_ps[frame])
        own = self._waited_at_port(frame, low, flow=-1)
        if own >= 0:
            return own
        return self._upstream(frame) if int(log.frame_ingress[frame]) >= 0 else self._cause(frame)

    def _waited_in_nic(self, frame: int) -> int:
        log = self._log
        if log.frame_is_repetition[frame]:
            first = self._index.first_sending(frame)
            if first != frame:
                self._spend(int(log.frame_start_ps[first]), Part.RECOVERY, int(log.frame_channel[frame]))
                return self._waited_in_nic(first)
            # it was sent before the message of this walk was posted
            self._spend(self._floor, Part.RECOVERY, int(log.frame_channel[frame]))
        return self._waited_at_port(frame, self._floor, flow=int(log.frame_flow[frame]))

    def _waited_at_port(self, frame: int, low: int, flow: int) -> int:
        """What a frame waited for at its port since ``low``; gives an own frame that it waited for, or -1.

        ``flow`` is the queue pair that data waited in, or -1.
        """
        log, index = self._log, self._index
        channel, priority = int(log.frame_channel[frame]), int(log.frame_priority[frame])
        low = max(low, self._floor)
        while self._at > low:
            at = self._at
            last = index.before(channel, at)
            last_end = int(log.frame_end_ps[last]) if last >= 0 else -1
            is_own = self._is_own(last)
            if is_own and last_end >= at:
                return last
            clip = max(low, last_end) if is_own else low
            held = index.hold_before(flow, at) if flow >= 0 else None
            if held is not None and held.hold in _HELD:
                sent = index.sent_before(flow, at)
                if self._is_own(sent):
                    own_end, own_start = int(log.frame_end_ps[sent]), int(log.frame_start_ps[sent])
                    if own_end <= at and own_end > held.start_ps:
                        self._spend(max(low, own_end), _HELD[held.hold], channel)
                        if self._at == own_end:
                            return sent
                        continue
                    if own_end > at and own_start >= held.start_ps:
                        # another port of the queue pair still sends it
                        self._spend(max(low, own_start), _HELD[held.hold], channel)
                        return self._waited_in_nic(sent) if self._at > low else -1
                self._spend(max(clip, held.start_ps), _HELD[held.hold], channel)
                continue
            pause = index.pause_before(channel, priority, at)
            if pause is not None:
                self._spend(max(clip, pause.start_ps), Part.PAUSES, channel)
                continue
            # what held it before ends where what it waits for now begins
            since = max(clip, index.last_release(channel, priority, at), 0 if held is None else held.start_ps)
            if last >= 0 and last_end >= at:
                self._behind(last, max(since, int(log.frame_start_ps[last])), flow)
            else:
                self._spend(max(since, last_end), Part.UNEXPLAINED, channel)
        return -1

    def _behind(self, other: int, since: int, flow: int) -> None:
        """The time since ``since`` was spent behind another frame on the wire."""
        log, channel = self._log, int(self._log.frame_channel[other])
        kind = int(log.frame_kind[other])
        if kind == FrameKind.PAUSE:
            self._spend(since, Part.PAUSES, channel)
        elif kind != FrameKind.DATA:
            self._spend(since, Part.HEADERS, channel, ACKNOWLEDGEMENTS)
        elif flow >= 0 and log.frame_is_repetition[other] and int(log.frame_flow[other]) in self._of_flow:
            self._spend(since, Part.RECOVERY, channel)
        elif flow >= 0 and self._is_of_collective(other):
            # what its rank has to send of the same collective is no queue: it is the collective's own bytes
            self._transmission(other, since)
        else:
            self._spend(since, Part.QUEUEING, channel)

    def _is_of_collective(self, frame: int) -> bool:
        message = int(self._log.frame_message[frame])
        return message >= 0 and int(self._paths.record.columns.message_instance[message]) == self._instance

    def _upstream(self, frame: int) -> int:
        """The same frame on the channel by which it came; forwarding latency and propagation are spent."""
        log, at = self._log, self._at
        ingress = int(log.frame_ingress[frame])
        node = self._paths.transmitter[int(log.frame_channel[frame])]
        arrived = at - self._paths.latency[node]
        left = arrived - self._paths.delay[ingress]
        before = self._index.ending(ingress, left)
        if before < 0 or not self._index.are_same(before, frame):
            # it was cut through: its first bytes were enough, and the rest was still on the wire
            before = self._index.before(ingress, left)
            if before < 0 or not self._index.are_same(before, frame) or int(log.frame_end_ps[before]) <= left:
                return -1
        self._spend(arrived, Part.SWITCHING, int(log.frame_channel[frame]))
        self._spend(left, Part.PROPAGATION, ingress)
        return before

    def _cause(self, frame: int) -> int:
        """The data that an acknowledgement answers: what arrived when that was made."""
        record = self._paths.record
        arrived = int(record.columns.message_delivered_ps[self._step.message]) - record.transport.receive_latency_ps
        if arrived < self._at and not self._is_own(self._arrival(self._dst, FrameKind.DATA)[0]):
            # the message's own acknowledgement was lost, and that of a later one told of it
            self._spend(arrived, Part.RECOVERY, int(self._log.frame_channel[frame]), "lost acknowledgement")
        return self._arriving(self._dst, FrameKind.DATA)
