// mips-oracle --system: runs what an operating system is, or a program without one, on the functional host machine.
#ifndef EMULIB_MIPS_SYSTEM_COMMAND_H
#define EMULIB_MIPS_SYSTEM_COMMAND_H

// True when the command line asks for it.
int mips_system_requested(int argc, char **argv);
int mips_system_main(int argc, char **argv);

#endif
