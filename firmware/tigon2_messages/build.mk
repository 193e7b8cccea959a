# The same program in the form in which Linux's driver of the card loads it.
FIRMWARE += $(BUILD)/firmware/tigon2_messages/tg2.bin
$(BUILD)/firmware/tigon2_messages/tg2.bin: $(BUILD)/firmware/tigon2_messages/tigon2_messages.elf firmware/tools/acenic_image.py
	$(PYTHON3) -B firmware/tools/acenic_image.py $< $@.part
	mv $@.part $@
