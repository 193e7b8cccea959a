# emulib: the instruction set tables, the interpreters, the program loader, and the tools made of them.

EMULIB_ISAS   := $(patsubst emulib/%/,%,$(dir $(call found,emulib/*/instructions.def)))
EMULIB_GEN    := $(BUILD)/gen/emulib
EMULIB_OBJ    := $(BUILD)/obj/emulib
EMULIB_CFLAGS := -I. -Iemulib -I$(EMULIB_GEN) $(call pkg_cflags,glib-2.0 libdw libelf libzstd)
EMULIB_LIBS   := $(call pkg_libs,glib-2.0 libdw libelf libzstd)
EMULIB_OBJECTS := $(patsubst emulib/%.c,$(EMULIB_OBJ)/%.o,$(call found,emulib/*.c $(EMULIB_ISAS:%=emulib/%/*.c) emulib/program/*.c))
# The reader of numbers, which the runtime shares with emulib.
EMULIB_TEXT   := $(EMULIB_OBJ)/text/number.o $(EMULIB_OBJ)/text/quantity.o

# An instruction set's folder tools/ has its oracle.c and disasm.c.
EMULIB_TOOLS  := $(foreach tool,$(call found,emulib/*/tools/*.c),$(BUILD)/bin/$(word 2,$(subst /, ,$(tool)))-$(basename $(notdir $(tool))))

ALL += $(BUILD)/lib/libemulib.a $(EMULIB_TOOLS)

# Both headers come out of one run; the first represents both.  Modules include them too, so they are products by name:
# as links of a chain of pattern rules, make would delete them once emulib is built.
EMULIB_HEADERS := $(EMULIB_ISAS:%=$(EMULIB_GEN)/%_instructions.h)
EMULIB_CONTROL := $(EMULIB_ISAS:%=$(EMULIB_GEN)/%_control.inc)
ALL += $(EMULIB_HEADERS) $(EMULIB_CONTROL)
$(EMULIB_HEADERS): $(EMULIB_GEN)/%_instructions.h: emulib/%/instructions.def emulib/%/bodies.h $(wildcard emulib/*/*bodies.h) emulib/%/fields.py emulib/generate.py emulib/isas.py
	@mkdir -p $(@D)
	$(PYTHON3) -B emulib/generate.py emulib/$*/instructions.def $(wildcard emulib/$*/*bodies.h) $(@D)
$(EMULIB_CONTROL): $(EMULIB_GEN)/%_control.inc: $(EMULIB_GEN)/%_instructions.h ;

$(EMULIB_OBJ)/%.o: emulib/%.c $(EMULIB_HEADERS)
	@mkdir -p $(@D)
	$(call say,$<)
	$(CC) $(CFLAGS_COMMON) $(EMULIB_CFLAGS) $(DEPFLAGS) -c $< -o $@

define emulib_tool
$(EMULIB_OBJ)/tool/%-$(1).o: emulib/%/tools/$(1).c $(EMULIB_HEADERS)
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS_COMMON) $$(EMULIB_CFLAGS) $$(DEPFLAGS) -c $$< -o $$@
endef
$(foreach tool,oracle disasm,$(eval $(call emulib_tool,$(tool))))

$(EMULIB_TEXT): $(EMULIB_OBJ)/text/%.o: lss/runtime/text/%.c
	@mkdir -p $(@D)
	$(call say,$<)
	$(CC) $(CFLAGS_COMMON) $(EMULIB_CFLAGS) $(DEPFLAGS) -c $< -o $@

$(BUILD)/lib/libemulib.a: $(EMULIB_OBJECTS) $(EMULIB_TEXT)
	@mkdir -p $(@D)
	@rm -f $@
	$(LLVM_AR) rcs $@ $^

# A tool is a few lines about its instruction set, and what all oracles or all disassemblers share.
$(EMULIB_TOOLS): $(BUILD)/bin/%: $(EMULIB_OBJ)/tool/%.o $(EMULIB_OBJ)/tools/oracle.o $(EMULIB_OBJ)/tools/disasm.o \
  $(addprefix $(EMULIB_OBJ)/tools/,choose.o flat_memory.o trace_output.o) $(BUILD)/lib/libemulib.a
	@mkdir -p $(@D)
	$(CC) -Wl,-u,isas $(filter %.o,$^) $(filter %.a,$^) $(EMULIB_LIBS) -o $@

# The functional host machine has the address map of the modelled one.
$(EMULIB_GEN)/host/host.json: $(call found,examples/host/*.lss) $(BUILD)/bin/lss $(call library,*.lss) firmware/tools/describe.py
	@mkdir -p $(@D)
	$(BUILD)/bin/lss export examples/host/host.lss -o $@
	$(PYTHON3) -B firmware/tools/describe.py $@ $(@D)
# Written when it is another one only.
$(EMULIB_GEN)/host/registers.h: $(EMULIB_GEN)/host/host.json ;
$(EMULIB_OBJ)/tools/host_machine.o: $(EMULIB_GEN)/host/registers.h

# Tools of one instruction set only.
$(BUILD)/bin/mips-oracle: $(addprefix $(EMULIB_OBJ)/tools/,mips_system_command.o host_machine.o uart16550.o clock_ds1742.o)

-include $(patsubst %.o,%.d,$(EMULIB_OBJECTS) $(EMULIB_TEXT)) $(wildcard $(EMULIB_OBJ)/tools/*.d $(EMULIB_OBJ)/tool/*.d)
