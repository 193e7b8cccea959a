// Code of many alike instances and lanes as loops: pieces of C that follow one another and differ only in numbers, each
// of which grows by the same step from one piece to the next, are one piece with a variable.  So a switch with a
// thousand ports is as much C as one with a few.
//
// The rest of emission needs to know nothing of it: it names alike instances and signals as elements of arrays (wires.c
// of lss/plan, and emit_leaf), and writes the code of each one after the other.
#include "lss/emit/emit.h"

#include <string.h>

enum {
  LEAST_TURNS = 8, // of a loop
  MOST_PIECES = 4, // that alternate in it
  MOST_DIGITS = 9, // of a number that may grow
};

// A piece without its numbers, in whose places are the ends of texts.
typedef struct {
  GString *text;
  GArray *numbers; // int64_t
} Shape;

static gsize word_length(const char *text) {
  gsize length = 0;
  while (g_ascii_isalnum(text[length]) || text[length] == '_' || text[length] == '.') length++;
  return length;
}

// How long the string that begins here is, with its quotation marks.
static gsize string_length(const char *text) {
  gsize length = 1;
  while (text[length] && text[length] != '"') length += text[length] == '\\' && text[length + 1] ? 2 : 1;
  return text[length] ? length + 1 : length;
}

static bool is_number(const char *word, gsize length) {
  if (length > MOST_DIGITS) return false;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isdigit(word[i])) return false;
  return true;
}

static Shape shape_of(const char *piece) {
  Shape shape = {g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(int64_t))};
  while (*piece) {
    const gsize word = word_length(piece), length = word ? word : *piece == '"' ? string_length(piece) : 1;
    if (word && is_number(piece, word)) {
      const int64_t number = g_ascii_strtoll(piece, NULL, 10);
      g_array_append_val(shape.numbers, number);
      g_string_append_c(shape.text, '\0');
    } else {
      g_string_append_len(shape.text, piece, (gssize)length);
    }
    piece += length;
  }
  return shape;
}

static int64_t number_of(const Shape *shape, guint i) {
  return g_array_index(shape->numbers, int64_t, i);
}

// Whether `piece` is what follows `first` after so many turns, if `second` does after one.
static bool continues(const Shape *first, const Shape *second, const Shape *piece, int64_t turns) {
  if (!g_string_equal(first->text, piece->text) || !g_string_equal(first->text, second->text)) return false;
  for (guint i = 0; i < first->numbers->len; i++)
    if (number_of(piece, i) != number_of(first, i) + turns * (number_of(second, i) - number_of(first, i))) return false;
  return true;
}

// How many turns a loop over `period` pieces that begins here would have.
static guint count_turns(const Shape *shapes, guint first, guint count, guint period) {
  guint at = first;
  for (; at < count; at++) {
    const guint start = first + (at - first) % period;
    if (start + period >= count ||
        !continues(&shapes[start], &shapes[start + period], &shapes[at], (at - first) / period))
      break;
  }
  return (at - first) / period;
}

static void emit_number(GString *out, int64_t number, int64_t step, const char *variable) {
  if (!step)
    g_string_append_printf(out, "%" G_GINT64_FORMAT, number);
  else if (step == 1 && !number)
    g_string_append(out, variable);
  else if (step == 1)
    g_string_append_printf(out, "(%" G_GINT64_FORMAT " + %s)", number, variable);
  else
    g_string_append_printf(out, "(%" G_GINT64_FORMAT " + %s * %" G_GINT64_FORMAT ")", number, variable, step);
}

static void emit_turn(GString *out, const Shape *piece, const Shape *next, const char *variable) {
  const char *text = piece->text->str;
  for (guint i = 0; i < piece->numbers->len; i++) {
    g_string_append(out, text);
    text += strlen(text) + 1;
    emit_number(out, number_of(piece, i), number_of(next, i) - number_of(piece, i), variable);
  }
  g_string_append(out, text);
}

static void roll(GString *out, const GPtrArray *pieces, const char *variable) {
  g_autofree Shape *shapes = g_new(Shape, pieces->len + 1);
  for (guint i = 0; i < pieces->len; i++) shapes[i] = shape_of(pieces->pdata[i]);
  for (guint first = 0; first < pieces->len;) {
    guint period = 1, turns = 0;
    for (guint p = 1; p <= MOST_PIECES; p++) {
      const guint found = count_turns(shapes, first, pieces->len, p);
      if (found >= LEAST_TURNS && found * p > turns * period) turns = found, period = p;
    }
    if (!turns) {
      g_string_append(out, pieces->pdata[first++]);
      continue;
    }
    g_string_append_printf(out, "  for (int %s = 0; %s < %u; %s++) {\n", variable, variable, turns, variable);
    for (guint i = first; i < first + period; i++) emit_turn(out, &shapes[i], &shapes[i + period], variable);
    g_string_append(out, "  }\n");
    first += turns * period;
  }
  for (guint i = 0; i < pieces->len; i++) {
    g_string_free(shapes[i].text, TRUE);
    g_array_unref(shapes[i].numbers);
  }
}

GPtrArray *emit_rolled_new(void) {
  return g_ptr_array_new_with_free_func(g_free);
}

void emit_rolled(GString *out, const Kind *kind, GPtrArray *pieces) {
  if (kind->rolls)
    roll(out, pieces, "row_");
  else
    for (guint i = 0; i < pieces->len; i++) g_string_append(out, pieces->pdata[i]);
  g_ptr_array_set_size(pieces, 0);
}

void emit_rolled_lines(GString *out, const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  for (char **line = lines; line[0] && (line[0][0] || line[1]); line++)
    g_ptr_array_add(pieces, g_strconcat(*line, "\n", NULL));
  roll(out, pieces, "lane_");
}

void emit_rolled_add(GPtrArray *pieces, GString *text) {
  if (text->len) g_ptr_array_add(pieces, g_strdup(text->str));
  g_string_truncate(text, 0);
}
