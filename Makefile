# The only build entry point.  `make help` lists what it offers; `make run` and `make test` need nothing but this
# file, make and git on a Debian 12 machine: what is missing is installed first, then make starts over with it.
#
# Every directory with something to build has a build.mk, included below.  It appends its products to ALL (or
# FIRMWARE), writes only below $(BUILD), and lets the compiler record header dependencies with $(DEPFLAGS).

VERSION := $(file <lss/VERSION)
BUILD  ?= build
PREFIX ?= /usr/local

MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
# All cores, unless this make was started by another one, which shares its own out.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# --- Tools -----------------------------------------------------------------------------------------------------
# LLVM is taken as a matching set: 22, then 19, then whatever has no version in its name.
find_tool = $(shell command -v $(1) 2>/dev/null)
LLVM_SUFFIX := $(if $(call find_tool,clang-22),-22,$(if $(call find_tool,clang-19),-19,))
ifneq ($(filter undefined default,$(origin CC)),)
CC := $(notdir $(call find_tool,clang$(LLVM_SUFFIX)))
endif
LD_LLD        := $(notdir $(call find_tool,ld.lld$(LLVM_SUFFIX)))
LLVM_AR       := $(notdir $(call find_tool,llvm-ar$(LLVM_SUFFIX)))
LLVM_NM       := llvm-nm$(LLVM_SUFFIX)
LLVM_OBJCOPY  := llvm-objcopy$(LLVM_SUFFIX)
LLVM_OBJDUMP  := llvm-objdump$(LLVM_SUFFIX)
LLVM_SIZE     := llvm-size$(LLVM_SUFFIX)
LLVM_READELF  := llvm-readelf$(LLVM_SUFFIX)
CLANG_FORMAT  := clang-format$(LLVM_SUFFIX)
BISON         := $(notdir $(call find_tool,bison))
FLEX          := $(notdir $(call find_tool,flex))
PKG_CONFIG    := $(notdir $(call find_tool,pkg-config))
PYTHON3       := $(notdir $(call find_tool,python3))

# Libraries of the compiler, the runtime and emulib.  libpcap is asked by its own name on systems without a .pc file.
LIBRARIES := glib-2.0 libpcap libdw libelf libzstd nettle json-c
ifneq ($(PKG_CONFIG),)
LIBRARIES_FOUND := $(shell $(PKG_CONFIG) --exists $(LIBRARIES) 2>/dev/null && echo yes)
endif
pkg_cflags = $(shell $(PKG_CONFIG) --cflags $(1))
pkg_libs   = $(shell $(PKG_CONFIG) --libs $(1))

# What the build cannot do without, and lacks here: empty on a machine that is ready.
MISSING := $(strip $(if $(CC),,clang) $(if $(LD_LLD),,lld) $(if $(LLVM_AR),,llvm) $(if $(BISON),,bison) \
  $(if $(FLEX),,flex) $(if $(PKG_CONFIG),,pkg-config) $(if $(LIBRARIES_FOUND),,$(LIBRARIES)) $(if $(PYTHON3),,python3))

# The folder of the kit in debug information and for the compiler: another one than this when it is built for a package.
HOME_FOLDER   ?= $(CURDIR)
MAP_HOME      := $(if $(filter $(CURDIR),$(HOME_FOLDER)),,-ffile-prefix-map=$(CURDIR)=$(HOME_FOLDER))
CFLAGS_COMMON := -std=gnu11 -O2 -g -gdwarf-4 -Wall -Wextra -Werror $(MAP_HOME)
DEPFLAGS       = -MMD -MP -MF $(@:.o=.d)
VENV          := $(BUILD)/venv
PYTHON        := $(VENV)/bin/python
VENV_READY    := $(VENV)/.ready
export BUILD
# The harness and the tests start Python hundreds of times, which takes eight times as long where it compiles each module anew.
unexport PYTHONDONTWRITEBYTECODE

# Stamps under $(BUILD) remember that a group of packages was seen to be complete, so asking again costs nothing.
DEPS_BASE  := $(BUILD)/.deps-base
DEPS_TEST  := $(BUILD)/.deps-test
DEPS_BENCH := $(BUILD)/.deps-bench
DEPS_LINUX := $(BUILD)/.deps-linux
DEPS_SOAK  := $(BUILD)/.deps-soak
DEPS_GUEST := $(BUILD)/.deps-guest
VENV_DOCS  := $(BUILD)/venv-docs/.ready

# --- Goals that need no tools ---------------------------------------------------------------------------------------
.PHONY: help deps clean
help:  ## list the goals
	@echo "make GOAL [BUILD=build] [PREFIX=/usr/local]"
	@sed -n 's/^\([a-z][a-z-]*\):.*## *\(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS='|' read -r goal words; do printf '%-14s %s\n' "$$goal" "$$words"; done

deps: $(DEPS_BASE) $(VENV_READY)  ## install what the build needs (as root or through sudo) and the Python packages of the other commands, once: some minutes
# The first installation brings what the goal needs besides, in one go.
DEPS_ALSO = $(patsubst linux-prompt,linux,$(filter test bench linux linux-prompt soak,$(MAKECMDGOALS))) $(if $(GUEST),guest)
$(BUILD)/.deps-%: harness/deps
	@mkdir -p $(BUILD)
	@harness/deps $* $(if $(filter base,$*),$(DEPS_ALSO))
	@touch $@
$(VENV_READY): harness/requirements.txt | $(DEPS_BASE)
	@harness/deps venv $(VENV)
	@touch $@
$(VENV_DOCS): harness/site/pinned.txt | $(DEPS_BASE)
	@harness/deps docs $(@D)
	@touch $@
$(DEPS_TEST) $(DEPS_BENCH) $(DEPS_LINUX) $(DEPS_SOAK) $(DEPS_GUEST): | $(DEPS_BASE)

clean:  ## remove everything that was built, but not the Python environments and what was downloaded
	@test ! -d "$(BUILD)" || find "$(BUILD)" -mindepth 1 -maxdepth 1 ! -name 'venv*' ! -name downloads ! -name '.deps-*' -exec rm -rf {} +

GOALS := all run studies docs test test-quick soak bench firmware linux linux-prompt reference goldens format lint prose install options dist dist-source dist-deb dist-guest dist-image dist-site dist-vsix dist-wheel
.PHONY: $(GOALS)

ifneq ($(MISSING),)
# --- A machine that lacks tools: install them, then start over ------------------------------------------------------
ifneq ($(AFTER_DEPS),)
ifneq ($(filter-out help clean deps,$(MAKECMDGOALS)),)
$(error still missing after installation: $(MISSING))
endif
endif
$(GOALS): $(DEPS_BASE)
	@$(MAKE) AFTER_DEPS=yes $@
%.o %.a $(BUILD)/bin/%: $(DEPS_BASE)
	@$(MAKE) AFTER_DEPS=yes $@

else
# --- A machine that is ready ------------------------------------------------------------------------------------------
ifeq ($(V),)
.SILENT:
ifneq ($(filter-out help clean deps,$(MAKECMDGOALS)),)
ifeq ($(MAKELEVEL),0)
$(info building into $(BUILD)/ what is not there yet; V=1 shows the commands)
endif
endif
endif
# On a terminal, the file that is compiled now, in a line that the next one overwrites; elsewhere a line every 10 s on
# standard error, by the age of a file that all makes of a build share.
ON_TERMINAL := $(if $(V),,$(MAKE_TERMOUT))
SAID := $(BUILD)/.said
ifeq ($(MAKELEVEL),0)
ifneq ($(filter-out help clean deps,$(MAKECMDGOALS)),)
export BEGAN := $(shell mkdir -p $(BUILD) && touch $(SAID) && date +%s)
endif
endif
say_now   = echo "make: $(1), after $$(($$(date +%s) - $${BEGAN:-$$(date +%s)})) s" >&2
say_rarely = [ -n "$$(find $(SAID) -newermt '10 seconds ago' 2>/dev/null)" ] || { touch $(SAID); $(call say_now,$(1)); }
say = $(if $(V),,$(if $(ON_TERMINAL),@printf '\033[K  %s\r' $(1),@$(call say_rarely,$(1))))
# What takes minutes itself and says nothing.
say_step = $(if $(V),,@$(if $(ON_TERMINAL),printf '\033[K  %s\r' "$(1)",touch $(SAID); $(call say_now,$(1))))
# The files that patterns name: what is built from all of a kind must not be built from none, when they have been moved.
found = $(or $(sort $(wildcard $(1))),$(error there is no file $(1)))
# The library's files of a name or pattern, in whatever family.
library = $(call found,$(foreach folder,modules modules/* modules/*/*,$(folder)/$(1)))

ALL      :=
FIRMWARE :=
TEST_PRODUCTS :=
include $(call found,*/build.mk tests/*/build.mk)

all: $(ALL) $(FIRMWARE)  ## build the compiler, the runtime, emulib and the firmware: 2 minutes on two idle cores
	$(if $(ON_TERMINAL),@printf '\033[K')
firmware: $(FIRMWARE)  ## build the firmware: ELF, map, disassembly, size
linux: $(LINUX_FILES)  ## the host's kernel, initramfs and device tree: 1.7 GB, 20 minutes (GUEST=FOLDER, PREBUILT=FILE|URL, OVERLAY=FOLDER, MACHINE="[FILE.lss] -D …", ENDIAN=big, VPES=true)
linux-prompt: linux $(LINUX_PROMPT)/checkpoint  ## a checkpoint at the guest's prompt, where `spinach job` begins: build/linux/prompt (MACHINE="[FILE.lss] -D …", BOOT="OPTION …")

run: all $(VENV_READY) $(DEPS_BASE)  ## the main job, or STUDY=FILE: any study; writes build/report/index.html
	@$(PYTHON) -m harness study $(STUDY) --out $(BUILD)/report --build $(BUILD) $(RUNFLAGS)

# One study or several, by name: make studies STUDY="fig4 fig5".
STUDIES_NAMED = $(if $(filter command environment,$(firstword $(origin STUDY))),$(STUDY))
studies: all $(VENV_READY) $(DEPS_BASE)  ## the paper's studies (STUDY=fig4: one of them); writes build/studies/index.html
	@$(PYTHON) -m harness studies $(call found,examples/*/studies/*.toml) --text docs/validation.md --build $(BUILD) \
	  $(if $(STUDIES_NAMED),--only $(STUDIES_NAMED)) $(RUNFLAGS)

docs: $(BUILD)/bin/lss $(VENV_DOCS)  ## the documentation as a site with search; writes build/site/index.html (SERVE=8000: and serves it on 127.0.0.1)
	@$(BUILD)/venv-docs/bin/python -m harness.site --build $(BUILD) $(if $(SERVE),--serve $(SERVE))

STUDY ?= examples/tigon2/study.toml
# Whole files to a worker, which builds the machines that they share, unless there is one file only.  More workers than four
# would build more of them twice; the soak, whose guests take much memory, has two.
PYTEST = $(PYTHON) -m pytest -n $(or $(WORKERS),$(AT_ONCE),2) $(if $(T),,--dist loadfile) --junitxml=$(BUILD)/tests.xml $(PYTESTFLAGS)
test test-quick: AT_ONCE = $(shell [ "$$(nproc 2>/dev/null || echo 2)" -ge 4 ] && echo 4)
# The packages of the tests bring the writer of FST and MPI (lss/build.mk), which may not have been there when make began.
WITH_ALL = $(if $(filter no,$(FST) $(if $(MPICC),,no)),$(MAKE) all,:)
test: all $(TEST_PRODUCTS) $(VENV_READY) $(DEPS_TEST)  ## every test but the soak (T=tests/x.py::y runs only that)
	@$(WITH_ALL)
	@$(PYTEST) -m "not soak" $(or $(T),tests)
test-quick: all $(TEST_PRODUCTS) $(VENV_READY)  ## the tests that take seconds
	@$(PYTEST) -m "not soak and not slow" $(or $(T),tests)
soak: all $(TEST_PRODUCTS) $(VENV_READY) $(VENV_DOCS) $(DEPS_TEST) $(DEPS_SOAK)  ## the long tests: fuzzing, sanitizers, many frames, random instruction streams
	@$(WITH_ALL)
	@$(if $(T),,$(MAKE) linux || echo "soak: goes on without the software of the host machine, whose tests are skipped" >&2)
	@$(PYTEST) --timeout 5400 -m soak $(or $(T),tests)
	@$(if $(T),,$(PYTEST) --optimized -m "not soak" tests)
goldens: all $(VENV_READY)  ## rewrite golden files from what the tests see now; read the diff afterwards
	@$(PYTEST) --goldens -m "not soak" $(or $(T),tests)
bench: all $(VENV_READY) $(DEPS_BENCH)  ## speed figures; writes build/bench/bench.json
	@$(PYTHON) tests/bench/run.py --build $(BUILD) $(BENCHFLAGS)

reference: $(BUILD)/bin/lss $(VENV_READY)  ## the module reference, build/docs/modules/index.html, and the address maps in READMEs of machines
	@$(PYTHON) -m harness reference --build $(BUILD) $(basename $(notdir $(call library,*_types.lss)))
	@$(PYTHON) -m harness.report.maps $(BUILD)

options: $(VENV_READY)  ## docs/options.md: the tables of the paper next to the modules and tests here
	@$(PYTHON) -m harness.report.options

DIST       := $(BUILD)/dist
DIST_WORK  := $(BUILD)/dist-work
DIST_PARTS := dist-source dist-deb dist-guest dist-vsix dist-wheel dist-site dist-image
C_SOURCES  = $(shell git ls-files -- '*.c' '*.h')
LSS_SOURCES = $(shell git ls-files -- 'modules/*.lss' 'examples/*.lss')
format: $(VENV_READY) $(BUILD)/bin/lss  ## lay out C and LSS in place, and mend what ruff can in Python
	@$(CLANG_FORMAT) -i $(C_SOURCES)
	@$(BUILD)/bin/lss fmt --width 120 $(LSS_SOURCES)
	@$(PYTHON) -m ruff check -q --fix harness tests
lint: $(VENV_READY)  ## report what ruff finds in the Python
	@$(PYTHON) -m ruff check harness tests

prose: $(VENV_READY)  ## report English that docs/style.md rules out, and lower the counts that it may have
	@$(PYTHON) harness/prose.py

dist:  ## the files of a release, of the commit that is checked out: build/dist/, with SHA256SUMS
	@missing=; for part in $(DIST_PARTS:dist-%=%); do DIST_CHECK=yes harness/dist/$$part || missing=yes; done; [ -z "$$missing" ]
	@rm -rf $(DIST)
	@$(MAKE) $(DIST_PARTS)
	@harness/dist/sums $(DIST)
dist-source:  ## build/dist/spinach-VERSION.tar.gz
	@harness/dist/source $(DIST)
dist-deb:  ## build/dist/spinach_VERSION_ARCHITECTURE.deb, the kit for Debian 12
	@harness/dist/deb $(DIST) $(DIST_WORK)/kit
# Current where it was made; a kernel is not compiled here.
dist-guest: $(if $(wildcard $(LINUX)/out/vmlinux)$(PREBUILT),linux)  ## build/dist/spinach-guest-VERSION.tar.zst, of what `make linux` and `make linux VPES=true` have made
	@$(if $(wildcard $(LINUX)/out-vpes/vmlinux)$(PREBUILT),$(MAKE) linux VPES=true)
	@harness/dist/guest $(DIST) $(LINUX) $(BUILD)/downloads
dist-image: dist-deb dist-vsix  ## build/dist/spinach-VERSION.oci.tar, a container image with the notebook (needs mmdebstrap and umoci)
	@harness/dist/image $(DIST) $(DIST_WORK)/image
dist-vsix:  ## build/dist/spinach-lss-VERSION.vsix, for Visual Studio Code (needs node and npm)
	@harness/dist/vsix $(DIST) $(DIST_WORK)/vscode
dist-site: docs  ## build/dist/spinach-site-VERSION.tar.gz, of what `make docs` makes
	@harness/dist/site $(DIST) $(BUILD)/site
dist-wheel: $(VENV_READY)  ## build/dist/spinach_sim-VERSION-py3-none-any.whl, `import spinach`
	@harness/dist/wheel $(DIST) $(DIST_WORK)/wheel $(PYTHON)

install: all  ## install compiler, library, harness and examples under PREFIX, and the harness's Python packages
	@harness/install "$(BUILD)" "$(DESTDIR)$(PREFIX)"
	@harness/deps installed "$(DESTDIR)$(PREFIX)"

endif
