# Fuzzers, run by tests/fuzz/test_fuzz.py, which has them made: of what is built for users, and with SANITIZE=1 below
# build/sanitize.  The compiler and the runtime are those of the other tests there; only emulib, which is not made with
# sanitizers, is compiled anew.
FUZZ       := $(BUILD)/fuzz
FUZZ_FLAGS := -std=gnu11 -g -D_GNU_SOURCE -DFUZZER -I. -Iemulib $(SANITIZE_FLAGS)
FUZZ_LSS   := $(BUILD)/lib/liblss.a

$(FUZZ_LSS): $(filter-out %/commands/main.o,$(LSS_OBJ))
	@mkdir -p $(@D)
	@rm -f $@
	$(LLVM_AR) rcs $@ $^

$(FUZZ)/fuzz_text: tests/fuzz/fuzz_text.c emulib/program/input_file.c
$(FUZZ)/fuzz_messages: tests/fuzz/fuzz_messages.c emulib/program/input_file.c
$(FUZZ)/fuzz_netlist: tests/fuzz/fuzz_netlist.c emulib/program/input_file.c
$(FUZZ)/fuzz_gdb $(FUZZ)/fuzz_commands: $(FUZZ)/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/two_processors.c emulib/program/input_file.c $(BUILD)/lib/libemulib.a
$(FUZZ)/fuzz_gdb $(FUZZ)/fuzz_commands: FUZZ_FLAGS += -Wl,-u,isas
$(FUZZ)/fuzz_checkpoint: tests/fuzz/fuzz_checkpoint.c
$(FUZZ)/fuzz_links: tests/fuzz/fuzz_links.c emulib/program/input_file.c
$(FUZZ)/fuzz_trace: tests/fuzz/fuzz_trace.c emulib/program/input_file.c
$(FUZZ)/fuzz_packets: tests/fuzz/fuzz_packets.c emulib/program/input_file.c lss/runtime/files/stream.c lss/runtime/files/packet.c tests/fuzz/fuzz_streams.h
$(FUZZ)/fuzz_frames: tests/fuzz/fuzz_frames.c emulib/program/input_file.c lss/runtime/files/stream.c lss/runtime/gateway/frame_record.c lss/runtime/gateway/frame_socket.c tests/fuzz/fuzz_streams.h
$(FUZZ)/fuzz_program: tests/emulib/loader_mutation.c $(if $(SANITIZE),$(call found,emulib/program/*.c),$(BUILD)/lib/libemulib.a)
$(FUZZ)/%: $(FUZZ_LSS) $(BUILD)/lib/libspinach.a
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(call pkg_cflags,glib-2.0) $(filter tests/%.c emulib/%.c,$^) $(filter %.a,$^) -o $@ $(call pkg_libs,glib-2.0 libpcap libdw libelf libzstd nettle json-c) $(if $(FST_OBJ),-lz) -lm

CHECKPOINT_READER := $(addprefix $(BUILD)/obj/runtime/,checkpoint/file.o checkpoint/pages.o checkpoint/resident.o checkpoint/checksum.o files/whole_file.o files/file_place.o text/refusal.o)
$(FUZZ)/flip_checkpoint $(FUZZ)/header_checkpoint: $(FUZZ)/%: tests/fuzz/%.c $(CHECKPOINT_READER)
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) $(call pkg_cflags,glib-2.0) $^ -o $@ $(call pkg_libs,glib-2.0 libzstd nettle)

# Linked into simulators; the look at a restored state passes through it.
$(FUZZ)/poke_state.o: tests/fuzz/poke_state.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -g -O1 -D_GNU_SOURCE -I. -Iemulib $(call pkg_cflags,glib-2.0) -c $< -o $@
