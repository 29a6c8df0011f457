# One door for people and for CI. PYTHON may name any Python from 3.11 on.
.PHONY: build
PYTHON ?= python3

build:
	cmake -S fsstream/native -B build/dev -G Ninja -DPython_EXECUTABLE=$$(command -v $(PYTHON)) -DFSSTREAM_IN_PLACE=ON -DCMAKE_CXX_COMPILER_LAUNCHER=$$(command -v ccache) >/dev/null
	cmake --build build/dev
