# The benchmarks' own programs: the monolithic core, the MIPS program it runs, and the chain's peers.  The first two are
# part of every build, because tests use them; SystemC's and Verilator's chains are built by `make bench` only.
BENCH_OUT      := $(BUILD)/bench
BENCH_MONOLITH := $(patsubst tests/bench/monolith/%.c,$(BENCH_OUT)/obj/%.o,$(call found,tests/bench/monolith/*.c))
BENCH_PROGRAM  := tests/bench/program
BENCH_MIPS     := --target=mips-linux-gnu -mips2 -mabi=32 -msoft-float -G0 -mno-abicalls -fno-pic -ffreestanding -fno-builtin \
  -O2 -gdwarf-4 -Wall -Wextra -Werror
BENCH_WAITING  := --target=mipsel-linux-gnu -mips32r2 -mabi=32 -mno-abicalls -fno-pic
BENCH_STALLED  := --target=mips-linux-gnu -mips32r2 -mabi=32 -mno-abicalls -fno-pic
BENCH_ELFS     := $(BENCH_OUT)/wait_for_memory.elf $(BENCH_OUT)/stalled_cores.elf $(BENCH_OUT)/integer.elf $(BENCH_OUT)/integer_host.elf $(BENCH_OUT)/integer_5_passes.elf \
  $(BENCH_OUT)/integer_5_passes_linux.elf
ALL            += $(BENCH_OUT)/monolith $(BENCH_OUT)/chain_c $(BENCH_ELFS)

$(BENCH_OUT)/obj/%.o: tests/bench/monolith/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) $(DEPFLAGS) -c $< -o $@
$(BENCH_OUT)/monolith: $(BENCH_MONOLITH)
	@$(CC) $^ -o $@
$(BENCH_OUT)/chain_c: tests/bench/chain/chain_c.c tests/bench/chain/chain_source.h
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O3 $< -o $@

$(BENCH_OUT)/obj/integer.mips.o: $(BENCH_PROGRAM)/integer.c
	@mkdir -p $(@D)
	@$(CC) $(BENCH_MIPS) -c $< -o $@
$(BENCH_OUT)/obj/integer_5_passes.mips.o: $(BENCH_PROGRAM)/integer.c
	@mkdir -p $(@D)
	@$(CC) $(BENCH_MIPS) -DPASSES=5 -c $< -o $@
$(BENCH_OUT)/obj/%.mips.o: $(BENCH_PROGRAM)/%.S
	@mkdir -p $(@D)
	@$(CC) $(BENCH_MIPS) -c $< -o $@
$(BENCH_OUT)/obj/wait_for_memory.o: $(BENCH_PROGRAM)/wait_for_memory.S
	@mkdir -p $(@D)
	@$(CC) $(BENCH_WAITING) -c $< -o $@
$(BENCH_OUT)/obj/stalled_cores.o: $(BENCH_PROGRAM)/stalled_cores.S
	@mkdir -p $(@D)
	@$(CC) $(BENCH_STALLED) -c $< -o $@
$(BENCH_OUT)/wait_for_memory.elf $(BENCH_OUT)/stalled_cores.elf: $(BENCH_OUT)/%.elf: $(BENCH_OUT)/obj/%.o $(BENCH_PROGRAM)/host.ld
	@$(LD_LLD) -T $(BENCH_PROGRAM)/host.ld $< -o $@
$(BENCH_OUT)/%_linux.elf: $(BENCH_OUT)/obj/start_linux.mips.o $(BENCH_OUT)/obj/%.mips.o
	@$(LD_LLD) $^ -o $@
$(BENCH_OUT)/%.elf: $(BENCH_PROGRAM)/link.ld $(BENCH_OUT)/obj/start.mips.o $(BENCH_OUT)/obj/%.mips.o
	@$(LD_LLD) -T $^ -o $@

$(BENCH_OUT)/integer_host.elf: $(BENCH_PROGRAM)/link_host.ld $(BENCH_OUT)/obj/start.mips.o $(BENCH_OUT)/obj/integer.mips.o
	@$(LD_LLD) -T $^ -o $@

# Kept, or make would build them anew each time.
.SECONDARY: $(BENCH_OUT)/obj/start.mips.o $(BENCH_OUT)/obj/start_linux.mips.o $(BENCH_OUT)/obj/integer.mips.o \
  $(BENCH_OUT)/obj/integer_5_passes.mips.o

BENCH_CHAIN := tests/bench/chain
$(BENCH_OUT)/chain_systemc: $(BENCH_CHAIN)/chain_systemc.cpp $(BENCH_CHAIN)/chain_source.h | $(DEPS_BENCH)
	@mkdir -p $(@D)
	@g++ -O3 $< -o $@ -lsystemc
# $(1): name, $(2): value of the Verilog parameter RIPPLE
define bench_verilator
$(BENCH_OUT)/chain_verilator_$(1): $(BENCH_CHAIN)/chain.v $(BENCH_CHAIN)/verilator_main.cpp | $(DEPS_BENCH)
	@mkdir -p $(BENCH_OUT)/verilator_$(1)
	@MAKEFLAGS= MFLAGS= verilator --cc --exe --build -O3 --x-assign fast --x-initial fast --noassert -Wno-fatal -Wno-UNOPTFLAT -GRIPPLE=$(2) \
	  --Mdir $(BENCH_OUT)/verilator_$(1) -MAKEFLAGS 'OPT_FAST=-O3 OPT_GLOBAL=-O3' -o chain $(abspath $(BENCH_CHAIN)/chain.v) \
	  $(abspath $(BENCH_CHAIN)/verilator_main.cpp) >$(BENCH_OUT)/verilator_$(1).log 2>&1 \
	  || { tail -20 $(BENCH_OUT)/verilator_$(1).log >&2; exit 1; }
	@cp $(BENCH_OUT)/verilator_$(1)/chain $$@
endef
$(eval $(call bench_verilator,ripple,1))
$(eval $(call bench_verilator,registered,0))
bench: $(BENCH_OUT)/chain_systemc $(BENCH_OUT)/chain_verilator_ripple $(BENCH_OUT)/chain_verilator_registered
-include $(BENCH_MONOLITH:.o=.d)
