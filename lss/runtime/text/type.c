// Values as text; see type.h.
#include "lss/runtime/text/type.h"

#include "lss/runtime/text/number.h"

#include <ctype.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Printing ------------------------------------------------------------------------------------------------------
typedef struct {
  char *text;
  size_t size, length; // length counts what would have been written
  bool people;         // for them, not to be read again
} Printer;

char *(*spinach_type_instruction)(uint32_t pc, uint32_t word);

static void put(Printer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Printer *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = out->length < out->size ? out->size - out->length : 0;
  int length = vsnprintf(room ? out->text + out->length : NULL, room, format, arguments);
  va_end(arguments);
  out->length += (size_t)length;
}

// A number of 1, 2, 4 or 8 bytes.
static uint64_t load(const void *value, size_t size) {
  uint64_t word = 0;
  memcpy(&word, value, size); // the hosts are little-endian
  return word;
}

static int64_t load_signed(const void *value, size_t size) {
  unsigned shift = 64 - 8 * (unsigned)size;
  return (int64_t)(load(value, size) << shift) >> shift;
}

static void put_float(Printer *out, const void *value, size_t size) {
  float single = 0;
  double number = 0;
  if (size == 4) {
    memcpy(&single, value, 4);
    number = (double)single;
  } else {
    memcpy(&number, value, 8);
  }
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (size == 4 ? strtof(digits, NULL) == single : strtod(digits, NULL) == number) break;
  }
  put(out, "%s", digits);
}

static void put_wide(Printer *out, const struct spinach_type *type, const void *value) {
  uint64_t words[16] = {0};
  uint32_t count = (type->bits + 63) / 64;
  bool started = false;
  put(out, "0x");
  for (uint32_t i = count; i-- > 0;) {
    memcpy(words, (const char *)value + 8 * i, 8);
    if (started)
      put(out, "%016" PRIx64, words[0]);
    else if (words[0] || i == 0)
      put(out, "%" PRIx64, words[0]), started = true;
  }
}

// Names of what is no quantity.
static bool is_address(const char *name) {
  static const char *const names[] = {"pc", "address", "word", "control", "target"};
  for (size_t i = 0; name && i < G_N_ELEMENTS(names); i++)
    if (g_str_has_suffix(name, names[i])) return true;
  return false;
}

static void put_unsigned(Printer *out, uint64_t number, const char *name) {
  put(out, out->people && (number > UINT16_MAX || is_address(name)) ? "0x%" PRIx64 : "%" PRIu64, number);
}

static const struct spinach_member *find_member(const struct spinach_type *type, const char *name) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!strcmp(type->members[i].name, name) && type->members[i].type->size == sizeof(uint32_t))
      return &type->members[i];
  return NULL;
}

// The word of code in a struct that says where it is; NULL for any other member.
static char *instruction(const Printer *out, const struct spinach_type *type, const void *value, uint32_t member) {
  const struct spinach_member *pc = find_member(type, "pc"), *word = &type->members[member];
  if (!out->people || !spinach_type_instruction || !pc || word != find_member(type, "word")) return NULL;
  return spinach_type_instruction((uint32_t)load((const char *)value + pc->offset, 4),
                                  (uint32_t)load((const char *)value + word->offset, 4));
}

static uint64_t mask_of(const struct spinach_member *member) {
  return UINT64_MAX >> (64 - member->bits);
}

uint64_t spinach_packed_member(const struct spinach_type *type, const void *value,
                               const struct spinach_member *member) {
  return load(value, type->size) >> member->offset & mask_of(member);
}

static void print(Printer *out, const struct spinach_type *type, const void *value, const char *name);

static void print_packed(Printer *out, const struct spinach_type *type, const void *value) {
  uint64_t rest = load(value, type->size);
  const char *between = "";
  put(out, "{");
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    const uint64_t number = spinach_packed_member(type, value, member);
    rest &= ~(mask_of(member) << member->offset);
    if (!number) continue;
    put(out, "%s%s=", between, member->name);
    print(out, member->type, &number, member->name);
    between = " ";
  }
  if (rest) put(out, "%s0x%" PRIx64, between, rest);
  put(out, "}");
}

static void print(Printer *out, const struct spinach_type *type, const void *value, const char *name) {
  switch (type->kind) {
  case SPINACH_BOOL: put(out, "%s", load(value, 1) ? "true" : "false"); break;
  case SPINACH_INT: put(out, "%" PRId64, load_signed(value, type->size)); break;
  case SPINACH_UINT: put_unsigned(out, load(value, type->size), name); break;
  case SPINACH_BITS:
    if (type->bits > 64)
      put_wide(out, type, value);
    else
      put_unsigned(out, load(value, type->size), name);
    break;
  case SPINACH_PACKED: print_packed(out, type, value); break;
  case SPINACH_FLOAT: put_float(out, value, type->size); break;
  case SPINACH_ENUM: {
    int64_t number = load_signed(value, type->size);
    for (uint32_t i = 0; i < type->member_count; i++)
      if (type->members[i].value == number) {
        put(out, "%s", type->members[i].name);
        return;
      }
    put(out, "%" PRId64, number);
    break;
  }
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      g_autofree char *code = instruction(out, type, value, i);
      put(out, "%s%s=", i ? " " : "{", type->members[i].name);
      if (code)
        put(out, "<%s>", code);
      else
        print(out, type->members[i].type, (const char *)value + type->members[i].offset, type->members[i].name);
    }
    put(out, type->member_count ? "}" : "{}");
    break;
  case SPINACH_ARRAY:
    for (uint32_t i = 0; i < type->length; i++) {
      put(out, i ? " " : "[");
      print(out, type->element, (const char *)value + i * type->element->size, name);
    }
    put(out, type->length ? "]" : "[]");
    break;
  case SPINACH_STRING: {
    const char *string;
    memcpy(&string, value, sizeof string);
    put(out, "%s", string ? string : "");
    break;
  }
  case SPINACH_STREAM: put(out, "stream"); break;
  }
}

int spinach_type_print(const struct spinach_type *type, const void *value, char *text, size_t size) {
  Printer out = {text, size, 0, false};
  if (size) text[0] = 0;
  print(&out, type, value, NULL);
  return (int)out.length;
}

static char *text_of(const struct spinach_type *type, const void *value, const char *name, bool people) {
  Printer measure = {NULL, 0, 0, people};
  print(&measure, type, value, name);
  char *text = g_malloc0(measure.length + 1);
  Printer out = {text, measure.length + 1, 0, people};
  print(&out, type, value, name);
  return text;
}

char *spinach_type_text(const struct spinach_type *type, const void *value) {
  return text_of(type, value, NULL, false);
}

char *spinach_type_shown(const struct spinach_type *type, const void *value, const char *name) {
  return text_of(type, value, name, true);
}

// ---- Parsing -------------------------------------------------------------------------------------------------------
typedef struct {
  const char *at;
  char error[160]; // empty while all is well
} Parser;

static bool fail(Parser *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Parser *in, const char *format, ...) {
  if (!in->error[0]) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(in->error, sizeof in->error, format, arguments);
    va_end(arguments);
  }
  return false;
}

static void skip_space(Parser *in) {
  while (isspace((unsigned char)*in->at) || *in->at == ',') in->at++;
}

// The characters up to the next that cannot be part of a word, as far as they fit.
static int word_length(const Parser *in) {
  int length = 0;
  while (in->at[length] && !isspace((unsigned char)in->at[length]) && !strchr("{}[]=,", in->at[length])) length++;
  return length;
}

static void store(void *value, uint64_t word, size_t size) {
  memcpy(value, &word, size);
}

static bool parse_number(Parser *in, const struct spinach_type *type, void *value) {
  const int length = word_length(in);
  const char *end = in->at;
  WholeNumber number;
  int64_t signed_number = 0;
  const NumberFault fault = number_take(&end, &number);
  if (!length || fault == NUMBER_NONE || fault == NUMBER_FRACTION || (fault == NUMBER_FINE && end != in->at + length))
    return fail(in, "\"%.*s\" is not a number of type %s", length, in->at, type->name);
  bool fits = fault == NUMBER_FINE;
  uint64_t word = number.magnitude;
  if (type->kind == SPINACH_INT) {
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - type->bits));
    fits = fits && number_signed(&number, &signed_number) && signed_number <= most && signed_number >= -most - 1;
    word = (uint64_t)signed_number;
  } else {
    fits = fits && !number.negative && word <= UINT64_MAX >> (64 - type->bits);
  }
  if (!fits) return fail(in, "%.*s does not fit in %s", length, in->at, type->name);
  store(value, word, type->size);
  in->at = end;
  return true;
}

// Bits wider than 64: hexadecimal digits behind 0x, or a small decimal number.
static bool parse_wide(Parser *in, const struct spinach_type *type, void *value) {
  int length = word_length(in);
  bool hex = length > 2 && in->at[0] == '0' && (in->at[1] == 'x' || in->at[1] == 'X');
  memset(value, 0, type->size);
  if (!hex) {
    struct spinach_type low = {.kind = SPINACH_UINT, .name = type->name, .bits = 64, .size = 8};
    return parse_number(in, &low, value);
  }
  const char *first = in->at + 2;
  while (*first == '0' && first < in->at + length - 1) first++;
  int digits = (int)(in->at + length - first);
  for (int i = 0; i < digits; i++) {
    char c = first[digits - 1 - i];
    if (!isxdigit((unsigned char)c)) return fail(in, "\"%.*s\" is not a number of type %s", length, in->at, type->name);
    unsigned digit = isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
    unsigned bits = digit > 7 ? 4 : digit > 3 ? 3 : digit > 1 ? 2 : digit;
    if ((uint32_t)(4 * i) + bits > type->bits) return fail(in, "%.*s does not fit in %s", length, in->at, type->name);
    ((uint8_t *)value)[i / 2] |= (uint8_t)(digit << (4 * (i % 2)));
  }
  in->at += length;
  return true;
}

static bool parse(Parser *in, const struct spinach_type *type, void *value);

// What is printed of numbers that are none.
static bool parse_word_of_float(const char *word, double *number) {
  static const struct {
    const char *name;
    double number;
  } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}, {"-nan", -NAN}};
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (!strcmp(words[i].name, word)) return *number = words[i].number, true;
  return false;
}

static bool parse_float(Parser *in, const struct spinach_type *type, void *value) {
  const int length = word_length(in);
  g_autofree char *word = g_strndup(in->at, (gsize)length);
  const char *error;
  double number;
  if (!parse_word_of_float(word, &number) && !number_read_real(word, &number, &error)) return fail(in, "%s", error);
  if (isfinite(number) && type->size == 4 && !isfinite((float)number))
    return fail(in, "%.*s does not fit in %s", length, in->at, type->name);
  float single = (float)number;
  memcpy(value, type->size == 4 ? (void *)&single : (void *)&number, type->size);
  in->at += length;
  return true;
}

static bool parse_enum(Parser *in, const struct spinach_type *type, void *value) {
  int length = word_length(in);
  for (uint32_t i = 0; i < type->member_count; i++) {
    const char *name = type->members[i].name;
    if ((int)strlen(name) != length || strncmp(name, in->at, (size_t)length)) continue;
    store(value, (uint64_t)type->members[i].value, type->size);
    in->at += length;
    return true;
  }
  char choices[100] = "";
  for (uint32_t i = 0, used = 0; i < type->member_count && used < sizeof choices - 1; i++)
    used += (uint32_t)snprintf(choices + used, sizeof choices - used, "%s%s", i ? ", " : "", type->members[i].name);
  return fail(in, "\"%.*s\" is none of %s", length, in->at, choices);
}

static bool parse_bool(Parser *in, void *value) {
  int length = word_length(in);
  bool yes = (length == 4 && !strncmp(in->at, "true", 4)) || (length == 1 && *in->at == '1');
  bool no = (length == 5 && !strncmp(in->at, "false", 5)) || (length == 1 && *in->at == '0');
  if (!yes && !no) return fail(in, "\"%.*s\" is neither true nor false", length, in->at);
  store(value, yes, 1);
  in->at += length;
  return true;
}

// The member that "name=" means.
static bool parse_name(Parser *in, const struct spinach_type *type, const struct spinach_member **member) {
  int length = word_length(in);
  if (!length || in->at[length] != '=')
    return fail(in, *in->at ? "name=value is expected at \"%.20s\"" : "a } is missing%s", in->at);
  *member = NULL;
  for (uint32_t i = 0; i < type->member_count && !*member; i++)
    if ((int)strlen(type->members[i].name) == length && !strncmp(type->members[i].name, in->at, (size_t)length))
      *member = &type->members[i];
  if (!*member) return fail(in, "%s has no field \"%.*s\"", type->name, length, in->at);
  in->at += length + 1;
  return true;
}

static bool parse_struct(Parser *in, const struct spinach_type *type, void *value) {
  if (*in->at != '{')
    return fail(in, "a value of %s looks like {%s=...}", type->name, type->member_count ? type->members[0].name : "");
  memset(value, 0, type->size);
  in->at++;
  for (skip_space(in); *in->at != '}'; skip_space(in)) {
    const struct spinach_member *member;
    if (!parse_name(in, type, &member) || !parse(in, member->type, (char *)value + member->offset)) return false;
  }
  in->at++;
  return true;
}

// A member's value: what is no name is a number of so many bits.
static bool parse_member(Parser *in, const struct spinach_member *member, uint64_t *value) {
  struct spinach_type number = *member->type;
  *value = 0;
  if (!isdigit((unsigned char)*in->at)) return parse(in, member->type, value);
  number.kind = SPINACH_UINT;
  number.bits = member->bits;
  number.size = sizeof *value;
  return parse_number(in, &number, value);
}

static bool parse_packed(Parser *in, const struct spinach_type *type, void *value) {
  uint64_t word = 0, part = 0;
  struct spinach_type number = *type;
  number.size = sizeof part;
  if (isdigit((unsigned char)*in->at)) return parse_number(in, type, value);
  if (*in->at != '{') return fail(in, "a value of %s looks like {%s=...}", type->name, type->members[0].name);
  in->at++;
  for (skip_space(in); *in->at != '}'; skip_space(in)) {
    const struct spinach_member *member = NULL;
    if (isdigit((unsigned char)*in->at)) {
      if (!parse_number(in, &number, &part)) return false;
      word |= part;
      continue;
    }
    if (!parse_name(in, type, &member) || !parse_member(in, member, &part)) return false;
    word = (word & ~(mask_of(member) << member->offset)) | part << member->offset;
  }
  in->at++;
  store(value, word, type->size);
  return true;
}

static bool parse_array(Parser *in, const struct spinach_type *type, void *value) {
  if (*in->at != '[') return fail(in, "a value of %s looks like [1 2 3]", type->name);
  memset(value, 0, type->size);
  in->at++;
  uint32_t count = 0;
  for (skip_space(in); *in->at != ']'; skip_space(in)) {
    if (!*in->at) return fail(in, "a ] is missing");
    if (count == type->length) return fail(in, "%s has only %u elements", type->name, type->length);
    if (!parse(in, type->element, (char *)value + count++ * type->element->size)) return false;
  }
  in->at++;
  return true;
}

static bool parse(Parser *in, const struct spinach_type *type, void *value) {
  skip_space(in);
  switch (type->kind) {
  case SPINACH_BOOL: return parse_bool(in, value);
  case SPINACH_INT:
  case SPINACH_UINT: return parse_number(in, type, value);
  case SPINACH_BITS: return type->bits > 64 ? parse_wide(in, type, value) : parse_number(in, type, value);
  case SPINACH_PACKED: return parse_packed(in, type, value);
  case SPINACH_FLOAT: return parse_float(in, type, value);
  case SPINACH_ENUM: return parse_enum(in, type, value);
  case SPINACH_STRUCT: return parse_struct(in, type, value);
  case SPINACH_ARRAY: return parse_array(in, type, value);
  case SPINACH_STRING:
  case SPINACH_STREAM: break;
  }
  return fail(in, "values of type %s cannot be written as text", type->name);
}

bool spinach_type_parse(const struct spinach_type *type, const char *text, void *value, const char **error) {
  static Parser in;
  in = (Parser){.at = text};
  void *copy = calloc(1, type->size ? type->size : 1);
  bool fine = copy && parse(&in, type, copy);
  if (fine) skip_space(&in);
  if (fine && *in.at) fine = fail(&in, "\"%.20s\" is too much", in.at);
  if (fine)
    memcpy(value, copy, type->size);
  else
    *error = copy ? in.error : "out of memory";
  free(copy);
  return fine;
}
