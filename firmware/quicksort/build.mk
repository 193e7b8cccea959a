# A program for a RISC-V core.
$(BUILD)/obj/firmware/quicksort/%.o: FIRMWARE_TARGET = $(call words_of,firmware/flags/rv32i)
$(BUILD)/firmware/quicksort/quicksort.elf: FIRMWARE_LINK = $(call words_of,firmware/flags/link_rv32i)
