// FST, GTKWave's compressed format, through GTKWave's own writer (fstapi), where that was found when Spinach was built.
#include "lss/runtime/wave/format.h"

#ifdef SPINACH_FST
#define SPINACH_WAVE_FST_HOST
#include "lss/runtime/wave/fst_host.h"

#include <fstapi.h>

#include <errno.h>
#include <glib.h>
#include <sys/mman.h>

enum { HELD = 4 << 20, CHANGE = 8 }; // bytes of a change beside its bits

const bool wave_has_fst = true;

static FILE *output;
static const char *output_path;
static int code; // errno of the first write to `output` that failed
static void *writer;
static uint64_t held;      // bytes of changes that the writer has not written yet
static GHashTable *tables; // "type width" of enumerators -> fstEnumHandle

// ---- Files of the writer

static FILE *in_memory(void) {
  const int handle = memfd_create("fst", MFD_CLOEXEC);
  return handle < 0 ? tmpfile() : fdopen(handle, "w+b");
}

FILE *fst_host_open(const char *name, const char *mode) {
  if (!strcmp(name, output_path)) return output;
  return mode[0] == 'r' ? fopen(name, mode) : in_memory();
}

FILE *fst_host_temporary(void) {
  return in_memory();
}

int fst_host_remove(const char *name) {
  (void)name;
  return 0;
}

static int note(FILE *file, int status) {
  if (status && file == output && !code) code = errno;
  return status;
}

int fst_host_flush(FILE *file) {
  return note(file, fflush(file));
}

int fst_host_close(FILE *file) {
  return file == output ? fst_host_flush(file) : fclose(file);
}

int fst_host_seek(FILE *file, off_t offset, int whence) {
  return note(file, fseeko(file, offset, whence));
}

size_t fst_host_write(const void *bytes, size_t size, size_t count, FILE *file) {
  const size_t written = fwrite(bytes, size, count, file);
  note(file, written != count);
  return written;
}

// ---- The format

static bool fst_open(FILE *out, const char *path, int exponent) {
  output = out;
  output_path = path;
  tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  writer = fstWriterCreate(path, 1);
  if (!writer) return false;
  fstWriterSetPackType(writer, FST_WR_PT_LZ4);
  fstWriterSetParallelMode(writer, 1);
  fstWriterSetTimescale(writer, exponent);
  fstWriterSetVersion(writer, "Spinach");
  fstWriterSetDate(writer, ""); // what is simulated does not depend on it
  return true;
}

static void fst_enter(const char *name, WaveScope kind) {
  static const enum fstScopeType kinds[] = {FST_ST_VCD_MODULE, FST_ST_VCD_INTERFACE, FST_ST_VCD_STRUCT};
  fstWriterSetScope(writer, kinds[kind], name, NULL);
}

static void fst_leave(void) {
  fstWriterSetUpscope(writer);
}

static fstEnumHandle enumeration(const struct spinach_type *type, uint32_t width) {
  gpointer known;
  g_autofree char *key = g_strdup_printf("%s %u", type->name, width);
  if (g_hash_table_lookup_extended(tables, key, NULL, &known)) return (fstEnumHandle)GPOINTER_TO_UINT(known);
  g_autoptr(GPtrArray) names = g_ptr_array_new(), values = g_ptr_array_new_with_free_func(g_free);
  for (uint32_t i = 0; i < type->member_count; i++) {
    char *bits = g_malloc0(width + 1);
    for (uint32_t b = 0; b < width; b++) bits[b] = type->members[i].value >> (width - 1 - b) & 1 ? '1' : '0';
    g_ptr_array_add(names, (gpointer)type->members[i].name);
    g_ptr_array_add(values, bits);
  }
  const fstEnumHandle handle = fstWriterCreateEnumTable(writer, type->name, names->len, width,
                                                        (const char **)names->pdata, (const char **)values->pdata);
  g_hash_table_insert(tables, g_steal_pointer(&key), GUINT_TO_POINTER(handle));
  return handle;
}

static uint32_t fst_declare(const char *name, const struct spinach_type *type, uint32_t width, uint32_t alias) {
  if (type->kind == SPINACH_ENUM) fstWriterEmitEnumTableRef(writer, enumeration(type, width));
  g_autofree char *ranged = width > 1 ? g_strdup_printf("%s [%u:0]", name, width - 1) : g_strdup(name);
  const enum fstVarType kind = !width                      ? FST_VT_VCD_REAL
                               : type->kind == SPINACH_INT ? FST_VT_VCD_INTEGER
                                                           : FST_VT_VCD_WIRE;
  return fstWriterCreateVar(writer, kind, FST_VD_IMPLICIT, width ? width : 8, ranged, alias);
}

static void fst_begin(void) {}

static void fst_time(uint64_t instant) {
  // The writer follows each variable back through the changes that it holds: they had better be in the cache.
  if (held > HELD) {
    fstWriterFlushContext(writer);
    held = 0;
  }
  fstWriterEmitTimeChange(writer, instant);
}

static void fst_bits(uint32_t variable, const char *bits, uint32_t count) {
  held += CHANGE + count;
  fstWriterEmitValueChange(writer, variable, bits);
}

static void fst_real(uint32_t variable, double value) {
  fstWriterEmitValueChange(writer, variable, &value);
}

static bool fst_close(void) {
  fstWriterClose(writer);
  if (ferror(output) && !code) code = EIO;
  g_hash_table_destroy(tables);
  errno = code;
  return !code;
}

const WaveFormat wave_fst = {fst_open, fst_enter, fst_leave, fst_declare, fst_begin,
                             fst_time, fst_bits,  fst_real,  fst_close};
#else
const bool wave_has_fst = false;
const WaveFormat wave_fst = {0};
#endif
