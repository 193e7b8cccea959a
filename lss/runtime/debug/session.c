// What the packets of gdb share; see session.h.
#include "lss/runtime/debug/session.h"

#include "lss/runtime/link/part.h"

#include <string.h>

void reply_with(GString *reply, const char *text) {
  g_string_assign(reply, text);
}

void cannot(GString *reply, const char *why) {
  g_string_printf(reply, "E.%s", why);
}

const char *session_is_tied(void) {
  return spinach_part_is_among_others()
             ? "a part that runs among others cannot go back or be changed (record the run with --record-links, and "
               "debug the part alone with --replay-links)"
             : NULL;
}

void append_thread(const Stub *stub, GString *out, guint core) {
  if (stub->multiprocess)
    g_string_append_printf(out, "p%x.1", core);
  else
    g_string_append_printf(out, "%x", core);
}

static bool read_id(const char **text, guint32 *id) {
  if (!g_str_has_prefix(*text, "-1")) return gdb_packet_number(text, id);
  *text += 2;
  *id = ALL;
  return true;
}

bool read_thread(const char **text, guint32 *core) {
  guint32 thread;
  if (**text != 'p') return read_id(text, core) && (*core == ANY || *core == ALL || *core <= core_count());
  (*text)++;
  if (!read_id(text, core)) return false;
  if (**text == '.' && (++*text, !read_id(text, &thread))) return false;
  return *core == ANY || *core == ALL || *core <= core_count();
}

guint first_attached(const Stub *stub) {
  for (guint i = 1; i <= core_count(); i++)
    if (stub->attached[i]) return i;
  return 1;
}
