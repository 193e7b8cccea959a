// Names used by frame_checker.c.
#ifndef FRAME_CHECKER_H
#define FRAME_CHECKER_H

enum { CHECKER_TO_WIRE, CHECKER_TO_HOST };

static const char *const checker_direction[2] = {"from host to wire", "from wire to host"};

#endif
