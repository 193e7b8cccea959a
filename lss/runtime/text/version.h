// The version of compiler and runtime, which are one.
#ifndef SPINACH_VERSION_H
#define SPINACH_VERSION_H

#ifndef SPINACH_VERSION
#define SPINACH_VERSION "0.1"
#endif

#endif
