# A program for a RISC-V core.
$(BUILD)/obj/firmware/sha256/%.o: FIRMWARE_TARGET = --target=riscv32 -march=rv32i -mabi=ilp32 -mno-relax
$(BUILD)/firmware/sha256/sha256.elf: FIRMWARE_LINK = -m elf32lriscv
