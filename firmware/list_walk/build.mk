# A program for a RISC-V core.
$(BUILD)/obj/firmware/list_walk/%.o: FIRMWARE_TARGET = $(call words_of,firmware/flags/rv32i)
$(BUILD)/firmware/list_walk/list_walk.elf: FIRMWARE_LINK = $(call words_of,firmware/flags/link_rv32i)
