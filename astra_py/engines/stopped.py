# SPDX-License-Identifier: GPL-2.0-only
"""What an engine measured before something was thrown in its run, kept with what was thrown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from astra_py.engines.base import EngineColumns

__all__ = ["measured_before", "raise_with"]

_KEPT = "_measured_before"


def raise_with(error: BaseException, columns: EngineColumns) -> NoReturn:
    """Raise ``error``, from which :func:`measured_before` then gives ``columns``."""
    setattr(error, _KEPT, columns)
    raise error


def measured_before(error: BaseException) -> EngineColumns | None:
    """What an engine had measured when ``error`` ended its run; None where it was not in one."""
    return getattr(error, _KEPT, None)
