# The functional model of the Tigon-2 for tests of its firmware, as a library that Python loads.
FIRMWARE_MODEL := $(BUILD)/lib/tests/libtigon2model.so
TEST_PRODUCTS  += $(FIRMWARE_MODEL)

$(FIRMWARE_MODEL): tests/firmware/model.c tests/firmware/model.h emulib/mips/interpreter.c $(call found,emulib/program/*.c) \
  $(BUILD)/gen/firmware/tigon2/registers.h $(BUILD)/gen/emulib/mips_instructions.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMMON) -fPIC -shared -fvisibility=default -Iemulib -I$(BUILD)/gen/emulib -I$(BUILD)/gen/firmware/tigon2 \
	  $(call pkg_cflags,glib-2.0 libdw libelf libzstd) $(filter %.c,$^) -o $@ $(call pkg_libs,glib-2.0 libdw libelf libzstd)

# The same for the 10 Gb/s NIC, with any number of cores.
NIC10G_MODEL   := $(BUILD)/lib/tests/libnic10gmodel.so
TEST_PRODUCTS  += $(NIC10G_MODEL)

$(NIC10G_MODEL): tests/firmware/cores.c tests/firmware/cores.h emulib/mips/interpreter.c $(call found,emulib/program/*.c) \
  $(BUILD)/gen/firmware/nic10g/registers.h $(BUILD)/gen/emulib/mips_instructions.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMMON) -fPIC -shared -fvisibility=default -Iemulib -I$(BUILD)/gen/emulib -I$(BUILD)/gen/firmware/nic10g \
	  $(call pkg_cflags,glib-2.0 libdw libelf libzstd) $(filter %.c,$^) -o $@ $(call pkg_libs,glib-2.0 libdw libelf libzstd)
