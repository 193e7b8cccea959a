// The machines that are checked while their files are edited.  These are the files that the editor has open, those that
// the command line names, and for a module that none of them uses, the machines beside it.  Each is checked again, in a
// job, when a file changes that it was made from; all their diagnostics of a file together are sent to the editor.
#ifndef LSS_MACHINES_H
#define LSS_MACHINES_H

#include "lss/base/compile_options.h"

// The options stay the caller's.
void machines_start(const CompileOptions *options);
// A machine that is checked whether it is open or not.
void machines_name(const char *path);

// What the editor has done to a file; documents know it already.
void machines_opened(const char *path);
void machines_changed(const char *path);
void machines_closed(const char *path);

void machines_stop(void);

#endif
