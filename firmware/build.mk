# Firmware.  A directory with a file `machine` is a firmware: the file names the machine it is for (and -D options), from
# which its register header, its linker regions and their documentation are generated.  All .c and .S files of the
# directory and of firmware/lib make NAME.elf; the linker script is NAME.ld.  Flags are those of the instruction set of the
# machine's cores.  Without a .S file the start-up code is that of firmware/start, without a linker script the script there,
# as for `spinach firmware` (harness/firmware.py).  A file `shares` beside `machine` adds sources or the linker script of
# other directories (paths or patterns below firmware/) and flags for the compiler (words that begin with -); a build.mk of
# its own may give the variables below other values for its targets, and name in NAME_NEEDS what its objects depend on.

# The words of a file on one line: make 4.3 sometimes leaves the line break at the end of what $(file) reads.
words_of = $(strip $(file <$(1)))

FIRMWARE_CC = $(CC) $(MAP_HOME)
# Where the disassembler finds the sources whose folder is mapped.
FIRMWARE_SOURCES := $(if $(MAP_HOME),--prefix=$(CURDIR) --prefix-strip=$(words $(subst /, ,$(HOME_FOLDER))))
FIRMWARE_LIB := $(call found,firmware/lib/*.c)
LSS_LIBRARY  := $(call library,*.lss)

# $(call firmware,NAME)
define firmware
FIRMWARE += $(BUILD)/firmware/$(1)/$(1).elf $(BUILD)/firmware/$(1)/$(1).asm $(BUILD)/firmware/$(1)/$(1).sym \
  $(BUILD)/firmware/$(1)/$(1).size
$(1)_GEN := $(BUILD)/gen/firmware/$(1)
$(1)_SHARES := $$(if $$(wildcard firmware/$(1)/shares),$$(call words_of,firmware/$(1)/shares))
$(1)_FLAGS := $$(filter -%,$$($(1)_SHARES))
$(1)_SOURCES := $$(wildcard firmware/$(1)/*.c firmware/$(1)/*.S $$(addprefix firmware/,$$(filter-out -% %.ld,$$($(1)_SHARES))))
$(1)_SCRIPT := $$(firstword $$(wildcard firmware/$(1)/$(1).ld $$(addprefix firmware/,$$(filter %.ld,$$($(1)_SHARES)))) firmware/start/program.ld)
$(1)_MISSING := $$(strip $$(foreach word,$$(filter-out -%,$$($(1)_SHARES)),$$(if $$(wildcard firmware/$$(word)),,$$(word))))
$(1)_OBJ := $$(patsubst firmware/%,$(BUILD)/obj/firmware/$(1)/%.o,$$($(1)_SOURCES) $$(if $$(filter %.S,$$($(1)_SOURCES)),,firmware/start) $(FIRMWARE_LIB))
$(1)_ISA = $$(call words_of,$$($(1)_GEN)/isa)
$(1)_COMPILE = $$(FIRMWARE_CC) $$(call words_of,firmware/flags/$$($(1)_ISA)) $$(call words_of,firmware/flags/common) -Werror -Ifirmware/lib \
  -I$$($(1)_GEN) -Ifirmware/$(1) $$($(1)_FLAGS) $$(DEPFLAGS)
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
	$$(call say,$$<)
	$$($(1)_COMPILE) -c $$< -o $$@

$(BUILD)/obj/firmware/$(1)/start.o: $$(wildcard firmware/start/*.S) $(BUILD)/gen/firmware/$(1)/registers.h firmware/build.mk $$(wildcard firmware/flags/*) $$($(1)_NEEDS)
	@mkdir -p $$(@D)
	$$($(1)_COMPILE) -c firmware/start/$$($(1)_ISA).S -o $$@

$(BUILD)/firmware/$(1)/$(1).elf: $$($(1)_OBJ) $$($(1)_SCRIPT)
	$$(if $$($(1)_MISSING),$$(error firmware/$(1)/shares: nothing below firmware/ is called $$($(1)_MISSING)))@mkdir -p $$(@D)
	$$(LD_LLD) $$(call words_of,firmware/flags/link_$$($(1)_ISA)) $$(call words_of,firmware/flags/link) -T $$($(1)_SCRIPT) -L $$($(1)_GEN) \
	  -Map $$(@:.elf=.map) $$($(1)_OBJ) -o $$@

-include $$($(1)_OBJ:.o=.d)
endef
include $(call found,firmware/*/build.mk)
$(foreach name,$(notdir $(patsubst %/,%,$(dir $(call found,firmware/*/machine)))),$(eval $(call firmware,$(name))))

# What to read beside an executable: its disassembly with source lines, its symbols by address, its sections' sizes.
$(BUILD)/firmware/%.asm: $(BUILD)/firmware/%.elf
	$(LLVM_OBJDUMP) -d --no-show-raw-insn --source $(FIRMWARE_SOURCES) $< > $@
$(BUILD)/firmware/%.sym: $(BUILD)/firmware/%.elf
	$(LLVM_NM) -n -S $< > $@
$(BUILD)/firmware/%.size: $(BUILD)/firmware/%.elf
	$(LLVM_SIZE) -A -x $< > $@
