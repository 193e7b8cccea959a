# A program for a core that executes bundles of two instructions.
fir_NEEDS := firmware/tools/bundle.py
$(BUILD)/obj/firmware/fir/%.o: FIRMWARE_CC = $(PYTHON3) -B firmware/tools/bundle.py $(CC)
