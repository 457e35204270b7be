# SPDX-License-Identifier: GPL-2.0-only
#
# make run     the main jobs, flat and on ZionEX nodes: tables     make lint    style of Python and C++, stubs up to date
#              in $(OUT)/main_job and $(OUT)/zionex_2x8            make types   mypy --strict
# make test    the tests                                           make format  put the sources into that style
# make full    all tests, the slow ones and those with ns-3's      make stubs   type stubs of the extension
#              Python bindings too (compiles for minutes)          make clean   remove what these made, results excepted
# make sanitize   the tests that reach C++, under sanitizers       make wheel   the package as a wheel, in dist/
# make docs    the documentation, in docs/_build/html                  make benchmarks   the fixed set, and its page; an hour
# make test-container   builds the container's image and runs jobs in it; minutes, and skipped where a tool lacks
#
# Each sets up the environment it needs; PYTHON=python3.12 chooses the interpreter for a new one.

OUT := results

bin := .venv/bin
full := .venv-full/bin
# The extension is loaded into an interpreter without sanitizers, so their run-time library must come first.
sanitized = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 .venv-sanitize/bin/python

.PHONY: run test full interop lint types sanitize format stubs wheel docs benchmarks test-container clean lean
.SILENT:

run: lean
	$(bin)/astra-py run workloads/astra2020_16.toml --out "$(OUT)/main_job" --overwrite
	echo
	$(bin)/astra-py run workloads/zionex_2x8.toml --out "$(OUT)/zionex_2x8" --overwrite

test: lean
	$(bin)/python -m pytest

full:
	sh tools/set_up.sh full
	$(full)/python -m pytest -m "" --hypothesis-profile=new

interop:
	sh tools/set_up.sh full
	$(full)/python -m pytest -m interop

lint: lean
	$(bin)/ruff check
	$(bin)/ruff format --check
	find ns3_ext -name '*.cc' -o -name '*.h' | xargs $(bin)/clang-format --dry-run -Werror
	$(bin)/python tools/stubs.py --check

types: lean
	$(bin)/mypy

sanitize:
	sh tools/set_up.sh sanitize
	$(sanitized) -m pytest tests/engines --ignore=tests/engines/test_memory.py

format: lean
	$(bin)/ruff check --fix
	$(bin)/ruff format
	find ns3_ext -name '*.cc' -o -name '*.h' | xargs $(bin)/clang-format -i

stubs: lean
	$(bin)/python tools/stubs.py

docs: lean
	$(bin)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky --fresh-env -d build/docs docs docs/_build/html

benchmarks: lean
	$(bin)/python benchmarks/run.py --all

wheel: lean
	$(bin)/python tools/build_wheel.py dist

test-container: lean
	$(bin)/python -m pytest -m slow --numprocesses=0 -rs tests/containers

clean:
	rm -rf .venv .venv-full .venv-sanitize build dist docs/_build .mypy_cache .ruff_cache .pytest_cache

lean:
	sh tools/set_up.sh lean
