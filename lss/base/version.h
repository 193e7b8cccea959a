// The version of the kit, and the commit that it was built from.
#ifndef LSS_VERSION_H
#define LSS_VERSION_H

// "0.2.0": the only line of the file lss/VERSION.  Simulators, manifests, checkpoints and
// traces name it.  The commit is not in it, so that they are the same bytes whichever commit the compiler is from.
extern const char *const version_number;

// "0.2.0", or, where the build knew its commit, "0.2.0 (COMMIT)" or "0.2.0 (COMMIT, modified)".  The caller frees it.
char *version_text(void);

#endif
