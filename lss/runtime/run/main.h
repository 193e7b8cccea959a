// The main program of every simulator, which generated code calls.
#ifndef SPINACH_MAIN_H
#define SPINACH_MAIN_H

int spinach_main(int argc, char **argv);

#endif
