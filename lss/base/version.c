// The version of the kit, and the commit that it was built from.
//
// The number is compiled in.  The commit is in a file that the build writes next to the runtime library: firmware and
// exported machines are made again when the compiler changes, and a commit alone must not cause that.
#include "lss/base/version.h"

#include "lss/base/library.h"

#include <string.h>

const char *const version_number = SPINACH_VERSION;

char *version_text(void) {
  g_autofree char *products = library_products(),
                  *file = products ? g_build_filename(products, "lib", "commit", NULL) : NULL;
  g_autofree char *commit = NULL;
  if (!file || !g_file_get_contents(file, &commit, NULL, NULL) || !*g_strstrip(commit)) return g_strdup(version_number);
  return g_strdup_printf("%s (%s)", version_number, commit);
}
