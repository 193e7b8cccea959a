// Streams of bytes and lines, and what all streams share; see stream.h.  Packets are in packet.c.
#include "emulib/program/input_file.h"
#include "lss/runtime/files/digest_cache.h"
#include "lss/runtime/files/packet_writer.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static HostFile **files;
static uint32_t file_count;
char *(*host_file_user)(const char *path), *(*host_output_problem)(const char *path);

HostFile *host_file_new(stream *s, const char *path) {
  if (s->id) spinach_fail("\"%s\": this stream is already open on \"%s\"", path, files[s->id - 1]->path);
  HostFile **more = realloc(files, (file_count + 1) * sizeof *files);
  HostFile *file = calloc(1, sizeof *file);
  if (!more || !file || !(file->path = strdup(path))) spinach_fail("\"%s\": out of memory", path);
  file->owner = s;
  files = more;
  files[file_count++] = file;
  s->id = file_count;
  return file;
}

guint host_find_look(const GArray *found, uint64_t look) {
  const guint size = g_array_get_element_size((GArray *)found);
  guint low = 0, high = found->len;
  while (low < high) {
    const guint middle = (low + high) / 2;
    uint64_t number;
    memcpy(&number, found->data + (gsize)middle * size, sizeof number);
    if (number < look)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

HostFile *host_file(const stream *s) {
  if (!s->id || s->id > file_count) spinach_fail("a stream is used that was never opened");
  return files[s->id - 1];
}

HostFile *host_file_number(uint32_t index) {
  return index < file_count ? files[index] : NULL;
}

bool stream_is_open(const stream *s) {
  return s->id != 0;
}

bool stream_is_replaced(const stream *s) {
  return host_file(s)->replaces;
}

HostFile *host_file_use(stream *s, const char *path, FileUse use) {
  g_autoptr(GError) error = NULL;
  g_autofree char *user = host_file_user(path);
  if (!used_files_add(path, use, user, &error)) spinach_fail("%s", error->message);
  return host_file_new(s, path);
}

// ---- Inputs ------------------------------------------------------------------------------------------------------
void host_file_read_whole(HostFile *file) {
  g_autoptr(GError) error = NULL;
  struct stat before, after;
  const bool ordinary = !stat(file->path, &before) && S_ISREG(before.st_mode);
  file->bytes = (uint8_t *)input_file_read(file->path, &file->size, &error);
  if (!file->bytes) spinach_fail("cannot read \"%s\": %s", file->path, error->message);
  if (ordinary && !stat(file->path, &after) && digest_cache_same(&before, &after)) file->status = after;
}

void stream_read_open(stream *s, const char *path) {
  host_file_read_whole(host_file_use(s, path, FILE_IS_READ));
}

static HostFile *input(const stream *s) {
  HostFile *file = host_file(s);
  if (!file->bytes) spinach_fail("\"%s\" is not open for reading", file->path);
  return file;
}

const uint8_t *stream_contents(const stream *s, size_t *size) {
  HostFile *file = input(s);
  *size = file->size;
  return file->bytes;
}

size_t stream_read(stream *s, void *buffer, size_t size) {
  HostFile *file = input(s);
  size_t left = s->position < file->size ? file->size - s->position : 0;
  if (size > left) size = left;
  memcpy(buffer, file->bytes + s->position, size);
  s->position += size;
  file->consumed = s->position;
  return size;
}

bool stream_line(stream *s, char *buffer, size_t size) {
  HostFile *file = input(s);
  if (s->position >= file->size) return false;
  const uint8_t *begin = file->bytes + s->position;
  const uint8_t *newline = memchr(begin, '\n', file->size - s->position);
  size_t length = newline ? (size_t)(newline - begin) : file->size - s->position;
  s->position += length + (newline != NULL);
  file->consumed = s->position;
  s->records++;
  if (length && begin[length - 1] == '\r') length--;
  if (length >= size)
    spinach_fail("%s:%llu: the line has %zu characters; at most %zu are read", file->path,
                 (unsigned long long)s->records, length, size - 1);
  if (memchr(begin, 0, length))
    spinach_fail("%s:%llu: the line holds a zero byte", file->path, (unsigned long long)s->records);
  memcpy(buffer, begin, length);
  buffer[length] = 0;
  return true;
}

// ---- Outputs -----------------------------------------------------------------------------------------------------
void host_file_create(HostFile *file) {
  g_autoptr(GError) error = NULL;
  char *why = host_output_problem ? host_output_problem(file->path) : NULL;
  if (why) spinach_fail("cannot write \"%s\": %s", file->path, why);
  if (!strcmp(file->path, "-")) {
    file->out = stdout;
    return;
  }
  if (!whole_file_possible(file->path, false, &error))
    spinach_fail("cannot write \"%s\": %s", file->path, error->message);
  int handle;
  if (file_path_in_place(file->path)) {
    handle = file_path_open_in_place(file->path);
    if (handle < 0) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  } else {
    file->whole = g_new(WholeFile, 1);
    if (!whole_file_begin(file->whole, file->path, &error)) {
      g_clear_pointer(&file->whole, g_free);
      spinach_fail("cannot write \"%s\": %s", file->path, error->message);
    }
    handle = file->whole->handle;
  }
  file->out = fdopen(handle, "w");
  if (!file->out) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  setvbuf(file->out, NULL, _IOFBF, 1 << 16);
}

void stream_write_open(stream *s, const char *path) {
  host_file_create(host_file_use(s, path, FILE_IS_WRITTEN));
}

static HostFile *output(const stream *s) {
  HostFile *file = host_file(s);
  if (!file->out) spinach_fail("\"%s\" is not open for writing", file->path);
  return file;
}

void stream_write(stream *s, const void *bytes, size_t size) {
  HostFile *file = output(s);
  const bool again = s->position < file->written;
  if (!again && fwrite(bytes, 1, size, file->out) != size)
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  s->position += size;
  if (!again) file->written = s->position;
}

// In a file of its own they are a hole; what is written in place has none.
static bool write_zeros(HostFile *file, uint64_t position, uint64_t size) {
  static const uint8_t zeros[1 << 16];
  if (file->whole) {
    const off_t end = (off_t)(position + size);
    return !fflush(file->out) && !ftruncate(fileno(file->out), end) && !fseeko(file->out, end, SEEK_SET);
  }
  for (size_t part; size; size -= part) {
    part = MIN(size, sizeof zeros);
    if (fwrite(zeros, 1, part, file->out) != part) return false;
  }
  return true;
}

void stream_write_zeros(stream *s, uint64_t size) {
  HostFile *file = output(s);
  const bool again = s->position < file->written;
  if (!again && size && !write_zeros(file, s->position, size))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  s->position += size;
  if (!again) file->written = s->position;
}

void stream_printf(stream *s, const char *format, ...) {
  HostFile *file = output(s);
  va_list arguments;
  va_start(arguments, format);
  const bool again = s->position < file->written;
  int length = again ? vsnprintf(NULL, 0, format, arguments) : vfprintf(file->out, format, arguments);
  va_end(arguments);
  if (length < 0) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  s->position += (uint64_t)length;
  if (!again) file->written = s->position;
  s->records++;
}

void stream_flush(stream *s) {
  HostFile *file = output(s);
  if (file->detached) return;
  if (fflush(file->out) != 0) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

void stream_restart(stream *s) {
  HostFile *file = output(s);
  s->position = s->records = 0;
  if (file->detached) return;
  file->written = 0;
  if (file->whole && (fflush(file->out) || ftruncate(fileno(file->out), 0) || fseeko(file->out, 0, SEEK_SET)))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

// One that was written beyond where its stream is.
static void cut(HostFile *file) {
  const stream *s = file->owner;
  const uint64_t position = file->packets ? s->records : s->position;
  if (position >= file->written) return;
  file->written = position;
  if (!file->whole) return;
  const off_t bytes = (off_t)(file->packets ? packet_file_size(s->records, s->position) : s->position);
  if (fflush(file->out) || ftruncate(fileno(file->out), bytes) || fseeko(file->out, bytes, SEEK_SET))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

void spinach_streams_diverge(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (files[i]->conduct)
      files[i]->conduct->cut(files[i]);
    else if (files[i]->out)
      cut(files[i]);
}

// What is written is taken to be there already, and no file is this process's to complete or to remove.
void spinach_streams_detach(void) {
  for (uint32_t i = 0; i < file_count; i++) {
    if (files[i]->conduct) files[i]->conduct->detach(files[i]);
    files[i]->conduct = NULL;
    files[i]->written = UINT64_MAX;
    files[i]->whole = NULL;
    files[i]->detached = true;
  }
}

static bool fail(GError **error) {
  g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), g_strerror(errno));
  return false;
}

// Completes one output.
static bool commit(HostFile *file, GError **error) {
  errno = 0;
  if (file->out == stdout) return true; // what is lost there is said when it is flushed last
  if (fflush(file->out) || ferror(file->out)) return fail(error);
  return !file->whole || whole_file_complete(file->whole, error);
}

static void forget(HostFile *file) {
  if (file->out && file->out != stdout) fclose(file->out);
  if (file->whole) whole_file_end(file->whole);
  g_clear_pointer(&file->whole, g_free);
  file->out = NULL;
}

void host_file_drop(HostFile *file) {
  forget(file);
}

bool spinach_streams_commit(void) {
  bool fine = true;
  for (uint32_t i = 0; i < file_count; i++) {
    if (files[i]->conduct) files[i]->conduct->close(files[i]);
    if (!files[i]->out) continue;
    g_autoptr(GError) error = NULL;
    const bool whole = commit(files[i], &error);
    if (!whole) spinach_report_error("error: cannot write \"%s\": %s", files[i]->path, error->message);
    forget(files[i]);
    fine = fine && whole;
  }
  return fine;
}

void spinach_streams_abandon(void) {
  for (uint32_t i = 0; i < file_count; i++) {
    if (files[i]->conduct) files[i]->conduct->close(files[i]);
    if (files[i]->out) forget(files[i]);
  }
}

void spinach_streams_remove(void) {
  for (uint32_t i = 0; i < file_count; i++) {
    if (files[i]->conduct) files[i]->conduct->remove(files[i]);
    if (files[i]->whole) whole_file_remove(files[i]->whole);
  }
}

const char *spinach_streams_file(uint32_t index, bool *output) {
  if (index >= file_count) return NULL;
  *output = !files[index]->bytes && !files[index]->reader && !files[index]->image;
  return files[index]->path;
}

bool spinach_streams_live(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (files[i]->live) return true;
  return false;
}

bool spinach_streams_at_terminal(void) {
  for (uint32_t i = 0; i < file_count; i++) {
    if (strcmp(files[i]->path, "-") != 0) continue;
    if (isatty(files[i]->out ? STDOUT_FILENO : STDIN_FILENO)) return true;
  }
  return false;
}

double spinach_streams_share(void) {
  double size = 0, consumed = 0;
  for (uint32_t i = 0; i < file_count; i++) {
    size += (double)files[i]->size;
    consumed += (double)files[i]->consumed;
  }
  return size > 0 ? consumed / size : -1;
}
