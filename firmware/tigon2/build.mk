# The same program in the form in which Linux's driver of the card loads it.
FIRMWARE += $(BUILD)/firmware/tigon2/tg2.bin
$(BUILD)/firmware/tigon2/tg2.bin: $(BUILD)/firmware/tigon2/tigon2.elf firmware/tools/acenic_image.py
	$(PYTHON3) -B firmware/tools/acenic_image.py $< $@.part
	mv $@.part $@
