// Images: large files of which a run reads parts when it needs them; see stream.h.  A sparse file of any size is open
// at once, and takes a window of memory.
#include "emulib/program/input_file.h"
#include "lss/runtime/files/digest_cache.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 16, BLOCK = 4096 };

struct HostImage {
  int handle;
  struct stat opened; // what the file was when it was opened
  uint64_t at;        // of the window's first byte
  size_t length;      // of the window
  uint8_t window[WINDOW];
};

void stream_image_open(stream *s, const char *path) {
  g_autoptr(GError) error = NULL;
  HostFile *file = host_file_use(s, path, FILE_IS_READ);
  const int handle = input_file_open(path, &error);
  if (handle < 0) spinach_fail("cannot read \"%s\": %s", path, error->message);
  struct stat status;
  if (fstat(handle, &status)) spinach_fail("cannot read \"%s\": %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) { // a pipe has no places
    close(handle);
    host_file_read_whole(file);
    return;
  }
  file->image = g_new0(HostImage, 1);
  file->image->handle = handle;
  file->image->opened = status;
}

uint64_t stream_image_size(const stream *s) {
  const HostFile *file = host_file(s);
  return file->image ? (uint64_t)file->image->opened.st_size : file->size;
}

static _Noreturn void fail_changed(const HostFile *file) {
  spinach_fail("\"%s\" was changed while the run used it (give each run an image that stays as it is)", file->path);
}

// Up to `size` bytes, fewer at the end of the file.
static size_t read_at(const HostFile *file, uint64_t offset, uint8_t *bytes, size_t size) {
  size_t length = 0;
  while (length < size) {
    const ssize_t got = pread(file->image->handle, bytes + length, size - length, (off_t)(offset + length));
    if (got < 0 && errno != EINTR) spinach_fail("cannot read \"%s\": %s", file->path, strerror(errno));
    if (got == 0) break;
    length += (size_t)MAX(got, 0);
  }
  const uint64_t all = (uint64_t)file->image->opened.st_size;
  if (length < size && offset + length < all) fail_changed(file);
  return length;
}

// What the window has from `offset` on.
static size_t in_window(const HostFile *file, uint64_t offset, const uint8_t **bytes) {
  HostImage *image = file->image;
  if (offset < image->at || offset - image->at >= image->length) {
    image->at = offset / WINDOW * WINDOW;
    image->length = 0;
    image->length = read_at(file, image->at, image->window, WINDOW);
  }
  *bytes = image->window + (offset - image->at);
  return offset - image->at < image->length ? image->length - (size_t)(offset - image->at) : 0;
}

void stream_image_read(const stream *s, uint64_t offset, void *bytes, size_t size) {
  const HostFile *file = host_file(s);
  const uint64_t all = stream_image_size(s);
  for (size_t done = 0, part; done < size; done += part) {
    const uint64_t from = offset + done, left = from < all ? all - from : 0;
    const uint8_t *source = NULL;
    part = MIN((uint64_t)(size - done), left);
    if (!part) {
      memset((uint8_t *)bytes + done, 0, size - done);
      return;
    }
    if (file->image)
      part = MIN(part, in_window(file, from, &source));
    else
      source = file->bytes + from;
    memcpy((uint8_t *)bytes + done, source, part);
  }
}

uint64_t stream_image_next(const stream *s, uint64_t offset) {
  const HostFile *file = host_file(s);
  if (offset >= stream_image_size(s)) return UINT64_MAX;
  if (!file->image) return offset;
  const off_t at = lseek(file->image->handle, (off_t)offset, SEEK_DATA);
  if (at < 0) return errno == ENXIO ? UINT64_MAX : offset; // others: a file system without holes
  return (uint64_t)at;
}

static void add_number(struct sha256_ctx *sum, uint64_t number) {
  const guint64 bytes = GUINT64_TO_LE(number);
  sha256_update(sum, sizeof bytes, (const uint8_t *)&bytes);
}

char *host_image_digest(const HostFile *file) {
  static const uint8_t zeros[BLOCK];
  struct stat now;
  const struct stat *then = &file->image->opened;
  struct sha256_ctx sum;
  char *digest = digest_cache_find(then, "blocks");
  if (digest) return digest;
  g_autofree uint8_t *bytes = g_malloc(WINDOW);
  sha256_init(&sum);
  add_number(&sum, (uint64_t)then->st_size);
  for (uint64_t at = 0; (at = stream_image_next(file->owner, at)) != UINT64_MAX; at += WINDOW) {
    at = at / WINDOW * WINDOW;
    const size_t length = read_at(file, at, bytes, WINDOW);
    for (size_t k = 0; k < length; k += BLOCK) {
      const size_t part = MIN(length - k, (size_t)BLOCK);
      if (!memcmp(bytes + k, zeros, part)) continue;
      add_number(&sum, (at + k) / BLOCK);
      sha256_update(&sum, part, bytes + k);
    }
  }
  if (fstat(file->image->handle, &now) || now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != then->st_mtim.tv_nsec)
    fail_changed(file);
  digest = sha256_end(&sum);
  if (digest_cache_same(then, &now)) digest_cache_keep(then, "blocks", digest);
  return digest;
}
