# `make demo` and `make test` set up everything they need by themselves.
PYTHON ?= python3
VENV := .venv
DEMO_VENV := .venv-demo
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1

.PHONY: demo test check docs bench clean

# The wheels of upstream code that results are compared with pull in packages that are not
# needed here (xformers, open3d, gradio), hence --no-deps.
$(VENV)/.ready: pyproject.toml Makefile
	@echo "Setting up $(VENV), with the upstream code to compare with; this takes minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --upgrade 'pip>=25.1'
	$(BIN)/pip install torch==2.13.0
	$(BIN)/pip install -e '.[cpu,heif]' --group check --group test
	$(BIN)/pip install --no-deps depth-anything-3==0.1.1 jkp-depth-anything-v2==0.1.1
	touch $@

$(DEMO_VENV)/.ready: pyproject.toml Makefile
	@echo "Setting up $(DEMO_VENV), without PyTorch; this takes a minute."
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/pip install --upgrade 'pip>=25.1'
	$(DEMO_VENV)/bin/pip install -e '.[cpu]' --group demo
	touch $@

demo: $(DEMO_VENV)/.ready
	@$(DEMO_VENV)/bin/python -m demo

# Two processes; a file's tests share what is costly to make.
test: check
	$(BIN)/pytest -n 2 --dist loadfile

check: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.ready
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/model_table.py
	$(BIN)/python tools/api_reference.py

bench: $(VENV)/.ready
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(DEMO_VENV) demo/output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
