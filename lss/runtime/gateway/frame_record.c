// Records of a gateway; see frame_record.h.
#include "lss/runtime/gateway/frame_record.h"

#include "lss/runtime/files/stream.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/report.h"

#include <string.h>

enum { LONGEST = 65536 }; // bytes of a frame

static const char DIGITS[] = "0123456789abcdef";

struct FrameRecord {
  stream file;
};

// What happened at an instant; of a frame its place among the bytes of all.
typedef struct {
  uint64_t instant;
  guint first;
  int32_t length;
} Entry;

struct FrameReplay {
  stream file;
  char *path;
  uint64_t ticks_per_second, from;
  GArray *came, *sent; // Entry
  GByteArray *bytes;
  guint next_came, next_sent;
};

char *frame_record_path(const char *folder, const char *gateway) {
  g_autofree char *name = g_strconcat(gateway, ".frames", NULL);
  return g_build_filename(folder, name, NULL);
}

// ---- Writing

FrameRecord *frame_record_open(const char *path) {
  FrameRecord *record = g_new0(FrameRecord, 1);
  stream_write_open(&record->file, path);
  return record;
}

void frame_record_begin(FrameRecord *record, uint64_t ticks_per_second, uint64_t now) {
  stream_printf(&record->file, "frames 1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", ticks_per_second, now);
}

static void write_entry(FrameRecord *record, char kind, uint64_t now, const uint8_t *frame, uint32_t length) {
  g_autofree char *text = g_malloc(2 * (size_t)length + 1);
  for (uint32_t i = 0; i < length; i++) {
    text[2 * i] = DIGITS[frame[i] >> 4];
    text[2 * i + 1] = DIGITS[frame[i] & 15];
  }
  text[2 * length] = '\0';
  stream_printf(&record->file, "%c %" G_GUINT64_FORMAT "%s%s\n", kind, now, length ? " " : "", text);
}

void frame_record_came(FrameRecord *record, uint64_t now, const uint8_t *frame, int32_t length) {
  write_entry(record, length < 0 ? '!' : '<', now, frame, length < 0 ? 0 : (uint32_t)length);
}

void frame_record_sent(FrameRecord *record, uint64_t now, const uint8_t *frame, uint32_t length) {
  write_entry(record, '>', now, frame, length);
}

// ---- Reading

static _Noreturn void refuse_line(const FrameReplay *replay, const char *why) {
  spinach_fail("%s:%" G_GUINT64_FORMAT ": %s", replay->path, replay->file.records, why);
}

// A number after a blank.
static uint64_t read_number(const FrameReplay *replay, const char **text) {
  uint64_t number;
  if (**text != ' ') refuse_line(replay, "a number is missing");
  ++*text;
  if (!number_take_count(text, UINT64_MAX, &number)) refuse_line(replay, "this is no number of ticks");
  return number;
}

static int digit(char c) {
  const char *at = c ? strchr(DIGITS, c) : NULL;
  return at ? (int)(at - DIGITS) : -1;
}

static int32_t read_bytes(FrameReplay *replay, const char *text) {
  if (*text != ' ') refuse_line(replay, "the bytes of the frame are missing");
  const guint before = replay->bytes->len;
  for (text++; *text; text += 2) {
    const int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
    if (low < 0) refuse_line(replay, "the bytes of the frame are not hexadecimal");
    const uint8_t byte = (uint8_t)(high << 4 | low);
    g_byte_array_append(replay->bytes, &byte, 1);
  }
  if (replay->bytes->len == before || replay->bytes->len - before > LONGEST)
    refuse_line(replay, "no frame has that number of bytes");
  return (int32_t)(replay->bytes->len - before);
}

static void read_line(FrameReplay *replay, const char *line) {
  if (!strchr("<!>", line[0])) refuse_line(replay, "a line begins with <, > or !");
  const char *text = line + 1;
  Entry entry = {.instant = read_number(replay, &text), .first = replay->bytes->len, .length = -1};
  if (line[0] == '!' && *text) refuse_line(replay, "the line goes on after the number");
  if (line[0] != '!') entry.length = read_bytes(replay, text);
  GArray *entries = line[0] == '>' ? replay->sent : replay->came;
  const bool later = !entries->len || g_array_index(entries, Entry, entries->len - 1).instant < entry.instant;
  if (!later) refuse_line(replay, "the instant is not after the one before");
  g_array_append_val(entries, entry);
}

static void read_record(FrameReplay *replay) {
  static char line[2 * LONGEST + 64];
  stream_read_open(&replay->file, replay->path);
  if (!stream_line(&replay->file, line, sizeof line) || !g_str_has_prefix(line, "frames 1"))
    spinach_fail("\"%s\" is no record of a gateway: it does not begin with \"frames 1\"", replay->path);
  const char *text = line + strlen("frames 1");
  replay->ticks_per_second = read_number(replay, &text);
  replay->from = read_number(replay, &text);
  if (*text) refuse_line(replay, "the line goes on after the numbers");
  while (stream_line(&replay->file, line, sizeof line)) read_line(replay, line);
}

FrameReplay *frame_replay_open(const char *path) {
  FrameReplay *replay = g_new0(FrameReplay, 1);
  replay->path = g_strdup(path);
  replay->came = g_array_new(FALSE, FALSE, sizeof(Entry));
  replay->sent = g_array_new(FALSE, FALSE, sizeof(Entry));
  replay->bytes = g_byte_array_new();
  read_record(replay);
  return replay;
}

void frame_replay_begin(const FrameReplay *replay, uint64_t ticks_per_second, uint64_t now) {
  if (replay->ticks_per_second != ticks_per_second)
    spinach_fail("\"%s\" is the record of a machine with other clocks", replay->path);
  if (replay->from != now)
    spinach_fail("\"%s\" is the record of a run that began at another time: tick %" G_GUINT64_FORMAT
                 ", and this one at %" G_GUINT64_FORMAT " (restore the same checkpoint)",
                 replay->path, replay->from, now);
}

// ---- A run that has the frames again

static const Entry *entry_at(const GArray *entries, guint number) {
  return number < entries->len ? &g_array_index(entries, Entry, number) : NULL;
}

static _Noreturn void diverge(const FrameReplay *replay, uint64_t now, const char *what, const Entry *recorded) {
  g_autofree char *then = recorded ? g_strdup_printf("at tick %" G_GUINT64_FORMAT, recorded->instant) : NULL;
  spinach_fail("\"%s\": this run is not the recorded one: %s at tick %" G_GUINT64_FORMAT ", in the record %s",
               replay->path, what, now, then ? then : "never");
}

int32_t frame_replay_came(FrameReplay *replay, uint64_t now, uint8_t *frame, uint32_t capacity) {
  const Entry *sent = entry_at(replay->sent, replay->next_sent), *came = entry_at(replay->came, replay->next_came);
  if (sent && sent->instant < now) diverge(replay, now, "a frame is not yet sent", sent);
  if (!came || came->instant > now) return 0;
  if (came->instant < now) diverge(replay, now, "the gateway looks for a frame", came);
  replay->next_came++;
  if (came->length < 0) return -1;
  if ((uint32_t)came->length > capacity) diverge(replay, now, "a frame is too long", came);
  memcpy(frame, replay->bytes->data + came->first, (size_t)came->length);
  return came->length;
}

void frame_replay_sent(FrameReplay *replay, uint64_t now, const uint8_t *frame, uint32_t length) {
  const Entry *sent = entry_at(replay->sent, replay->next_sent);
  if (!sent || sent->instant != now) diverge(replay, now, "a frame is sent", sent);
  if ((uint32_t)sent->length != length || memcmp(frame, replay->bytes->data + sent->first, length) != 0)
    diverge(replay, now, "another frame is sent", sent);
  replay->next_sent++;
}
