// duplex.c: the two ends of a duplex bundle; see duplex.lss.
phase_start() {}
