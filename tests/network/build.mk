# Linked into the simulators of parts; what they send passes through it (tests/network/test_parts.py has it made).
$(BUILD)/network/loopback.o: tests/network/loopback.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -g -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -I. $(call pkg_cflags,glib-2.0) -c $< -o $@
