# SPDX-License-Identifier: GPL-2.0-only
"""Follows an algorithm of MSCCL symbolically: who sends which blocks when, and what every rank ends with.

Steps are taken in an order that their dependencies allow, with the content of every chunk of every buffer: a block of
the collective's data, and the set of ranks whose contributions are in it. Blocks are those of
:mod:`astra_py.collectives.promises`; a part of a rank is cut into ``MscclAlgorithm.parts`` of them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import NoReturn

from astra_py.collectives.msccl_xml import MscclAlgorithm, Place, Step, Threadblock
from astra_py.collectives.schedule import Combine
from astra_py.errors import CheckError, ConfigError

__all__ = ["Action", "follow"]


@dataclass(frozen=True)
class _Content:
    """What a chunk holds.

    Attributes
    ----------
    block : which of the collective's blocks.
    ranks : whose contributions are in it, as a bit mask.
    action : the message that brought it as it is, or -1.
    """

    block: int
    ranks: int
    action: int = -1


@dataclass
class Action:
    """Something that takes time: a message, or a local reduction, of which ``dst`` is ``src``.

    Attributes
    ----------
    src, dst : ranks.
    blocks : what it carries or works on.
    arrived, sent : earlier actions of ``src``: messages to it and its own reductions, and its own messages, whose last
        byte has to have left.
    combine : how the receiver takes it; None for a reduction.
    """

    src: int
    dst: int
    blocks: tuple[int, ...]
    arrived: frozenset[int]
    sent: frozenset[int]
    combine: Combine | None


@dataclass(frozen=True)
class _Done:
    """What has to be over before a step is."""

    arrived: frozenset[int] = frozenset()
    sent: frozenset[int] = frozenset()

    def __or__(self, other: _Done) -> _Done:
        return _Done(self.arrived | other.arrived, self.sent | other.sent)


@dataclass
class _Message:
    """A message on its way."""

    action: int
    line: int
    contents: list[_Content]


@dataclass
class _Cursor:
    """A threadblock that is being followed."""

    gpu: int
    number: int
    block: Threadblock
    at: int = 0
    done: _Done = field(default_factory=_Done)


def follow(algorithm: MscclAlgorithm) -> list[Action]:
    """Follow ``algorithm`` and return what it does, every action after those it waits for.

    Raises
    ------
    ConfigError : a step sends what is not there, reaches outside a buffer, waits for what never comes, or two ends do
        not fit together; names file and line.
    CheckError : a rank ends without a chunk that the collective promises it, or with less in it; names both.
    """
    program = _Program(algorithm)
    program.run()
    program.require_promise()
    program.choose_exchanges()
    return program.actions


class _Program:
    def __init__(self, algorithm: MscclAlgorithm) -> None:
        self.algorithm = algorithm
        self.actions: list[Action] = []
        self.contents: dict[tuple[int, Place], _Content] = {}
        self.done: dict[tuple[int, int, int], _Done] = {}
        self.on_the_way: dict[tuple[int, int, int], deque[_Message]] = {}
        self.waiting: dict[tuple[object, ...], list[_Cursor]] = {}
        self.cursors = [
            _Cursor(gpu, number, block)
            for gpu, blocks in enumerate(algorithm.gpus)
            for number, block in enumerate(blocks)
        ]
        for gpu in range(algorithm.ranks):
            for offset, block in enumerate(self._input(gpu)):
                self.contents[self._at(gpu, Place("i", offset))] = _Content(block, 1 << gpu)

    # ------------------------------------------------------------------------------- following

    def run(self) -> None:
        """Take all steps."""
        ready = deque(self.cursors)
        while ready:
            cursor = ready.popleft()
            while cursor.at < len(cursor.block.steps):
                step = cursor.block.steps[cursor.at]
                key = self._waits_for(cursor, step)
                if key is not None:
                    self.waiting.setdefault(key, []).append(cursor)
                    break
                ready.extend(self._take(cursor, step))
                cursor.at += 1
        for cursor in self.cursors:
            if cursor.at < len(cursor.block.steps):
                step = cursor.block.steps[cursor.at]
                kind, *which = self._waits_for(cursor, step) or ("nothing",)
                what = f"a send of gpu {which[0]} that never comes"
                if kind == "step":
                    what = f"step {which[2]} of threadblock {which[1]}, which is never taken"
                self.refuse(step, f"gpu {cursor.gpu} waits here for {what}")
        for (src, dst, channel), messages in self.on_the_way.items():
            if messages:
                line = messages[0].line
                raise ConfigError(
                    f"{self.algorithm.path}:{line}: gpu {src} sends to gpu {dst} on chan={channel}, and no step "
                    "receives it"
                )

    def refuse(self, step: Step, what: str) -> NoReturn:
        raise ConfigError(f"{self.algorithm.path}:{step.line}: step of type {step.type!r}: {what}")

    def _waits_for(self, cursor: _Cursor, step: Step) -> tuple[object, ...] | None:
        """What has to come first, if it has not."""
        if step.after is not None and (cursor.gpu, *step.after) not in self.done:
            return ("step", cursor.gpu, *step.after)
        way = (cursor.block.receive, cursor.gpu, cursor.block.channel)
        if "receive" in step.does and not self.on_the_way.get(way):
            return ("message", *way)
        return None

    def _take(self, cursor: _Cursor, step: Step) -> list[_Cursor]:
        """Take a step whose time has come; returns who waited for it."""
        gpu, does = cursor.gpu, step.does
        if step.after is not None:
            cursor.done |= self.done[(gpu, *step.after)]
        contents: list[_Content] = []
        if "receive" in does:
            contents = self._receive(cursor, step)
        elif does:
            contents = self._read(gpu, step, step.src)
        if "reduce" in does:
            contents = self._sum(cursor, step, self._read(gpu, step, step.dst), contents)
        if does & {"store", "copy", "reduce"}:
            for k, content in enumerate(contents):
                self.contents[self._at(gpu, self._inside(gpu, step, step.dst, k))] = content
        woken: list[_Cursor] = []
        if "send" in does:
            self._send(cursor, step, contents)
            woken += self.waiting.pop(("message", gpu, cursor.block.send, cursor.block.channel), [])
        self.done[gpu, cursor.number, cursor.at] = cursor.done
        return woken + self.waiting.pop(("step", gpu, cursor.number, cursor.at), [])

    def _receive(self, cursor: _Cursor, step: Step) -> list[_Content]:
        gpu, block = cursor.gpu, cursor.block
        message = self.on_the_way[block.receive, gpu, block.channel].popleft()
        if len(message.contents) != step.count:
            self.refuse(
                step,
                f"cnt={step.count}, and gpu {block.receive} sends it {len(message.contents)} in line {message.line}",
            )
        cursor.done |= _Done(arrived=frozenset({message.action}))
        if "add" not in step.does:
            return [replace(content, action=message.action) for content in message.contents]
        self.actions[message.action].combine = Combine.ADD
        return self._sum(cursor, step, self._read(gpu, step, step.src), message.contents)

    def _send(self, cursor: _Cursor, step: Step, contents: list[_Content]) -> None:
        gpu, block = cursor.gpu, cursor.block
        action = self._act(cursor, block.send, contents, Combine.KEEP)
        way = (gpu, block.send, block.channel)
        self.on_the_way.setdefault(way, deque()).append(_Message(action, step.line, contents))
        cursor.done = _Done(sent=frozenset({action}))

    def _sum(self, cursor: _Cursor, step: Step, own: list[_Content], other: list[_Content]) -> list[_Content]:
        """Add two lists of chunks up, which takes local work."""
        sums = []
        for a, b in zip(own, other, strict=True):
            if a.block != b.block:
                self.refuse(step, f"adds block {b.block} of the data to block {a.block}")
            if twice := a.ranks & b.ranks:
                self.refuse(step, f"adds the contribution of gpu {_names(twice)} to block {a.block} twice")
            for content in (a, b):
                if content.action >= 0:
                    self.actions[content.action].combine = Combine.ADD
            sums.append(_Content(a.block, a.ranks | b.ranks))
        action = self._act(cursor, cursor.gpu, sums, None)
        cursor.done = _Done(arrived=frozenset({action}))
        return sums

    def choose_exchanges(self) -> None:
        """Find the messages that are added while their receiver may still be sending its own: those lay beside."""
        before: list[int] = []
        sends: dict[tuple[int, int], list[int]] = {}
        for i, action in enumerate(self.actions):
            mask = 0
            for earlier in action.arrived | action.sent:
                mask |= before[earlier] | 1 << earlier
            before.append(mask)
            if action.combine is not None:
                for block in action.blocks:
                    sends.setdefault((action.src, block), []).append(i)
        for i, action in enumerate(self.actions):
            own = [send for block in action.blocks for send in sends.get((action.dst, block), ())]
            is_between = any(not before[send] >> i & 1 and not before[i] >> send & 1 for send in own)
            if action.combine == Combine.ADD and is_between:
                action.combine = Combine.EXCHANGE

    def _act(self, cursor: _Cursor, dst: int, contents: list[_Content], combine: Combine | None) -> int:
        blocks = tuple(content.block for content in contents)
        self.actions.append(Action(cursor.gpu, dst, blocks, cursor.done.arrived, cursor.done.sent, combine))
        return len(self.actions) - 1

    # --------------------------------------------------------------------------------- buffers

    def _read(self, gpu: int, step: Step, first: Place) -> list[_Content]:
        contents = []
        for k in range(step.count):
            place = self._inside(gpu, step, first, k)
            content = self.contents.get(self._at(gpu, place))
            if content is None:
                self.refuse(step, f"{place} of gpu {gpu} holds nothing yet")
            contents.append(content)
        return contents

    def _inside(self, gpu: int, step: Step, first: Place, k: int) -> Place:
        place = Place(first.buffer, first.offset + k)
        if place.offset >= (size := self._chunks(gpu, place.buffer)):
            self.refuse(step, f"{place} of gpu {gpu}, of which there are {size}")
        return place

    def _chunks(self, gpu: int, buffer: str) -> int:
        kind, chunks, parts = self.algorithm.kind, self.algorithm.chunks, self.algorithm.parts
        if buffer == "s":
            return self.algorithm.scratch_chunks[gpu]
        is_small = (kind == "all_gather" and buffer == "i") or (kind == "reduce_scatter" and buffer == "o")
        return parts if is_small else chunks

    def _at(self, gpu: int, place: Place) -> tuple[int, Place]:
        """Where a place is in memory: input and output of one in place are the same."""
        if self.algorithm.is_in_place and place.buffer != "s":
            # the smaller buffer is the gpu's own part of the larger one
            is_small = self._chunks(gpu, place.buffer) < self.algorithm.chunks
            return gpu, Place("io", place.offset + (gpu * self.algorithm.parts if is_small else 0))
        return gpu, place

    def _input(self, gpu: int) -> list[int]:
        """The block in each chunk of the input."""
        kind, ranks, parts = self.algorithm.kind, self.algorithm.ranks, self.algorithm.parts
        if kind == "all_gather":
            return [part * ranks + gpu for part in range(parts)]
        if kind == "reduce_scatter":
            return [part * ranks + owner for owner in range(ranks) for part in range(parts)]
        if kind == "all_to_all":
            return [(part * ranks + gpu) * ranks + dst for dst in range(ranks) for part in range(parts)]
        return list(range(self.algorithm.chunks))

    def require_promise(self) -> None:
        """Compare what every gpu's output holds to what the collective promises."""
        kind, ranks, parts = self.algorithm.kind, self.algorithm.ranks, self.algorithm.parts
        everyone = (1 << ranks) - 1
        for gpu in range(ranks):
            for offset in range(self._chunks(gpu, "o")):
                owner, part = divmod(offset, parts)
                block, wanted = offset, everyone
                if kind == "reduce_scatter":
                    block = offset * ranks + gpu
                elif kind == "all_gather":
                    block, wanted = part * ranks + owner, 1 << owner
                elif kind == "all_to_all":
                    block, wanted = (part * ranks + owner) * ranks + gpu, 1 << owner
                held = self.contents.get(self._at(gpu, Place("o", offset)))
                where = f"{self.algorithm.path}: gpu {gpu} ends with {Place('o', offset)}"
                if held is None:
                    raise CheckError(f"{where} empty, and {kind} promises it block {block}")
                if held.block != block:
                    raise CheckError(f"{where} as block {held.block}, and {kind} promises it block {block}")
                if held.ranks != wanted:
                    raise CheckError(
                        f"{where} as block {block} lacking the contribution of gpu {_names(wanted & ~held.ranks)}"
                    )


def _names(ranks: int) -> str:
    return ", ".join(str(rank) for rank in range(ranks.bit_length()) if ranks >> rank & 1)
