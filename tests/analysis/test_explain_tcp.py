# SPDX-License-Identifier: GPL-2.0-only
"""Where the time went is told of RoCE alone: a path through TCP would have holes, and none is made up."""

from __future__ import annotations

import pytest

from astra_py.analysis.explain import explain
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError


def test_tcp_is_refused_before_anything_runs() -> None:
    run = one_collective(load_scenario({}, ["transport.kind=tcp"]), "all_reduce", 1000)
    with pytest.raises(ConfigError, match=r"transport.kind = 'tcp' has no record .* allowed: 'roce', or .*--no-why"):
        explain(run)
