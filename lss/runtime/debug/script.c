// The gdb script of a machine; see debug.h.
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/observe/program_text.h"

#include <string.h>

// Words of memory that have a name can be watched by it: watch *$mac_tx_producer.
static void name_words(const Core *core) {
  for (guint i = 0; i < core->regions->len; i++) {
    const CoreRegion *region = &g_array_index(core->regions, CoreRegion, i);
    for (uint32_t k = 0; k < region->declared->name_count; k++)
      printf("set $%s = (unsigned int *) 0x%08x\n", region->declared->names[k].name,
             (unsigned)core_unmapped(core, region->declared->first + region->declared->names[k].offset));
  }
}

// Whose instruction is taken back gdb says only while processes go on one by one.
static const char *const backwards[] = {"reverse-stepi", "reverse-nexti", "reverse-step", "reverse-next",
                                        "reverse-finish"};

void spinach_debug_script(const spinach_options *options) {
  const GPtrArray *cores = spinach_cores();
  const char *image = spinach_listed_path(0), *own;
  const bool is_port = strspn(options->gdb, "0123456789") == strlen(options->gdb);
  printf("# gdb-multiarch -x THIS: connects to %s, a process for each processor.\n", spinach_program);
  if (image) printf("file %s\n", image);
  printf("set remotetimeout 300\n"); // a variant is built for a watchpoint (handover.h)
  printf("target extended-remote %s%s\n", is_port ? "localhost:" : "", options->gdb);
  for (guint i = 2; i <= cores->len; i++) {
    own = spinach_listed_path(i - 1);
    printf("add-inferior%s%s\ninferior %u\nattach %u\n", own ? " -exec " : "", own ? own : "", i, i);
  }
  if (cores->len > 1) {
    printf("inferior 1\nset schedule-multiple on\n");
    for (guint i = 0; i < G_N_ELEMENTS(backwards); i++)
      printf("define hook-%s\nset schedule-multiple off\nend\ndefine hookpost-%s\nset schedule-multiple on\nend\n",
             backwards[i], backwards[i]);
  }
  if (cores->len) name_words(cores->pdata[0]);
}
