// Streams of bytes and lines, and what all streams share; see stream.h.  Packets are in packet.c.
#include "emulib/program/input_file.h"
#include "lss/runtime/engine/options.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static HostFile **files;
static uint32_t file_count;

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

// ---- Inputs ------------------------------------------------------------------------------------------------------
static void read_whole(HostFile *file) {
  g_autoptr(GError) error = NULL;
  file->bytes = (uint8_t *)input_file_read(file->path, &file->size, &error);
  if (!file->bytes) spinach_fail("cannot read \"%s\": %s", file->path, error->message);
}

void stream_read_open(stream *s, const char *path) {
  HostFile *file = host_file_new(s, path);
  read_whole(file);
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
// Another open file is this one: its name was given twice.
static void refuse_second_use(const HostFile *file, const struct stat *status) {
  for (uint32_t i = 0; i < file_count; i++) {
    struct stat other;
    if (files[i] == file) continue;
    bool same = !strcmp(files[i]->path, file->path);
    if (!same && status && !stat(files[i]->path, &other))
      same = other.st_dev == status->st_dev && other.st_ino == status->st_ino;
    if (same)
      spinach_fail("cannot write \"%s\": this run %s it already", file->path,
                   files[i]->bytes || files[i]->reader ? "reads" : "writes");
  }
}

// What exists and is no regular file (a device, a pipe) is written in place; everything else through a temporary file.
void host_file_create(HostFile *file) {
  struct stat status;
  bool exists = !stat(file->path, &status), special = exists && !S_ISREG(status.st_mode);
  if (!special && strcmp(file->path, "-") != 0) refuse_second_use(file, exists ? &status : NULL);
  if (special && S_ISDIR(status.st_mode)) spinach_fail("cannot write \"%s\": it is a directory", file->path);
  if (!strcmp(file->path, "-")) {
    file->out = stdout;
    return;
  }
  if (special) {
    file->out = fopen(file->path, "we");
  } else {
    size_t length = strlen(file->path) + sizeof ".XXXXXX";
    file->temporary = malloc(length);
    if (!file->temporary) spinach_fail("cannot write \"%s\": out of memory", file->path);
    snprintf(file->temporary, length, "%s.XXXXXX", file->path);
    int handle = mkostemp(file->temporary, O_CLOEXEC);
    int error = errno;
    if (handle < 0) {
      free(file->temporary);
      file->temporary = NULL;
      errno = error;
    } else {
      mode_t mask = umask(0); // mkostemp makes private files; ours are ordinary ones
      umask(mask);
      fchmod(handle, 0666 & ~mask);
      file->out = fdopen(handle, "w");
    }
  }
  if (!file->out) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  setvbuf(file->out, NULL, _IOFBF, 1 << 16);
}

void stream_write_open(stream *s, const char *path) {
  host_file_create(host_file_new(s, path));
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
  if (fflush(file->out) != 0) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

void stream_restart(stream *s) {
  HostFile *file = output(s);
  s->position = s->records = file->written = 0;
  if (file->temporary && (fflush(file->out) || ftruncate(fileno(file->out), 0) || fseeko(file->out, 0, SEEK_SET)))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

// One that was written beyond where its stream is.
static void cut(HostFile *file) {
  const stream *s = file->owner;
  const uint64_t position = file->dumper ? s->records : s->position;
  if (position >= file->written) return;
  file->written = position;
  if (!file->temporary) return;
  const off_t bytes = (off_t)(file->dumper ? host_packets_size(s) : s->position);
  if ((file->dumper && !host_packets_flush(file)) || fflush(file->out) || ftruncate(fileno(file->out), bytes) ||
      fseeko(file->out, bytes, SEEK_SET))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
}

void spinach_streams_diverge(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (files[i]->out) cut(files[i]);
}

// Completes one output; errno says why when it fails.
static bool commit(HostFile *file) {
  if (file->out == stdout) return !file->dumper || host_packets_flush(file); // the rest is said when it is flushed last
  bool fine = file->dumper ? host_packets_flush(file) : true;
  fine = fine && fflush(file->out) == 0 && !ferror(file->out);
  if (file->temporary) fine = fine && fsync(fileno(file->out)) == 0 && rename(file->temporary, file->path) == 0;
  return fine;
}

static void forget(HostFile *file, bool keep) {
  if (file->temporary && !keep) unlink(file->temporary);
  if (file->dumper)
    host_packets_close(file); // closes file->out as well
  else if (file->out && file->out != stdout)
    fclose(file->out);
  free(file->temporary);
  file->temporary = NULL;
  file->out = NULL;
}

void host_file_drop(HostFile *file) {
  forget(file, false);
}

bool spinach_streams_commit(void) {
  bool fine = true;
  for (uint32_t i = 0; i < file_count; i++) {
    if (!files[i]->out) continue;
    bool whole = commit(files[i]);
    if (!whole) spinach_report_error("error: cannot write \"%s\": %s", files[i]->path, strerror(errno));
    forget(files[i], whole);
    fine = fine && whole;
  }
  return fine;
}

void spinach_streams_abandon(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (files[i]->out) forget(files[i], false);
}

void spinach_streams_remove(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (files[i]->temporary) unlink(files[i]->temporary);
}

const char *spinach_streams_file(uint32_t index, bool *output) {
  if (index >= file_count) return NULL;
  *output = !files[index]->bytes && !files[index]->reader;
  return files[index]->path;
}

bool spinach_streams_live(void) {
  for (uint32_t i = 0; i < file_count; i++)
    if (!strcmp(files[i]->path, "-") && !files[i]->out) return true;
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
