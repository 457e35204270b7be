# SPDX-License-Identifier: GPL-2.0-only
"""A driver's end of a warm process: points go in, what becomes of them comes out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from types import TracebackType
from typing import TYPE_CHECKING

from astra_py.batch.attempt import how_ended
from astra_py.batch.outcome import Outcome, Status

if TYPE_CHECKING:
    from astra_py.batch.executor import Started
    from astra_py.batch.study import Study
    from astra_py.batch.worker import Job

__all__ = ["WarmProcess", "lost_outcome"]

#: What keeps libraries from threads, which a process that is forked from must not have: those of OpenMP, OpenBLAS, MKL,
#: and of Arrow's jemalloc, which pandas loads where it is installed. Points side by side have a core each anyway.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
#: The driver's ways to modules, which its script may have changed, are the warm process's, too.
_SERVE = "import sys; fd, workers, *sys.path = sys.argv[1:]; " + (
    "from astra_py.batch.worker import serve; serve(int(fd), int(workers))"
)
#: How long a warm process may take to kill its points, in seconds, before it is killed itself; assumed.
_GOODBYE_S = 5.0


class WarmProcess:
    """Starts a warm process (:mod:`astra_py.batch.worker`) and talks to it; a context that ends it, and all its points.

    A new program is started, not a copy of this one, with ``subprocess`` and not with ``multiprocessing``: that would
    run a user's script a second time in it, and refuses to work inside Dask's workers, which are daemons.

    Parameters
    ----------
    workers : how many points it runs at once.
    """

    def __init__(self, workers: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            fd = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(fd), str(workers), *sys.path],
                pass_fds=[fd],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # a terminal's Ctrl-C is the driver's to act on
            )
        self._connection = Connection(ours.detach())

    def __enter__(self) -> WarmProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def load(self, study: Study) -> None:
        """Points from now on are of ``study``."""
        # Designs say which points there are, and may be of classes of the driver's script, which are not known here.
        self._send(replace(study, designs=()))

    def submit(self, job: Job) -> None:
        """Have a point run when there is room."""
        self._send(job)

    def receive(self, timeout_s: float | None = None) -> Started | Outcome | None:
        """What comes next; None where nothing does in ``timeout_s``.

        Raises
        ------
        EOFError : the process died.
        """
        try:
            if not self._connection.poll(timeout_s):
                return None
            message: Started | Outcome = self._connection.recv()
        except ConnectionError:
            raise EOFError from None
        return message

    def close(self) -> str:
        """End it and its points; gives how it ended. Harmless when done twice."""
        self._connection.close()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return how_ended(self._process.returncode)

    def _send(self, message: Study | Job) -> None:
        with suppress(ConnectionError):  # it died: who receives will see
            self._connection.send(message)


def lost_outcome(started: Started, started_s: float, how: str) -> Outcome:
    """What became of a point whose warm process ended, as ``how`` says; it began at ``started_s``, since 1970 UTC."""
    return Outcome(
        digest=started.digest,
        status=Status.CRASHED,
        reason=f"the process that runs points ended: {how}",
        row={},
        attempts=started.attempt,
        started_s=started_s,
        ended_s=time.time(),
        worker=started.worker,
        cost={},
    )
