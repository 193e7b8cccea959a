// Input of a console by a script, so that a run with input is repeatable.  Lines of the script:
//
//   wait "TEXT"    until the console has printed TEXT, after what the wait before it was for
//   send "TEXT"    type TEXT; a character arrives every character time
//   after TIME     let time pass, in whole nanoseconds: a number and s, ms, us or ns
//
// TEXT has \n, \t, \", \\ and \OOO (octal) as in C; one that is sent may have \000.  Its quotes show where it begins
// and ends: a prompt ends in a blank.
//
// Empty lines, and those that begin with #, say nothing.  How far a script has come is a few numbers, which belong to
// the state of a machine; the script is read anew where they say.
#ifndef EMULIB_CONSOLE_SCRIPT_H
#define EMULIB_CONSOLE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file's contents.
typedef struct {
  const char *text;
  size_t size;
} ConsoleScript;

// How far it has come; zero is the beginning.
typedef struct {
  uint32_t line;    // that is being done, as an offset in the text
  uint32_t sent;    // characters of it that have been typed
  uint32_t wait;    // behind the line whose text the console printed last, likewise
  uint32_t matched; // characters of the next such text that it has printed
} ConsoleProgress;

// What a script does next.
typedef enum { CONSOLE_ENDS, CONSOLE_WAITS, CONSOLE_SENDS } ConsoleStep;

// The longest TEXT.
enum { CONSOLE_TEXT = 255 };

// The number, from 1, of the first line that is wrong, or 0; and in `why` what is wrong with it.
uint32_t console_script_wrong_line(ConsoleScript script, char *why, size_t size);
enum { CONSOLE_WHY = 2 * CONSOLE_TEXT };
// The line at an offset for messages: "line 3 (send "ls\n")".
void console_script_step(ConsoleScript script, uint32_t at, char *text, size_t size);
// Whether it waits for a text, and nothing else.
bool console_script_waits(ConsoleScript script, const ConsoleProgress *progress);

// The console has printed a character; true when the script waited for it.
bool console_script_printed(ConsoleScript script, ConsoleProgress *progress, uint8_t character);
// What comes next, and in *ns how much time is to pass before, since the step before or its last character.
ConsoleStep console_script_next(ConsoleScript script, ConsoleProgress *progress, uint64_t *ns);
// The character that is sent next, which has arrived.
uint8_t console_script_take(ConsoleScript script, ConsoleProgress *progress);

#endif
