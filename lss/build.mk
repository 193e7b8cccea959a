# The compiler lss and the simulation runtime.  Sources are all files in the folders of lss/
# (the stages of the compiler) and of lss/runtime/.
# SANITIZE=1 builds both with ASan and UBSan, and what fuzzers count (tests/fuzz); use another BUILD for it.

LSS_GEN   := $(BUILD)/gen/lss
LSS_C     := $(call found,lss/*/*.c)
LSS_OBJ   := $(LSS_C:lss/%.c=$(BUILD)/obj/lss/%.o) $(BUILD)/obj/lss/gen/parser.o $(BUILD)/obj/lss/gen/lexer.o
RUNTIME_C := $(filter-out lss/runtime/carrier/%,$(call found,lss/runtime/*/*.c))
RUNTIME_OBJ := $(RUNTIME_C:lss/runtime/%.c=$(BUILD)/obj/runtime/%.o)

# GTKWave's writer of FST, which Debian's package verilator brings as source; without it waves are VCD only.
GTKWAVE   ?= /usr/share/verilator/include/gtkwave
FST       := $(if $(and $(wildcard $(GTKWAVE)/fstapi.c),$(wildcard /usr/include/zlib.h)),yes,no)
FST_FLAGS := $(if $(filter yes,$(FST)),-DSPINACH_FST -I$(GTKWAVE))
FST_OBJ   := $(if $(filter yes,$(FST)),$(patsubst %,$(BUILD)/obj/gtkwave/%.o,fstapi lz4 fastlz))
FST_STAMP := $(BUILD)/obj/.fst-$(FST)

# Generated code names the type of a cluster's state; the runtime calls it with void *, which every target passes alike.
SANITIZE_LINK  := $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined)
SANITIZE_FLAGS := $(if $(SANITIZE),$(SANITIZE_LINK) -fno-sanitize=function -fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O0 -gline-tables-only)

LSS_FLAGS := $(CFLAGS_COMMON) -D_GNU_SOURCE -I. -I$(BUILD)/gen $(call pkg_cflags,glib-2.0 json-c) -DSPINACH_SOURCE_TREE='"$(HOME_FOLDER)"' -DSPINACH_GLIB_CFLAGS='"$(call pkg_cflags,glib-2.0)"' $(SANITIZE_FLAGS)

$(LSS_GEN)/parser.c: lss/front/parser.y
	@mkdir -p $(@D)
	$(BISON) -Wall -Werror=conflicts-sr -Werror=conflicts-rr --header=$(LSS_GEN)/parser.h -o $@ $<
$(LSS_GEN)/parser.h: $(LSS_GEN)/parser.c ;
$(LSS_GEN)/lexer.c: lss/front/lexer.l
	@mkdir -p $(@D)
	$(FLEX) -o $@ $<

$(LSS_OBJ): | $(LSS_GEN)/parser.h
# The number that everything names.  The commit that `lss --version` adds is in a file: it changes without the compiler.
$(BUILD)/obj/lss/base/version.o: LSS_FLAGS += -DSPINACH_VERSION='"$(VERSION)"'
$(BUILD)/obj/lss/base/version.o: lss/VERSION
$(BUILD)/lib/commit: always
	@mkdir -p $(@D)
	harness/dist/commit >$@.new
	cmp -s $@.new $@ && rm -f $@.new || mv -f $@.new $@
.PHONY: always
$(BUILD)/obj/lss/%.o: lss/%.c
	@mkdir -p $(@D)
	$(call say,$<)
	$(CC) $(LSS_FLAGS) $(DEPFLAGS) -c -o $@ $<
$(BUILD)/obj/lss/gen/%.o: $(LSS_GEN)/%.c
	@mkdir -p $(@D)
	$(CC) $(LSS_FLAGS) -Wno-unused-function -Wno-unused-but-set-variable $(DEPFLAGS) -c -o $@ $<

# `lss trace` names and disassembles code; the runtime's references to emulib are weak and would not bring it in.
$(BUILD)/bin/lss: $(LSS_OBJ) $(BUILD)/lib/libspinach.a $(BUILD)/lib/libemulib.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE_LINK) -o $@ -Wl,-u,program_open,-u,isas $^ $(call pkg_libs,glib-2.0 json-c libpcap libzstd nettle libdw libelf) -lm

# The runtime is linked into simulators, which may be optimised across it.
$(BUILD)/obj/runtime/%.o: lss/runtime/%.c
	@mkdir -p $(@D)
	$(call say,$<)
	$(CC) $(CFLAGS_COMMON) -D_GNU_SOURCE -I. $(call pkg_cflags,glib-2.0 nettle) $(SANITIZE_FLAGS) $(DEPFLAGS) -c -o $@ $<
# What is compiled otherwise when the writer of FST comes or goes.
$(FST_STAMP):
	@mkdir -p $(@D)
	@rm -f $(BUILD)/obj/.fst-*
	@touch $@
$(BUILD)/obj/runtime/wave/fst.o $(BUILD)/obj/lss/build/link.o: $(FST_STAMP)
$(BUILD)/obj/runtime/wave/fst.o: CFLAGS_COMMON += $(FST_FLAGS)
$(BUILD)/obj/lss/build/link.o: LSS_FLAGS += $(FST_FLAGS)
$(BUILD)/obj/gtkwave/%.o: $(GTKWAVE)/%.c lss/runtime/wave/fst_host.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -w -D_GNU_SOURCE -I. -I$(GTKWAVE) -DFST_CONFIG_INCLUDE='"lss/runtime/wave/fst_host.h"' -c -o $@ $<
# With it goes what the runtime needs of emulib even where that is not linked in.
$(BUILD)/lib/libspinach.a: $(RUNTIME_OBJ) $(FST_OBJ) $(patsubst %,$(BUILD)/obj/emulib/program/%.o,input_file standard_streams)
	@mkdir -p $(@D)
	@rm -f $@
	$(LLVM_AR) rcs $@ $^

# The carrier between hosts is a program of its own, and all of it that needs MPI is one file.
MPICC ?= $(notdir $(call find_tool,mpicc))
CARRIER_OBJ := $(patsubst lss/runtime/%.c,$(BUILD)/obj/runtime/%.o,$(filter-out %/mpi.c,$(call found,lss/runtime/carrier/*.c)))
MPI_OBJ := $(BUILD)/obj/runtime/carrier/mpi.o
$(MPI_OBJ): lss/runtime/carrier/mpi.c
	@mkdir -p $(@D)
	OMPI_CC=$(CC) MPICH_CC=$(CC) $(MPICC) $(CFLAGS_COMMON) -Wno-unused-command-line-argument -D_GNU_SOURCE -I. $(SANITIZE_FLAGS) $(DEPFLAGS) -c -o $@ $<
$(BUILD)/lib/carrier: $(CARRIER_OBJ) $(MPI_OBJ) $(BUILD)/lib/libspinach.a
	@mkdir -p $(@D)
	OMPI_CC=$(CC) MPICH_CC=$(CC) $(MPICC) -Wno-unused-command-line-argument $(SANITIZE_LINK) -o $@ $^ $(call pkg_libs,glib-2.0)
# Said once in a folder of builds.
$(BUILD)/obj/.no-carrier:
	@mkdir -p $(@D)
	@echo "make: no carrier for networks on several hosts: there is no mpicc (Debian: openmpi-bin libopenmpi-dev)" >&2
	@touch $@
ALL += $(CARRIER_OBJ) $(if $(MPICC),$(BUILD)/lib/carrier,$(BUILD)/obj/.no-carrier)

# The harness next to the compiler, so that one folder on the PATH has all commands.
$(BUILD)/bin/spinach: | harness/spinach
	@mkdir -p $(@D)
	ln -sfr harness/spinach $@

ALL += $(BUILD)/bin/lss $(BUILD)/bin/spinach $(BUILD)/lib/libspinach.a $(BUILD)/lib/commit
-include $(LSS_OBJ:.o=.d) $(RUNTIME_OBJ:.o=.d) $(CARRIER_OBJ:.o=.d) $(MPI_OBJ:.o=.d)
