# SPDX-License-Identifier: GPL-2.0-or-later
# Texts (Q, LAYERS, ...) are taken with $(value ...) and exported, so that nothing in them is
# expanded by make or read by a shell. Make itself ends with 2 when a command ends with another
# code than 0; the scripts in .ci give the codes as they are: 1 failed, 2 wrong use, 130 cancelled.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.SILENT:
.NOTPARALLEL:
TEXTS := Q LAYERS MODEL SERVER SEED JSON TASKS DATA METHODS REPEATS ENDPOINTS OUT SIZE TABLE ONLY \
         RESULTS
given = $(filter-out undefined default,$(origin $1))
$(foreach name,$(TEXTS),$(if $(call given,$(name)),$(eval override $(name) := $$(value $(name)))))
export $(TEXTS)
in_qgis := . .ci/headless.env &&
python := /usr/bin/python3

.PHONY: help setup run test test-long ask evaluate world bench package clean

help:
	echo 'make run        open QGIS with the plugin and a demo project'
	echo 'make ask        Q="question" LAYERS="source source" [MODEL=name or GGUF file] [JSON=file]'
	echo 'make evaluate   TASKS=file METHODS=a,b OUT=folder [DATA=folder] [MODEL=name] [REPEATS=n]'
	echo '                [ENDPOINTS="address address"], servers that share the tasks'
	echo 'make world      [SEED=n] [SIZE=small,medium,large,huge] [TABLE=csv] OUT=folder: data and tasks'
	echo 'make test       all checks and tests (15 minutes at most)'
	echo 'make test-long  the long tests, and those with a real model'
	echo 'make bench      [ONLY=module,…] ratios, times and shares, printed; writes nothing here'
	echo 'make package    dist/geo_olm-VERSION.zip'
	echo 'make clean      remove what was made here (.work, dist), the models too'

setup:
	bash .ci/setup.sh

run: setup
	bash .ci/run_qgis.sh

ask: setup
	$(in_qgis) exec $(python) .ci/ask.py

evaluate: setup
	$(in_qgis) exec $(python) .ci/evaluate.py

world: setup
	$(in_qgis) exec $(python) .ci/world.py

test: setup
	bash .ci/test.sh

test-long: setup
	bash .ci/test.sh --long

bench: setup
	$(in_qgis) PYTHONDONTWRITEBYTECODE=1 exec $(python) .ci/bench.py

package: setup
	$(in_qgis) exec .work/venv/bin/python .ci/package.py

clean:
	rm -rf .work .ci/headless.env dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
