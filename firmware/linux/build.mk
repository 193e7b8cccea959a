# The software of the host machine (README.md here): kernel, initramfs and device tree, by `make linux` alone.  Each step looks
# itself whether there is something to do, and puts a file in its place only when it is whole and another one; so the
# steps are run each time, and nothing is made anew when nothing has changed.
ENDIAN    ?= little
OVERLAY   ?=
GUEST     ?=
VPES      ?=
MACHINE   ?=
COMPUTER  ?=
PREBUILT  ?=
REGISTERS ?=
LINUX     := $(BUILD)/linux
# What is of another machine than the standard one goes elsewhere, as the loader of that one refuses it.
LINUX_OUT ?= $(LINUX)/$(if $(GUEST),guest/$(notdir $(abspath $(GUEST))),$(if $(MACHINE),machine,out))$(if $(filter little,$(ENDIAN)),,-$(ENDIAN))$(if $(VPES),-vpes)
LINUX_SHELL := $(if $(MACHINE)$(GUEST),$(LINUX_OUT),$(LINUX))/shell
# Debian has no programs for big-endian processors any more, so of that byte order there is a kernel only.
LINUX_FILES := $(LINUX_OUT)/vmlinux $(if $(GUEST),$(LINUX_OUT)/initramfs.cpio $(LINUX_OUT)/host.dtb,$(if $(filter little,$(ENDIAN)),$(foreach out,$(LINUX_OUT) $(LINUX_SHELL),$(out)/initramfs.cpio $(out)/host.dtb) $(LINUX_OUT)/root.ext4 $(LINUX_OUT)/disk.dtb))
ifneq ($(GUEST),)
ifneq ($(words $(GUEST)),1)
$(error GUEST: make takes no folder with a space in its name: $(GUEST))
endif
ifneq ($(ENDIAN)$(OVERLAY),little)
$(error GUEST makes a little-endian guest, whose files are in its folder: leave out ENDIAN and OVERLAY)
endif
endif

.PHONY: linux_step
$(LINUX_OUT)/vmlinux: linux_step | $(DEPS_LINUX)
	$(if $(PREBUILT),$(PYTHON3) -B firmware/linux/prebuilt.py "$(PREBUILT)" $(BUILD) $(LINUX_OUT) $(ENDIAN) "$(VPES)", \
	  firmware/linux/kernel $(ENDIAN) "$(LLVM_SUFFIX)" $(BUILD) $(LINUX_OUT) $(if $(VPES),vpes))
# An archive has the package of busybox, too.
$(LINUX_OUT)/initramfs.cpio $(LINUX_OUT)/root.ext4 $(LINUX_SHELL)/initramfs.cpio: | $(if $(PREBUILT),$(LINUX_OUT)/vmlinux)
# A guest folder is an overlay over the guest with a shell.
LINUX_OVERLAY := $(if $(GUEST),$(LINUX_OUT)/overlay,$(OVERLAY))
LINUX_SHELL_FILES := $(addprefix $(LINUX_SHELL)/overlay/,bin/netload bin/marker bin/job bin/load etc/rc.local)
# Sources that include registers.h get that of the machine: of MACHINE, or REGISTERS, a file.
LINUX_REGISTERS := $(if $(GUEST),$(if $(shell grep -rls '[<"]registers\.h[>"]' $(GUEST)/bin $(GUEST)/modules),$(LINUX_OUT)/include/registers.h))
$(LINUX_OUT)/include/registers.h: $(if $(REGISTERS),,$(LINUX_OUT)/host.json) firmware/tools/describe.py linux_step
	@mkdir -p $(@D)
	$(if $(REGISTERS),cmp -s $(REGISTERS) $@ || cp $(REGISTERS) $@,$(PYTHON3) -B firmware/tools/describe.py $< $(@D))
LINUX_MODULES := $(if $(wildcard $(GUEST)/modules),$(LINUX_OUT)/modules)
# Of a name that is none, `guest` says so.
LINUX_NIC := $(if $(wildcard $(GUEST)/nic_firmware),$(call words_of,$(GUEST)/nic_firmware))
LINUX_NIC := $(if $(wildcard $(if $(LINUX_NIC),firmware/$(LINUX_NIC)/build.mk)),$(LINUX_NIC),tigon2)
$(LINUX_OUT)/initramfs.cpio: $(BUILD)/firmware/$(LINUX_NIC)/tg2.bin $(if $(GUEST),$(LINUX_SHELL_FILES) $(LINUX_REGISTERS)) linux_step \
		| $(DEPS_LINUX) $(if $(wildcard $(GUEST)/bin/*.c),$(DEPS_GUEST)) $(if $(GUEST),$(LINUX_OUT)/vmlinux)
	@mkdir -p $(@D)
	$(if $(LINUX_MODULES),firmware/linux/modules $(GUEST)/modules $(ENDIAN) "$(LLVM_SUFFIX)" $(BUILD) $(LINUX_OUT) $(LINUX_MODULES) $(if $(VPES),vpes))
	$(if $(GUEST),firmware/linux/guest "$(GUEST)" $(LINUX_SHELL)/overlay $(LINUX_OUT) "$(LINUX_MODULES)" $(LINUX_OVERLAY))
	package=$$(firmware/linux/fetch busybox-static $(BUILD)/downloads) \
	  && firmware/linux/initramfs "$$package" $< "$(LINUX_OVERLAY)" $@
$(LINUX_OUT)/root.ext4: $(BUILD)/firmware/tigon2/tg2.bin linux_step | $(DEPS_LINUX)
	@mkdir -p $(@D)
	package=$$(firmware/linux/fetch busybox-static $(BUILD)/downloads) \
	  && firmware/linux/disk "$$package" $< "$(OVERLAY)" $@
# The tree's numbers are those of the machine: the standard one with all devices that it may have, which is made with
# everything else, or that of MACHINE: options of examples/host/host.lss, or another machine and options of that.
LINUX_STANDARD := $(BUILD)/gen/firmware/linux/host.dts
LINUX_TREE     := $(if $(MACHINE)$(GUEST),$(LINUX_OUT)/host.dts,$(LINUX_STANDARD))
ALL += $(LINUX_STANDARD)
linux_export = $(BUILD)/bin/lss export -I examples/tigon2 $(1) -o $@
LINUX_ALL_DEVICES   := examples/host/server.lss -D 'cards=[tigon2_slot,scsi_card]'
LINUX_MACHINE        = $(if $(filter %.lss,$(MACHINE)),,examples/host/host.lss) $(MACHINE)
LINUX_TREE_OF        = $(if $(MACHINE),$(LINUX_MACHINE),$(LINUX_ALL_DEVICES))
LINUX_PROMPT        := $(if $(MACHINE),$(LINUX_OUT),$(LINUX))/prompt
LINUX_MACHINE_FILES := $(call found,examples/host/*.lss) $(call found,examples/tigon2/*.lss) $(BUILD)/bin/lss $(LSS_LIBRARY)
$(BUILD)/gen/firmware/linux/host.json: $(LINUX_MACHINE_FILES)
	@mkdir -p $(@D)
	$(call linux_export,$(LINUX_ALL_DEVICES))
$(LINUX_OUT)/host.json: $(LINUX_MACHINE_FILES) linux_step
	@mkdir -p $(@D)
	$(call linux_export,$(LINUX_TREE_OF))
$(LINUX_STANDARD) $(LINUX_OUT)/host.dts $(LINUX_PROMPT)/host.dts: %.dts: %.json firmware/linux/host.dts firmware/tools/device_tree.py
	$(PYTHON3) -B firmware/tools/device_tree.py $(if $(filter-out $(LINUX_STANDARD),$@),$(if $(COMPUTER),--computer "$(COMPUTER)")) $< firmware/linux/host.dts $(if $(filter $(LINUX_OUT)/%,$@),$(wildcard $(GUEST)/tree.dts)) $@
# Made anew each time, as MACHINE may be another; put in their place when they are others.
$(LINUX_OUT)/host.dtb $(LINUX_SHELL)/host.dtb: %/host.dtb: $(LINUX_TREE) %/initramfs.cpio firmware/linux/tree linux_step | $(DEPS_LINUX)
	firmware/linux/tree $< $*/initramfs.cpio $@
$(LINUX_OUT)/disk.dtb: $(LINUX_TREE) firmware/linux/tree linux_step | $(DEPS_LINUX)
	firmware/linux/tree $< "" $@

# Another guest of the same kernel, for studies: it ends at a shell, and has programs that load the network and set markers.
$(LINUX_SHELL)/overlay/bin/netload $(LINUX_SHELL)/overlay/bin/marker: $(LINUX_SHELL)/overlay/bin/%: firmware/linux/%.c firmware/linux/system_call.h firmware/lib/marker.h firmware/linux/build.mk
	@mkdir -p $(@D)
	$(CC) --target=mipsel-linux-gnu -mips32r2 -mno-abicalls -fno-pic -static -nostdlib -ffreestanding -fno-builtin -G0 -fuse-ld=lld \
	  -O2 -g -Wall -Wextra -Werror -Ifirmware/lib $< -o $@
$(addprefix $(LINUX_SHELL)/overlay/,etc/rc.local bin/job bin/load): $(LINUX_SHELL)/overlay/%: firmware/linux/shell/%
	@mkdir -p $(@D)
	cp $< $@
$(LINUX_SHELL)/initramfs.cpio: $(BUILD)/firmware/tigon2/tg2.bin $(LINUX_SHELL_FILES) linux_step | $(DEPS_LINUX)
	package=$$(firmware/linux/fetch busybox-static $(BUILD)/downloads) \
	  && firmware/linux/initramfs "$$package" $< $(LINUX_SHELL)/overlay $@

# A checkpoint of that guest at its prompt, where jobs begin (`spinach job`): the machine with a disk of jobs, a tree of that machine, and
# a boot with the options BOOT.  The simulator and the checkpoint are put in their place when they are others.
BOOT ?=
$(LINUX_PROMPT)/host.json: $(LINUX_MACHINE_FILES) linux_step
	$(if $(filter-out little,$(ENDIAN)),$(error linux-prompt: there is no guest with a shell for ENDIAN=$(ENDIAN)))
	@mkdir -p $(@D)
	$(call linux_export,$(LINUX_MACHINE) -D jobs=true)
$(LINUX_PROMPT)/host.dtb: $(LINUX_PROMPT)/host.dts $(LINUX_SHELL)/initramfs.cpio firmware/linux/tree | $(DEPS_LINUX)
	firmware/linux/tree $< $(LINUX_SHELL)/initramfs.cpio $@
$(LINUX_PROMPT)/host: $(LINUX_MACHINE_FILES) linux_step | all
	@mkdir -p $(@D)
	$(call say_step,building the simulator of $(LINUX_MACHINE))
	$(BUILD)/bin/lss build -I examples/tigon2 $(LINUX_MACHINE) -D jobs=true -o $@.part && { cmp -s $@.part $@ && rm $@.part || mv $@.part $@; }
$(LINUX_PROMPT)/checkpoint: $(LINUX_PROMPT)/host $(LINUX_PROMPT)/host.dtb $(LINUX_OUT)/vmlinux $(LINUX_SHELL)/initramfs.cpio firmware/linux/prompt
	$(call say_step,booting the guest until its prompt)
	firmware/linux/prompt $(@D) $(LINUX_OUT)/vmlinux $(@D)/host.dtb $(LINUX_SHELL)/initramfs.cpio $(BOOT)
