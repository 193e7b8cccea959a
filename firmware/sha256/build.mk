# A program for a RISC-V core.
$(BUILD)/obj/firmware/sha256/%.o: FIRMWARE_TARGET = $(call words_of,firmware/flags/rv32i)
$(BUILD)/firmware/sha256/sha256.elf: FIRMWARE_LINK = $(call words_of,firmware/flags/link_rv32i)
