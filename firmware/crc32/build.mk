# A program for a RISC-V core.
$(BUILD)/obj/firmware/crc32/%.o: FIRMWARE_TARGET = $(call words_of,firmware/flags/rv32i)
$(BUILD)/firmware/crc32/crc32.elf: FIRMWARE_LINK = $(call words_of,firmware/flags/link_rv32i)
