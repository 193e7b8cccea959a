// The vocabulary bound to one port or local: accesses to the members of a context, and functions that store into them.
#include "lss/emit/emit.h"

#include <string.h>

#define INLINE      "SPINACH_INLINE "
#define LARGE_VALUE "64" // bytes; a branch that the host predicts costs as much as a copy of these

// A function that stores into a written signal, once for lane 0 and once with a lane; overloading distinguishes a lane
// from a value whatever commas the value has.
static void emit_store(GString *out, const char *function, const char *holder, const char *type, const char *name,
                       int lanes, bool pointer, bool data, bool flagged, bool debug, bool unconnected) {
  const char *value = "value";
  g_string_append_printf(out,
                         INLINE "__attribute__((overloadable)) void @S@_%s(%s *w, uint32_t id, int i, %s value) {\n",
                         function, holder, type);
  if (unconnected)
    g_string_append(out, "  i = 0;\n"); // any lane goes nowhere
  else if (debug) {
    g_string_append_printf(out, "  i = spinach_check_lane(i, %d, id, \"%s\");\n", lanes, name);
    g_string_append_printf(out, "  { __typeof__(%sw->v[0]) fresh = %s;\n", pointer ? "*" : "", value);
    g_string_append_printf(out, "    bool same = %s memcmp(%sw->v[i], &fresh, sizeof fresh) == 0;\n",
                           data ? "w->some[i] &&" : "", pointer ? "" : "&");
    g_string_append_printf(out, "    spinach_check_write(w->known[i], w->partial, same, id, \"%s\", i); }\n", name);
  }
  g_string_append_printf(out, "  %sw->v[i] = %s;\n", pointer ? "*" : "", value);
  if (data) g_string_append(out, "  w->some[i] = true;\n");
  if (flagged) g_string_append(out, "  w->known[i] = true;\n");
  g_string_append_printf(
      out,
      "}\n" INLINE
      "__attribute__((overloadable)) void @S@_%s(%s *w, uint32_t id, %s value) { @S@_%s(w, id, 0, value); }\n",
      function, holder, type, function);
}

static void emit_send_nothing(GString *out, const Port *port, bool flagged, bool debug) {
  const char *p = port->c_name;
  g_string_append_printf(
      out, INLINE "__attribute__((overloadable)) void @S@_send_nothing_%s(@S@_w_%s_data *w, uint32_t id, int i) {\n", p,
      p);
  if (port->lanes->len == 0)
    g_string_append(out, "  i = 0;\n");
  else if (debug)
    g_string_append_printf(out,
                           "  i = spinach_check_lane(i, %d, id, \"%s\");\n  spinach_check_write(w->known[i], "
                           "w->partial, !w->some[i], id, \"%s.data\", i);\n",
                           MAX((int)port->lanes->len, 1), port->name, port->name);
  g_string_append(out, "  w->some[i] = false;\n");
  if (flagged) g_string_append(out, "  w->known[i] = true;\n");
  g_string_append_printf(out,
                         "}\n" INLINE "__attribute__((overloadable)) void @S@_send_nothing_%s(@S@_w_%s_data *w, "
                         "uint32_t id) { @S@_send_nothing_%s(w, id, 0); }\n",
                         p, p, p);
}

// Without a branch around the value, which keeps long chains free of jumps.  Only of a large value, such as a sector of
// a disk, the copy costs more than the branch.
static void emit_send_if(GString *out, const Port *port, bool flagged, bool debug) {
  const char *p = port->c_name, *type = emit_c_type(port->type);
  g_string_append_printf(out,
                         INLINE "__attribute__((overloadable)) void @S@_send_if_%s(@S@_w_%s_data *w, uint32_t id, int "
                                "i, bool present, %s value) {\n",
                         p, p, type);
  if (debug)
    g_string_append_printf(
        out, "  if (!present) { @S@_send_nothing_%s(w, id, i); return; }\n  @S@_send_%s(w, id, i, value);\n", p, p);
  else
    g_string_append_printf(out, "%s  %sw->v[i] = value;\n  w->some[i] = present;\n%s",
                           port->lanes->len == 0 ? "  i = 0;\n" : "",
                           plan_by_pointer(port->type) ? "if (present || sizeof value <= " LARGE_VALUE ") *" : "",
                           flagged ? "  w->known[i] = true;\n" : "");
  g_string_append_printf(out,
                         "}\n" INLINE "__attribute__((overloadable)) void @S@_send_if_%s(@S@_w_%s_data *w, uint32_t "
                         "id, bool present, %s value) { @S@_send_if_%s(w, id, 0, present, value); }\n",
                         p, p, type, p);
}

// An lvalue that is checked in debug builds before it is read.
static void emit_access(GString *out, const char *macro, const char *port, const char *member, const char *array,
                        const char *star, const char *text, int lanes, bool debug, bool unconnected) {
  if (unconnected) {
    g_string_append_printf(out, "#define SP_%s_%s(i) (%sctx->%s.%s[0 * (i)])\n", macro, port, star, member,
                           array); // every lane is alike
    return;
  }
  if (!debug) {
    g_string_append_printf(out, "#define SP_%s_%s(i) (%sctx->%s.%s[i])\n", macro, port, star, member, array);
    return;
  }
  g_string_append_printf(
      out,
      "#define SP_%s_%s(i) (*({ int lane_ = spinach_check_lane((i), %d, self->spinach_id, \"%s\"); "
      "spinach_check_read(ctx->%s.known[lane_], self->spinach_id, \"%s\", lane_); %sctx->%s.%s[lane_]; }))\n",
      macro, port, lanes, text, member, text, *star ? "" : "&", member, array);
}

// `data` makes a payload that was not sent zero where it is read, so that what is not read costs nothing;
// after a test of `some` that costs nothing.  `item` leaves that to its user, who knows that something was sent.
static void emit_items(GString *out, const Port *port, bool flagged, bool debug) {
  const char *p = port->c_name, *type = emit_c_type(port->type);
  bool unset = plan_by_pointer(port->type) && !flagged && port->lanes->len > 0;
  if (unset)
    g_string_append_printf(out,
                           INLINE "const %s *@S@_data_%s(const @S@_r_%s_data *r, int i) {\n"
                                  "  if (!r->some[i]) *(%s *)r->v[i] = (%s){0};\n  return r->v[i];\n}\n"
                                  "#define SP_data_%s(i) (*@S@_data_%s(&ctx->read_%s_data, (i)))\n"
                                  "#define SP_item_%s(i) (*ctx->read_%s_data.v[i])\n",
                           type, p, p, type, type, p, p, p, p, p);
  else if (debug)
    g_string_append_printf(out,
                           "#define SP_item_%s(i) (*({ if (!SP_some_%s(i)) spinach_no_item(self->spinach_id, \"%s\", "
                           "(i)); &SP_data_%s(i); }))\n",
                           p, p, port->name, p);
  else
    g_string_append_printf(out, "#define SP_item_%s(i) SP_data_%s(i)\n", p, p);
}

// Lanes by their keys.  The number of the port keeps `a`, `b_c` apart from `a_b`, `c`; clang_errors.c reads these
// names.  An unconnected port has no keys, but code that asks for its width first, or serves lanes that are not there,
// is C all the same: any key is a number there, another one each time, so that they may be case labels.
static void emit_keys(GString *out, const Port *port) {
  const char *p = port->c_name;
  g_autoptr(GString) texts = g_string_new(NULL);
  for (int lane = 0; port->keys && lane < (int)port->keys->len; lane++) {
    const char *key = port_key(port, lane);
    g_string_append_printf(texts, "\"%s\", ", key ? key : "");
    if (key && !port_key_repeated(port, lane))
      g_string_append_printf(out, "enum { @S@_lane%d_of_%s_key_%s = %d };\n", port->id, p, key, lane);
    else if (key) // only for messages
      g_string_append_printf(out, "// @S@_lane%d_of_%s_key_%s = several\n", port->id, p, key);
  }
  if (port->lanes->len == 0)
    g_string_append_printf(out, "#define SP_lane_%s(k) __COUNTER__\n", p);
  else
    g_string_append_printf(out, "#define SP_lane_%s(k) @S@_lane%d_of_%s_##k\n", p, port->id, p);
  if (texts->len)
    g_string_append_printf(out,
                           "#define SP_key_%s(i) ({ static const char *const keys_[] = {%s}; const uint32_t lane_ = "
                           "(uint32_t)(i); lane_ < %uu ? keys_[lane_] : \"\"; })\n",
                           p, texts->str, port->keys->len);
  else
    g_string_append_printf(out, "#define SP_key_%s(i) ((void)(i), \"\")\n", p);
}

// The members of a bundle are lane for lane alike, so the bundle's own name means its first member.
static void emit_bundle(GString *out, const Port *port) {
  const char *dot = strchr(port->name, '.');
  if (!dot) return;
  const size_t length = (size_t)(dot - port->name) + 1;
  const Port *before = port->id ? port->instance->ports->pdata[port->id - 1] : NULL;
  if (before && !strncmp(before->name, port->name, length)) return;
  const char *words[] = {"lane", "key"};
  for (int i = 0; i < 2; i++)
    g_string_append_printf(out, "#define SP_%s_%.*s(k) SP_%s_%s(k)\n", words[i], (int)length - 1, port->name, words[i],
                           port->c_name);
  g_string_append_printf(out, "#define SP_width_%.*s SP_width_%s\n", (int)length - 1, port->name, port->c_name);
}

void emit_port(const Emitter *emitter, GString *out, const Port *port, bool flagged) {
  const bool debug = emitter->plan->debug;
  const char *p = port->c_name, *star = plan_by_pointer(port->type) ? "*" : "",
             *read_star = plan_read_in_place(emitter->plan, port) ? "*" : "";
  int lanes = MAX((int)port->lanes->len, 1);
  g_autofree char *data = g_strdup_printf("%s.data", port->name), *ack = g_strdup_printf("%s.ack", port->name),
                  *enable = g_strdup_printf("%s.enable", port->name);
  g_autofree char *read_data = g_strdup_printf("read_%s_data", p), *read_ack = g_strdup_printf("read_%s_ack", p),
                  *read_enable = g_strdup_printf("read_%s_enable", p);
  g_autofree char *symbol = emit_type_symbol(port->type);
  g_string_append_printf(out, "enum { @S@_width_%s = %d };\n#define SP_width_%s @S@_width_%s\n", p,
                         (int)port->lanes->len, p, p);
  emit_keys(out, port);
  emit_bundle(out, port);
  g_string_append_printf(out, "#define SP_type_%s %s\n#define SP_descriptor_%s %s\n", p, emit_c_type(port->type), p,
                         symbol);
  if (!*star || flagged || port->lanes->len == 0)
    emit_access(out, "data", p, read_data, "v", read_star, data, lanes, debug, port->lanes->len == 0);
  emit_items(out, port, flagged, debug);
  emit_access(out, "some", p, read_data, "some", "", data, lanes, debug, port->lanes->len == 0);
  emit_access(out, "enabled", p, read_enable, "v", "", enable, lanes, debug, port->lanes->len == 0);
  emit_access(out, "acked", p, read_ack, "v", "", ack, lanes, debug, port->lanes->len == 0);
  if (flagged)
    g_string_append_printf(out,
                           "#define SP_known_data_%s(i) (ctx->%s.known[i])\n#define SP_known_enable_%s(i) "
                           "(ctx->%s.known[i])\n#define SP_known_ack_%s(i) (ctx->%s.known[i])\n",
                           p, read_data, p, read_enable, p, read_ack);
  g_autofree char *flag = g_strdup_printf("@S@_%s_flag", p);
  if (port->output) {
    g_autofree char *holder = g_strdup_printf("@S@_w_%s_data", p), *send = g_strdup_printf("send_%s", p),
                    *enable_f = g_strdup_printf("enable_%s", p);
    emit_store(out, send, holder, emit_c_type(port->type), data, lanes, *star, true, flagged, debug,
               port->lanes->len == 0);
    emit_send_nothing(out, port, flagged, debug);
    emit_send_if(out, port, flagged, debug);
    emit_store(out, enable_f, flag, "bool", enable, lanes, false, false, flagged, debug, port->lanes->len == 0);
    g_string_append_printf(
        out, "#define SP_send_%s(...) @S@_send_%s(&ctx->write_%s_data, self->spinach_id, __VA_ARGS__)\n", p, p, p);
    g_string_append_printf(
        out, "#define SP_send_if_%s(...) @S@_send_if_%s(&ctx->write_%s_data, self->spinach_id, __VA_ARGS__)\n", p, p,
        p);
    g_string_append_printf(out,
                           "#define SP_send_nothing_%s(...) @S@_send_nothing_%s(&ctx->write_%s_data, self->spinach_id "
                           "__VA_OPT__(,) __VA_ARGS__)\n",
                           p, p, p);
    g_string_append_printf(
        out, "#define SP_enable_%s(...) @S@_enable_%s(&ctx->write_%s_enable, self->spinach_id, __VA_ARGS__)\n", p, p,
        p);
  } else {
    g_autofree char *accept_f = g_strdup_printf("accept_%s", p);
    emit_store(out, accept_f, flag, "bool", ack, lanes, false, false, flagged, debug, port->lanes->len == 0);
    g_string_append_printf(
        out, "#define SP_accept_%s(...) @S@_accept_%s(&ctx->write_%s_ack, self->spinach_id, __VA_ARGS__)\n", p, p, p);
  }
}

void emit_local(GString *out, const Local *local, bool flagged, bool debug) {
  const char *l = local->name;
  g_autofree char *member = g_strdup_printf("read_local_%s", l), *holder = g_strdup_printf("@S@_local_%s", l),
                  *set = g_strdup_printf("set_%s", l);
  emit_access(out, "get", l, member, "v", "", l, MAX(local->lanes, 1), debug, false);
  if (flagged) g_string_append_printf(out, "#define SP_known_local_%s(i) (ctx->%s.known[i])\n", l, member);
  emit_store(out, set, holder, emit_c_type(local->type), l, MAX(local->lanes, 1), false, false, flagged, debug, false);
  g_string_append_printf(
      out, "#define SP_set_%s(...) @S@_set_%s(&ctx->write_local_%s, self->spinach_id, __VA_ARGS__)\n", l, l, l);
}
