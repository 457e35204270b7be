#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sets up an environment (lean, full or sanitize; see set_up.py), after a check of what only the system can bring; `missing`
# prints the names of the packages that lack for it. PYTHON and CXX, where set, name the interpreter and the compiler.
set -eu
cd "$(dirname "$0")/.."
environment=${1:-}

stop() {
    printf 'astra-py: %s\n' "$@" >&2
    exit 2
}

case "$(uname -sm)" in
    "Linux x86_64") ;;
    *) stop "ns-3's wheels exist for Linux on x86-64 only; this is $(uname -sm)." ;;
esac

# The first interpreter of a version that ns-3's wheels and today's numpy both support.
if [ -n "${PYTHON:-}" ]; then set -- "$PYTHON"; else set -- python3 python3.13 python3.12 python3.11; fi
python='' seen=''
for candidate; do
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case "$version" in
        3.11 | 3.12 | 3.13) python=$candidate && break ;;
        *) seen="$seen $candidate is $version;" ;;
    esac
done

missing=''
if [ -n "$python" ]; then
    # The parts of python3 are in the packages python3-*, those of any other one in python3.N-*.
    case "$python" in *python3) package=python3 ;; *) package=python$version ;; esac
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing $package-venv"
    "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
        missing="$missing $package-dev"
elif [ -n "$seen" ]; then
    stop "Python 3.11, 3.12 or 3.13 is needed, and found was:${seen%;}." \
        "Install one of them with its -venv and -dev packages, and name it: make PYTHON=python3.12 ..."
elif [ -n "${PYTHON:-}" ]; then
    stop "PYTHON=$PYTHON does not run."
else
    missing="$missing python3 python3-venv python3-dev"
fi
command -v "${CXX:-g++}" >/dev/null || missing="$missing g++"
command -v make >/dev/null || missing="$missing make"

if [ "$environment" = missing ]; then
    echo "${missing# }"
    exit
fi
if [ -n "$missing" ]; then
    stop "something is missing that only the system can bring. Install it with:" "    apt-get install$missing"
fi

exec "$python" tools/set_up.py "$environment"
