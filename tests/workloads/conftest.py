# SPDX-License-Identifier: GPL-2.0-only
"""The DLRM of 2020 as the tests see it."""

from pathlib import Path

import pytest

from astra_py.workloads import AstraTextModel, read_astra_text

DLRM_2020 = Path(__file__).parents[2] / "workloads" / "dlrm_2020.txt"


@pytest.fixture
def dlrm_text() -> str:
    return DLRM_2020.read_text()


@pytest.fixture
def dlrm() -> AstraTextModel:
    return read_astra_text(DLRM_2020)
