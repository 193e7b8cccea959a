# Firmware.  A directory with a file `machine` is a firmware: the file names the machine it is for (and -D options), from
# which its register header, its linker regions and their documentation are generated.  All .c and .S files of the
# directory and of firmware/lib make NAME.elf; the linker script is NAME.ld.  A file `shares` beside `machine` adds sources
# of other directories (paths or patterns below firmware/) and flags for the compiler (words that begin with -); a build.mk
# of its own may give the variables below other values for its targets, and name in NAME_NEEDS what its objects depend on.

# The words of a file on one line: make 4.3 sometimes leaves the line break at the end of what $(file) reads.
words_of = $(strip $(file <$(1)))

# The flags are those that `spinach firmware` uses for programs elsewhere (harness/firmware.py).
FIRMWARE_TARGET = $(call words_of,firmware/flags/mips)
FIRMWARE_LINK   = $(call words_of,firmware/flags/link_mips)
FIRMWARE_CC     = $(CC)
FIRMWARE_CFLAGS = $(FIRMWARE_TARGET) $(call words_of,firmware/flags/common) -Werror -Ifirmware/lib
FIRMWARE_LIB := $(call found,firmware/lib/*.c)
LSS_LIBRARY  := $(call library,*.lss)

# $(call firmware,NAME)
define firmware
FIRMWARE += $(BUILD)/firmware/$(1)/$(1).elf $(BUILD)/firmware/$(1)/$(1).asm $(BUILD)/firmware/$(1)/$(1).sym \
  $(BUILD)/firmware/$(1)/$(1).size
$(1)_GEN := $(BUILD)/gen/firmware/$(1)
$(1)_SHARES := $$(if $$(wildcard firmware/$(1)/shares),$$(call words_of,firmware/$(1)/shares))
$(1)_FLAGS := $$(filter -%,$$($(1)_SHARES))
$(1)_SOURCES := $$(wildcard firmware/$(1)/*.c firmware/$(1)/*.S $$(addprefix firmware/,$$(filter-out -%,$$($(1)_SHARES))))
$(1)_MISSING := $$(strip $$(foreach word,$$(filter-out -%,$$($(1)_SHARES)),$$(if $$(wildcard firmware/$$(word)),,$$(word))))
$(1)_OBJ := $$(patsubst firmware/%,$(BUILD)/obj/firmware/$(1)/%.o,$$($(1)_SOURCES) $(FIRMWARE_LIB))
MACHINE_$(1) ?= $$($(1)_GEN)/machine.json

$(BUILD)/gen/firmware/$(1)/machine.json: firmware/$(1)/machine $(BUILD)/bin/lss $(LSS_LIBRARY) \
  $$(wildcard $$(dir $$(firstword $$(call words_of,firmware/$(1)/machine)))*.lss)
	@mkdir -p $$(@D)
	$(BUILD)/bin/lss export $$(call words_of,$$<) -o $$@

$(BUILD)/gen/firmware/$(1)/registers.h: $$(MACHINE_$(1)) firmware/tools/describe.py
	@mkdir -p $$(@D)
	$$(PYTHON3) firmware/tools/describe.py $$< $$(@D)
	@touch $$@

$(BUILD)/obj/firmware/$(1)/%.o: firmware/% $(BUILD)/gen/firmware/$(1)/registers.h firmware/build.mk $$(wildcard firmware/flags/*) $$(wildcard firmware/$(1)/shares firmware/$(1)/build.mk) $$($(1)_NEEDS)
	@mkdir -p $$(@D)
	$$(FIRMWARE_CC) $$(FIRMWARE_CFLAGS) -I$$($(1)_GEN) -Ifirmware/$(1) $$($(1)_FLAGS) $$(DEPFLAGS) -c $$< -o $$@

$(BUILD)/firmware/$(1)/$(1).elf: $$($(1)_OBJ) firmware/$(1)/$(1).ld
	$$(if $$($(1)_MISSING),$$(error firmware/$(1)/shares: nothing below firmware/ is called $$($(1)_MISSING)))@mkdir -p $$(@D)
	$$(LD_LLD) $$(FIRMWARE_LINK) $$(call words_of,firmware/flags/link) -T firmware/$(1)/$(1).ld -L $$($(1)_GEN) \
	  -Map $$(@:.elf=.map) $$($(1)_OBJ) -o $$@

-include $$($(1)_OBJ:.o=.d)
endef
include $(call found,firmware/*/build.mk)
$(foreach name,$(notdir $(patsubst %/,%,$(dir $(call found,firmware/*/machine)))),$(eval $(call firmware,$(name))))

# What to read beside an executable: its disassembly with source lines, its symbols by address, its sections' sizes.
$(BUILD)/firmware/%.asm: $(BUILD)/firmware/%.elf
	$(LLVM_OBJDUMP) -d --no-show-raw-insn --source $< > $@
$(BUILD)/firmware/%.sym: $(BUILD)/firmware/%.elf
	$(LLVM_NM) -n -S $< > $@
$(BUILD)/firmware/%.size: $(BUILD)/firmware/%.elf
	$(LLVM_SIZE) -A -x $< > $@
