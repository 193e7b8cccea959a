// What a file is; see top_level.h.
#include "lss/server/top_level.h"

#include "lss/base/source.h"
#include "lss/front/tree.h"

static bool instantiates(const GPtrArray *nodes) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (node->kind == NODE_INSTANCE) return true;
    if (node->kind != NODE_MODULE && (instantiates(node->body) || instantiates(node->other))) return true;
  }
  return false;
}

bool file_instantiates(const char *path) {
  gsize length;
  g_autofree char *text = source_read(path, &length, NULL);
  return text && instantiates(parse_text(path, text, length)->nodes);
}
