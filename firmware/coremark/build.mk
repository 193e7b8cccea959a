# CoreMark, by `make coremark` alone: for the host machine, little-endian MIPS32r2, for the core of the network interfaces,
# big-endian MIPS II, and for RISC-V, without a multiplier.  Its sources are fetched and never kept here.
comma := ,
COREMARK := $(BUILD)/coremark
COREMARK_SOURCES := $(addprefix $(COREMARK)/source/,core_list_join.c core_main.c core_matrix.c core_state.c core_util.c)
COREMARK_PORT := firmware/coremark/core_portme.c firmware/coremark/core_portme.h firmware/lib/marker.h firmware/coremark/build.mk
COREMARK_MIPS := -mno-abicalls -G0
COREMARK_FLAGS = -std=gnu11 -O3 -ffreestanding -fno-builtin -fno-pic -static -nostdlib -fuse-ld=lld -w \
  -Wl,--nmagic -Ifirmware/lib -Ifirmware/coremark -I$(COREMARK)/source
coremark_compile = $(CC) $(1) $(COREMARK_FLAGS) '-DCOMPILER_FLAGS="-O3"' $(COREMARK_SOURCES) firmware/coremark/core_portme.c \
  $(wildcard firmware/lib/memory.c) -o $@

.PHONY: coremark
coremark: $(COREMARK)/host.elf $(COREMARK)/core.elf $(COREMARK)/rv32i.elf  ## CoreMark for the host machine, for the interfaces' core and for RISC-V
$(COREMARK)/source/coremark.h: firmware/coremark/fetch | $(VENV_READY)
	firmware/coremark/fetch $(PYTHON) $(BUILD)/downloads $(@D)
	@touch $@
$(COREMARK_SOURCES): $(COREMARK)/source/coremark.h ;
$(COREMARK)/host.elf: $(COREMARK_SOURCES) $(COREMARK_PORT)
	$(call coremark_compile,$(COREMARK_MIPS) --target=mipsel-linux-gnu -mips32r2 -msoft-float -DHOST -Wl$(comma)-Ttext=0x80100000)
$(COREMARK)/core.elf: $(COREMARK_SOURCES) $(COREMARK_PORT)
	$(call coremark_compile,$(COREMARK_MIPS) $(call words_of,firmware/flags/mips) -Wl$(comma)-Ttext=0x1000 -Wl$(comma)--image-base=0)
$(COREMARK)/rv32i.elf: $(COREMARK_SOURCES) $(COREMARK_PORT) firmware/lib/multiply_divide32.c
	$(call coremark_compile,$(call words_of,firmware/flags/rv32i) -DITERATIONS=10 -Wl$(comma)-Ttext=0x1000 -Wl$(comma)--image-base=0 firmware/lib/multiply_divide32.c)
