// ranged.c: holds nothing; see ranged.lss.
phase_end() {}
