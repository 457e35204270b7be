#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# astra-py in its container, without network and with nothing to write to but the folder of results:
#
#     docker/run.sh                                                   the main job, results in results/main_job
#     docker/run.sh run mine.toml --out /results/mine                 a scenario of the current folder
#
# The current folder is read as /data, where commands start; /results is the folder OUT, by default results, made where
# it is absent. IMAGE names the image (astra-py). ENGINE is docker or podman, with options of its own where needed;
# without it docker is taken where its engine answers, else podman. OPTIONS are more options of their `run`, such as
# "--memory 8g --cpus 4". Exit codes are astra-py's; those from 125 to 127 are the engine's own, as where there is no such
# image.
set -eu

stop() {
    echo "astra-py: $1" >&2
    exit 2
}

out=${OUT:-results}
image=${IMAGE:-astra-py}
if [ -n "${ENGINE:-}" ]; then
    engine=$ENGINE
elif docker info >/dev/null 2>&1; then
    engine=docker
elif command -v podman >/dev/null; then
    engine=podman
else
    stop "neither docker's engine nor podman is there; ENGINE=... names another program of their kind"
fi

# a failure of mkdir would end as a comparison out of tolerance does, with 1
mkdir -p -- "$out" || stop "OUT=$out cannot be made; allowed: a folder that you may write to"
out=$(CDPATH='' cd -- "$out" && pwd) || stop "OUT=$out cannot be entered; allowed: a folder that you may write to"
[ -w "$out" ] || stop "OUT=$out cannot be written to; allowed: a folder that you may write to"
for folder in "$PWD" "$out"; do
    case "$folder" in *:*) stop "$folder: volumes of containers take no path with a colon; allowed: any other" ;; esac
done
# What is written belongs to whom it is run by. Rootless podman calls that user root inside unless it is told to keep it.
user="--user $(id -u):$(id -g)"
case "$engine" in
    *podman*) [ "$(id -u)" = 0 ] || user="$user --userns keep-id" ;;
esac
if [ $# = 0 ]; then set -- run /workloads/astra2020_16.toml --out /results/main_job --overwrite; fi
terminal=''
if [ -t 0 ] && [ -t 2 ]; then terminal='--interactive --tty'; fi

# shellcheck disable=SC2086  # lists of words
exec $engine run --rm $terminal $user --network none --read-only --tmpfs /tmp --cap-drop ALL \
    --security-opt no-new-privileges --volume "$PWD:/data:ro" --workdir /data --volume "$out:/results" \
    ${OPTIONS:-} "$image" "$@"
