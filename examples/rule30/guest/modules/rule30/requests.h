// What the driver of the rule-30 accelerator and its programs agree on: /dev/rule30 takes an input line by write(), and
// gives the output line by read(), in whole words of 32 cells.  mmap() of one page gives the registers.  One program at
// a time may have the device open.
#ifndef RULE30_REQUESTS_H
#define RULE30_REQUESTS_H

#include <linux/ioctl.h>

#define RULE30_SET_LENGTH  _IO('r', 1) // length of lines, in cells
#define RULE30_SET_CONTROL _IO('r', 2) // value of the register `control`
#define RULE30_COMPUTE     _IO('r', 3) // computes a line, and sleeps until its interrupt

#endif
