// How readers of files say that one is wrong.
#ifndef SPINACH_REFUSAL_H
#define SPINACH_REFUSAL_H

#include <glib.h>
#include <stdbool.h>

// Sets *error to a sentence; returns false.
bool spinach_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
