# One door for people and for CI. PYTHON may name any Python from 3.11 on; ARGS goes to pytest.
.PHONY: build demo test lint format types asan tsan fuzz fuzz-long pythons wheel check clean
PYTHON ?= python3
BOOTSTRAP = command -v "$(PYTHON)" >/dev/null || { echo "fsstream: error: no $(PYTHON): install it (Debian, Ubuntu: apt install python3; Fedora: dnf install python3)" >&2; exit 1; }; "$(PYTHON)" scripts/bootstrap.py
BIN = "$(CURDIR)/.venv/bin"

# For developing: compiles the core into fsstream/, with PYTHON's own packages when it has nanobind, else with .venv's.
build:
	@if "$(PYTHON)" -c 'import nanobind' 2>/dev/null; then python=$$(command -v "$(PYTHON)"); \
	else $(BOOTSTRAP) && PATH=$(BIN):"$$PATH" && python=$(BIN)/python; fi && \
	cmake -S fsstream/native -B build/dev -G Ninja -DPython_EXECUTABLE="$$python" -DFSSTREAM_IN_PLACE=ON -DCMAKE_CXX_COMPILER_LAUNCHER="$$(command -v ccache)" >/dev/null && \
	cmake --build build/dev

# The main job on bundled mails: which words tell spam from ham.
demo:
	@$(BOOTSTRAP)
	@scripts/demo.sh

test:
	@$(BOOTSTRAP) --extra test
	@$(BIN)/python -m pytest -n auto $(ARGS)

lint:
	@$(BOOTSTRAP) --extra test --extra dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@find fsstream/native -name '*.[ch]pp' -exec $(BIN)/clang-format --dry-run -Werror {} +

format:
	@$(BOOTSTRAP) --extra test --extra dev
	@$(BIN)/ruff format
	@find fsstream/native -name '*.[ch]pp' -exec $(BIN)/clang-format -i {} +

types:
	@$(BOOTSTRAP) --extra test --extra dev
	@$(BIN)/mypy

# The test suite on a core that stops at the first bad access or undefined behaviour.
asan:
	@$(BOOTSTRAP) --extra test --sanitized asan
	@scripts/sanitized.sh asan -m pytest -q -n 2 --timeout 600 --hypothesis-profile ci $(ARGS)

# What runs in threads, on a core that stops at the first race.
tsan:
	@$(BOOTSTRAP) --extra test --sanitized tsan
	@scripts/sanitized.sh tsan -m pytest -q --timeout 600 $(or $(ARGS),tests/threads)

# Coverage-guided inputs for the parsers and the spool, under both sanitizers; needs clang++. Short, the same each time.
fuzz:
	@$(BOOTSTRAP) --extra test
	@PATH=$(BIN):"$$PATH" $(BIN)/python scripts/fuzz.py --runs 5000 $(ARGS)

# The same for ten minutes a target; what ran is added to tests/fuzz/counts.json, and
# the slow twins of the line parsers read all inputs that reached something new.
fuzz-long:
	@$(BOOTSTRAP) --extra test
	@PATH=$(BIN):"$$PATH" $(BIN)/python scripts/fuzz.py --seconds 600 --seed 0 --count $(ARGS)
	@FSSTREAM_FUZZ_CORPUS=build/fuzz/corpus $(BIN)/python -m pytest -q --timeout 7200 tests/fuzz/test_corpus.py

# Golden outputs and contract tests under each of python3.11 to python3.14 that is here; what is committed counts.
pythons:
	@scripts/other_pythons.sh $(ARGS)

# A source distribution, and from nothing but that a wheel for this Python.
wheel:
	@$(BOOTSTRAP) --extra test --extra dev
	@$(BIN)/python -m build --outdir dist

check: lint types test

clean:
	rm -rf build dist wheelhouse .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f fsstream/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
