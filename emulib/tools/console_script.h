/* Input of a console by a script, so that a run with input is repeatable.  Lines of the script:
 *
 *   wait TEXT    until the console has printed TEXT, behind what the wait before it was for
 *   send TEXT    type TEXT, with \n, \t and \\ as in C; a character arrives every character time
 *   after TIME   let time pass: a number and s, ms, us or ns
 *
 * Empty lines, and those that begin with #, say nothing.
 */
#ifndef EMULIB_CONSOLE_SCRIPT_H
#define EMULIB_CONSOLE_SCRIPT_H

#include <glib.h>

typedef struct ConsoleScript ConsoleScript;

/* Reads a script; `hz`: cycles a second. */
ConsoleScript *console_script_open(const char *path, guint64 hz, GError **error);
void console_script_free(ConsoleScript *script);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ConsoleScript, console_script_free)

/* The console has printed a character in cycle `now`. */
void console_script_printed(ConsoleScript *script, guint64 now, guint8 character);
/* The cycle in which the next character arrives, or G_MAXUINT64; `spacing`: cycles from one to the next. */
guint64 console_script_next(ConsoleScript *script, guint64 spacing);
/* That character, which has arrived. */
guint8 console_script_take(ConsoleScript *script, guint64 spacing);

#endif
