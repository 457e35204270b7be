# SPDX-License-Identifier: GPL-2.0-only
"""``ap.check_dataflow`` as users call it: on a template alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import astra_py as ap
from astra_py.collectives import build_template
from astra_py.errors import CheckError, ConfigError


def test_a_template_knows_what_it_was_made_for() -> None:
    ap.check_dataflow(build_template("all_reduce", "ring", 5, 1003))
    matrix = np.arange(9, dtype=np.int64).reshape(3, 3)
    ap.check_dataflow(build_template("all_to_all_v", "direct", 3, matrix))


def test_it_says_which_rank_lacks_what() -> None:
    template = build_template("all_gather", "direct", 3, 3000)
    kept = template.block != 1
    lost = replace(
        template,
        block=np.where(kept, template.block, 2).astype(np.int32),
        size_bytes=np.full_like(template.size_bytes, 1000),
    )
    with pytest.raises(CheckError, match=r"rank 1 sends segment 2|rank \d ends without segment 1"):
        ap.check_dataflow(lost)


def test_one_made_by_hand_needs_the_payload() -> None:
    build = ap.ScheduleBuilder("sendrecv", "by_hand", ranks=2)
    build.send(0, 1, 10, blocks=0)
    template = build.build()
    ap.check_dataflow(template, 10)
    with pytest.raises(ConfigError, match="give the payload"):
        ap.check_dataflow(template)
