# Fuzzers, with address and undefined-behaviour sanitizers; run by tests/fuzz/test_fuzz.py.  The front end is compiled
# anew here, because a fuzzer needs its coverage counted.
FUZZ       := $(BUILD)/fuzz
FUZZ_FLAGS := -DSPINACH_GLIB_CFLAGS='""' -std=gnu11 -O1 -g -D_GNU_SOURCE -I. -Iemulib -I$(BUILD)/gen -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined -DSPINACH_SOURCE_TREE='"$(CURDIR)"'
FUZZ_LSS   := $(filter-out lss/commands/main.c lss/build/build.c lss/server/%.c lss/commands/command_%.c,$(call found,lss/*/*.c)) \
  lss/runtime/text/json.c lss/runtime/files/whole_file.c emulib/program/input_file.c

TEST_PRODUCTS += $(FUZZ)/fuzz_text $(FUZZ)/fuzz_packets $(FUZZ)/fuzz_program $(FUZZ)/fuzz_netlist $(FUZZ)/fuzz_messages

$(FUZZ)/fuzz_text: tests/fuzz/fuzz_text.c lss/front/tree.c lss/front/parse.c lss/front/syntax_error.c lss/base/arena.c lss/base/diagnostics.c lss/base/caret.c lss/base/source.c emulib/program/input_file.c lss/front/fmt.c lss/base/units.c $(LSS_GEN)/parser.c \
  $(LSS_GEN)/lexer.c | $(LSS_GEN)/parser.h
$(FUZZ)/fuzz_messages: tests/fuzz/fuzz_messages.c lss/server/message.c lss/server/protocol.c lss/base/caret.c lss/base/source.c lss/base/arena.c lss/base/diagnostics.c emulib/program/input_file.c
$(FUZZ)/fuzz_netlist: tests/fuzz/fuzz_netlist.c $(FUZZ_LSS) $(LSS_GEN)/parser.c $(LSS_GEN)/lexer.c | $(LSS_GEN)/parser.h
$(FUZZ)/fuzz_packets: tests/fuzz/fuzz_packets.c emulib/program/input_file.c | lss/runtime/files/stream.c lss/runtime/files/packet.c
$(FUZZ)/fuzz_program: tests/emulib/loader_mutation.c $(call found,emulib/program/*.c)
$(FUZZ)/%:
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) -DFUZZER $(call pkg_cflags,glib-2.0) $(filter %.c,$^) -o $@ $(call pkg_libs,glib-2.0 libpcap libdw libelf json-c) -lm
