# emulib: the instruction set tables, the interpreter, the program loader, and the tools made of them.

EMULIB_GEN    := $(BUILD)/gen/emulib
EMULIB_OBJ    := $(BUILD)/obj/emulib
EMULIB_CFLAGS := -Iemulib -I$(EMULIB_GEN) $(call pkg_cflags,glib-2.0 libdw libelf)
EMULIB_LIBS   := $(call pkg_libs,glib-2.0 libdw libelf)
EMULIB_OBJECTS := $(patsubst emulib/%.c,$(EMULIB_OBJ)/%.o,$(wildcard emulib/mips/*.c emulib/program/*.c))

ALL += $(BUILD)/lib/libemulib.a $(BUILD)/bin/mips-oracle $(BUILD)/bin/mips-disasm

# Both headers come out of one run; the first stands for both.
$(EMULIB_GEN)/mips_instructions.h: emulib/mips/instructions.def emulib/mips/bodies.h emulib/generate.py emulib/isas.py
	@mkdir -p $(@D)
	$(PYTHON3) emulib/generate.py emulib/mips/instructions.def emulib/mips/bodies.h $(@D)
$(EMULIB_GEN)/mips_control.inc: $(EMULIB_GEN)/mips_instructions.h ;

$(EMULIB_OBJ)/%.o: emulib/%.c $(EMULIB_GEN)/mips_instructions.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMMON) $(EMULIB_CFLAGS) $(DEPFLAGS) -c $< -o $@

$(BUILD)/lib/libemulib.a: $(EMULIB_OBJECTS)
	@mkdir -p $(@D)
	@rm -f $@
	$(LLVM_AR) rcs $@ $^

$(BUILD)/bin/mips-oracle $(BUILD)/bin/mips-disasm: $(BUILD)/bin/%: $(EMULIB_OBJ)/tools/%.o \
  $(EMULIB_OBJ)/tools/flat_memory.o $(BUILD)/lib/libemulib.a
	@mkdir -p $(@D)
	$(CC) $^ $(EMULIB_LIBS) -o $@

-include $(patsubst %.o,%.d,$(EMULIB_OBJECTS)) $(wildcard $(EMULIB_OBJ)/tools/*.d)
