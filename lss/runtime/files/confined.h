// Files that something other than the user's command line names: a debugger, a checkpoint.
#ifndef SPINACH_CONFINED_H
#define SPINACH_CONFINED_H

// Why a file of this name is not to be written; NULL when it may be.  It has to lie below the working folder, links
// followed, and what has the name already has to be a file that begins with `word` (NULL: any file).  The caller frees
// it.
char *confined_problem(const char *path, const char *word);

#endif
