# A program for a RISC-V core.
$(BUILD)/obj/firmware/chase/%.o: FIRMWARE_TARGET = $(call words_of,firmware/flags/rv32i)
$(BUILD)/firmware/chase/chase.elf: FIRMWARE_LINK = $(call words_of,firmware/flags/link_rv32i)
