// Many runs from one checkpoint (--serve).
#ifndef SPINACH_SERVE_H
#define SPINACH_SERVE_H

#include "lss/runtime/engine/request.h"

// Reads options->restore once, then lines of standard input: a folder, which is made if it is missing, and options,
// quoted as in a shell.  Each is a run of a process of its own that begins with the state of the checkpoint, has the
// options of this one's command line and then those of the line, works in the folder and writes what it prints to
// log.txt there; no two lines have the same folder.  Standard output says "N begins PID" and "N ends STATUS" of the
// N-th line; at most options->serve run at once.  `simulate` is what runs a command line.  Returns the exit status: 0
// when all of them had 0.
int spinach_serve(int argc, char **argv, spinach_options *options, int (*simulate)(int argc, char **argv));

#endif
