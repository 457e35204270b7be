# SPDX-License-Identifier: GPL-2.0-only
"""Names of many nodes in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterable

import networkx as nx

__all__ = ["name_range"]


def name_range(graph: nx.MultiGraph[int], nodes: Iterable[int]) -> str:
    """Write the names of nodes, those with numbers of one distance as a range such as ``rank0..rank56 by 8``."""
    runs: list[tuple[str, list[int]]] = []
    others: list[str] = []
    for node in sorted(nodes):
        name = str(graph.nodes[node]["name"])
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match is None:
            others.append(name)
            continue
        stem, number = match[1], int(match[2])
        if runs and runs[-1][0] == stem and _goes_on(runs[-1][1], number):
            runs[-1][1].append(number)
        else:
            runs.append((stem, [number]))
    return " ".join([*(_run(stem, numbers) for stem, numbers in runs), *others])


def _goes_on(numbers: list[int], number: int) -> bool:
    return len(numbers) == 1 or number - numbers[-1] == numbers[1] - numbers[0]


def _run(stem: str, numbers: list[int]) -> str:
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if step > 1 and len(numbers) > 2:
        return f"{stem}{numbers[0]}..{stem}{numbers[-1]} by {step}"
    if step > 1 or not step:
        return " ".join(f"{stem}{number}" for number in numbers)
    return f"{stem}{numbers[0]}..{stem}{numbers[-1]}"
