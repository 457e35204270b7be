# SPDX-License-Identifier: GPL-2.0-only
"""Programs that build images and run them: docker where its engine answers, else buildah and podman, as root.

Without docker no registry of images is needed either: the base is made of Debian's packages by mmdebstrap.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Containers", "find_containers"]

ROOT = Path(__file__).resolve().parents[1]
#: What the Dockerfile asks of its base.
_BASE_PACKAGES = "ca-certificates,python3,python3-venv,python3-dev"
_BASE_TAG = "localhost/astra-py-base"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
#: pip's settings that hold inside a build as they hold here, where they are no paths.
_PIP_SETTINGS = re.compile(
    r"^[^']*\.(index-url|extra-index-url|trusted-host|proxy)='((?!file:|/)[^']*)'$", re.MULTILINE
)


@dataclass(frozen=True)
class Containers:
    """How images are built and run here.

    Attributes
    ----------
    builder : the command that builds a Dockerfile.
    engine : the command whose ``run`` runs an image.
    options : options of that ``run`` that this machine needs.
    base : the image to build on.
    """

    builder: tuple[str, ...]
    engine: tuple[str, ...]
    options: tuple[str, ...]
    base: str

    def build(self, target: str, *arguments: str) -> str:
        """Build a target of the Dockerfile; the image's name. Layers that were built before are kept."""
        tag = f"localhost/astra-py-tested-{target}"
        command = [*self.builder, "--build-arg", f"BASE_IMAGE={self.base}", "--target", target, "--tag", tag]
        output([*command, *(f"--build-arg={each}" for each in arguments), "--file", "docker/Dockerfile", "."])
        return tag

    def run(self, image: str, *command: str | Path, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run an image without network."""
        words = [*self.engine, "run", "--rm", "--network", "none", *self.options, *options, image, *command]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def inspect(self, image: str, field: str) -> str:
        """A field of an image, as Go's templates name it."""
        return output([*self.engine, "image", "inspect", "--format", f"{{{{{field}}}}}", image]).strip()


def find_containers() -> Containers | str:
    """What there is, with a base image ready; or the reason why there is nothing."""
    if shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0:
        base = os.environ.get("BASE_IMAGE", "python:3.11-slim")
        if "BASE_IMAGE" not in os.environ:
            # what is built on is not always kept as an image of its own
            output(["docker", "pull", base])
        return Containers(("docker", "build"), ("docker",), (), base)
    if os.geteuid() != 0:
        return "docker's engine does not answer, and buildah and podman are tested as root only"
    if missing := [name for name in ("buildah", "podman", "runc") if shutil.which(name) is None]:
        return f"docker's engine does not answer, and there is no {' and no '.join(missing)}"
    builder = ("buildah", "bud", "--isolation", "chroot", "--network", "host", "--layers")
    base = os.environ.get("BASE_IMAGE") or _BASE_TAG
    if subprocess.run(["buildah", "inspect", "--type", "image", base], capture_output=True, check=False).returncode:
        if shutil.which("mmdebstrap") is None:
            return f"there is no image {base}, and no mmdebstrap that would make one"
        _make_base(builder, base)
    engine = ("podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs")
    return Containers(builder, engine, ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"), base)


def _make_base(builder: Sequence[str], tag: str) -> None:
    """Make an image of a Debian with Python, which trusts what this machine trusts and finds packages as it does."""
    folder = ROOT / "build" / "container-base"
    folder.mkdir(parents=True, exist_ok=True)
    output(["mmdebstrap", "--variant=minbase", f"--include={_BASE_PACKAGES}", "bookworm", folder / "base.tar"])
    shutil.copy(_CERTIFICATES, folder)
    found = _PIP_SETTINGS.findall(output([sys.executable, "-m", "pip", "config", "list"]))
    settings = {**dict(found), "cert": str(_CERTIFICATES)}
    (folder / "pip.conf").write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()))
    steps = ["FROM scratch", "ADD base.tar /", f"COPY {_CERTIFICATES.name} {_CERTIFICATES}", "COPY pip.conf /etc/"]
    (folder / "Dockerfile").write_text("\n".join(steps) + "\n")
    output([*builder, "--tag", tag, folder])
    shutil.rmtree(folder)


def output(command: Sequence[str | Path]) -> str:
    """What a command prints; where it fails, what it said is in the error."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()[-40:]
        raise RuntimeError("\n".join([" ".join(map(str, command)), *said]))
    return done.stdout
