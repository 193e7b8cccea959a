// poke_state: linked into a simulator around its look at a restored state (LSS_CFLAGS="-Wl,--wrap=spinach_ranges_fault
// -Wl,FILE.o"), this restores the state once and goes on with it in one child process after another, each time with
// fields changed to extreme and random values.  Every child has to refuse its state or run to its end: without a
// crash, a report of a sanitizer or a cycle that never ends.
//
// POKES="SEED CHILDREN-PER-FIELD CHILDREN-PER-INSTANCE PATTERN [EVERY]" in the environment asks for it; PATTERN is of
// the paths of fields (fnmatch), or "@" for what says how far time is; of these children only each EVERY-th is there.
// Prints what became of each child that failed, and how many there were of each kind.  In place of it
// POKE="PATH.FIELD[3] OFFSET BYTES", or "@ OFFSET BYTES" of the time, writes these bytes, in hexadecimal, and goes on
// as usual.
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REFUSED = 61, SANITIZER = 77, SECONDS = 40, TEXT = 1 << 16 };

char *__real_spinach_ranges_fault(void);
char *__wrap_spinach_ranges_fault(void);

static const spinach_machine *const machine = &spinach_machine_table;
static GRand *numbers;
static GString *story; // what was changed
static unsigned runs, refused, failed, every = 1;

static guint64 any64(void) {
  return (guint64)g_rand_int(numbers) << 32 | g_rand_int(numbers);
}

// A number that may be where code does not expect it.
static guint64 number(guint64 before) {
  switch (g_rand_int_range(numbers, 0, 9)) {
  case 0: return G_MAXUINT64;
  case 1: return G_MAXINT64;
  case 2: return 1ull << g_rand_int_range(numbers, 0, 64);
  case 3: return (1ull << g_rand_int_range(numbers, 0, 64)) - 1;
  case 4: return before + 1;
  case 5: return before - 1;
  case 6: return any64();
  case 7: return any64() & 1023;
  default: return any64() & 7;
  }
}

static void poke_number(const struct spinach_type *type, guint8 *value) {
  guint64 word = 0;
  const size_t size = MIN(type->size, sizeof word);
  memcpy(&word, value, size);
  word = number(word);
  if (type->kind == SPINACH_BOOL) word &= 1;
  if (type->kind == SPINACH_ENUM && type->member_count) word = (guint64)type->members[word % type->member_count].value;
  if (type->kind == SPINACH_BITS && type->bits < 64) word &= G_MAXUINT64 >> (64 - type->bits);
  memcpy(value, &word, size);
  g_string_append_printf(story, " = 0x%" G_GINT64_MODIFIER "x", word);
}

// Changes one number of a value.
static void poke(const struct spinach_type *type, guint8 *value) {
  if (type->kind == SPINACH_STRUCT && type->member_count) {
    const struct spinach_member *member = &type->members[g_rand_int_range(numbers, 0, (gint32)type->member_count)];
    g_string_append_printf(story, ".%s", member->name);
    poke(member->type, value + member->offset);
  } else if (type->kind == SPINACH_ARRAY && type->length) {
    const guint32 i = g_rand_int(numbers) % type->length;
    g_string_append_printf(story, "[%u]", i);
    poke(type->element, value + i * type->element->size);
  } else if (type->kind == SPINACH_PACKED && type->member_count) {
    const struct spinach_member *member = &type->members[g_rand_int_range(numbers, 0, (gint32)type->member_count)];
    guint64 word = 0, part = number(0);
    memcpy(&word, value, type->size);
    if (member->type->kind == SPINACH_ENUM)
      part = (guint64)member->type->members[part % member->type->member_count].value;
    const guint64 mask = G_MAXUINT64 >> (64 - member->bits);
    word = (word & ~(mask << member->offset)) | (part & mask) << member->offset;
    memcpy(value, &word, type->size);
    g_string_append_printf(story, ".%s = 0x%" G_GINT64_MODIFIER "x", member->name, part & mask);
  } else {
    poke_number(type, value);
  }
}

static void poke_field(guint32 instance, const spinach_field *field) {
  const guint64 count = spinach_field_elements(field);
  const bool all = count > 1 && count <= 4096 && g_rand_int_range(numbers, 0, 6) == 0;
  guint8 *state = (guint8 *)spinach_instance_state((int32_t)instance) + field->offset;
  const guint64 first = all ? 0 : any64() % (g_rand_boolean(numbers) ? MIN(count, 4) : count);
  for (guint64 i = first; i < (all ? count : first + 1); i++) {
    g_string_append_printf(story, " %s.%s[%" G_GUINT64_FORMAT "]", machine->instances[instance].path, field->name, i);
    poke(field->type, state + i * field->type->size);
  }
}

// Changes one of the numbers that say how far time is.
static void poke_clocks(void) {
  guint64 *words = (guint64 *)spinach_passing;
  const gsize k = any64() % (spinach_clockwork_size() / sizeof *words);
  words[k] = number(words[k]);
  g_string_append_printf(story, " clocks[%" G_GSIZE_FORMAT "] = 0x%" G_GINT64_MODIFIER "x", k, words[k]);
  spinach_resume();
}

// Whether the child goes on; the parent waits for it.
static bool becomes_child(char *said) {
  char name[] = "/tmp/poke.XXXXXX";
  const int out = mkstemp(name);
  unlink(name);
  fflush(NULL);
  const pid_t child = fork();
  if (!child) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS}); // of the processor: the machine may be busy
    alarm(20 * SECONDS);
    return true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  const ssize_t length = pread(out, said, TEXT - 1, 0);
  said[MAX(length, 0)] = 0;
  close(out);
  runs++;
  const bool refuses = WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
  refused += refuses;
  const bool fine = WIFEXITED(status) && WEXITSTATUS(status) != SANITIZER && !strstr(said, "runtime error:") &&
                    !strstr(said, "Sanitizer") && !strstr(said, "SIG") && !strstr(said, "fault in");
  if (fine) return false;
  failed++;
  printf("FAILED (%s %d)\n%.1500s\n", WIFSIGNALED(status) ? "signal" : "status",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), said);
  return false;
}

// The next child's time, with "@" as the pattern; true in the child.
static bool try_clocks(unsigned seed, int each, char *said) {
  for (int n = 0; n < each; n++) {
    g_rand_set_seed(numbers, seed++);
    g_string_truncate(story, 0);
    if (!becomes_child(said)) continue;
    poke_clocks();
    fprintf(stderr, "poked:%.300s\n", story->str);
    return true;
  }
  return false;
}

static bool matches(guint32 instance, const spinach_field *field, const char *pattern) {
  g_autofree char *name = g_strdup_printf("%s.%s", machine->instances[instance].path, field->name);
  return field->type->kind != SPINACH_STREAM && fnmatch(pattern, name, 0) == 0;
}

// The next child's changes; true in the child.
static bool try_fields(unsigned seed, int each, int together, const char *pattern, char *said) {
  for (guint32 i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (guint32 k = 0; layout && layout->field_count && k < layout->field_count + 1; k++) {
      const bool several = k == layout->field_count;
      if (!several && !matches(i, &layout->fields[k], pattern)) continue;
      for (int n = 0; n < (several ? together : each); n++) {
        if (seed++ % every) continue;
        g_rand_set_seed(numbers, seed);
        g_string_truncate(story, 0);
        if (!becomes_child(said)) continue;
        for (int f = 0; f < (several ? 1 + g_rand_int_range(numbers, 1, 4) : 1); f++) {
          const spinach_field *field = &layout->fields[several ? g_rand_int(numbers) % layout->field_count : k];
          if (matches(i, field, pattern)) poke_field(i, field);
        }
        fprintf(stderr, "poked:%.300s\n", story->str);
        return true;
      }
    }
  }
  return false;
}

// Changes one element by hand.
static void poke_bytes(const char *words) {
  char name[200], bytes[200];
  unsigned offset;
  spinach_place place;
  guint8 *at = (guint8 *)spinach_passing;
  if (sscanf(words, "%199s %u %199s", name, &offset, bytes) != 3) _exit(2);
  if (strcmp(name, "@") != 0) {
    if (!spinach_find(name, &place)) _exit(2);
    at = (guint8 *)spinach_instance_state(place.instance) + place.field->offset + place.first * place.field->type->size;
  }
  at += offset;
  for (const char *digits = bytes; digits[0] && digits[1]; digits += 2)
    *at++ = (guint8)(g_ascii_xdigit_value(digits[0]) << 4 | g_ascii_xdigit_value(digits[1]));
}

char *__wrap_spinach_ranges_fault(void) {
  const char *wanted = g_getenv("POKES");
  g_autofree char *said = g_malloc(TEXT);
  unsigned seed;
  int each, together;
  char pattern[200];
  if (g_getenv("POKE")) poke_bytes(g_getenv("POKE"));
  if (!wanted || numbers || sscanf(wanted, "%u %d %d %199s %u", &seed, &each, &together, pattern, &every) < 4)
    return __real_spinach_ranges_fault();
  numbers = g_rand_new_with_seed(seed);
  story = g_string_new(NULL);
  if (!strcmp(pattern, "@") ? try_clocks(seed, together, said) : try_fields(seed, each, together, pattern, said)) {
    if (!__real_spinach_ranges_fault()) return NULL;
    _exit(REFUSED);
  }
  printf("%u runs, %u refused, %u failed\n", runs, refused, failed);
  fflush(stdout);
  _exit(failed ? 1 : 0);
}
