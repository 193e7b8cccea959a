// Fuzzes the whole front end: any bytes, taken as a machine, give a netlist or diagnostics.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/netlist.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  int handle = memfd_create("machine", 0);
  if (handle < 0 || write(handle, bytes, size) != (ssize_t)size) abort();
  g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", handle);
  g_autofree char *text = g_strndup((const char *)bytes, size);
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  CompileOptions options = {.include_dirs = none, .defines = none, .max_instances = 200, .max_steps = 20000};
  diag_register_text(path, text);
  Netlist *netlist = compile_netlist(path, &options);
  if (!netlist && diag_error_count() == 0) abort(); // a refusal without a word
  diag_flush();
  if (netlist) netlist_free(netlist);
  diag_reset();
  arena_release();
  close(handle);
  return 0;
}
