// What a Linux kernel says of itself, in the line that it prints first: "Linux version 6.1.192 (...) #1 SMP ...".  A
// kernel that starts more than one processor has "SMP" after its number.  Free of GLib, for simulated boot loaders.
#ifndef EMULIB_LINUX_BANNER_H
#define EMULIB_LINUX_BANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum linux_kind { LINUX_NONE, LINUX_FOR_ONE, LINUX_FOR_SEVERAL };

// Of a program that is not compressed; LINUX_NONE where there is no such line.
enum linux_kind linux_banner_kind(const uint8_t *bytes, size_t size);

#endif
