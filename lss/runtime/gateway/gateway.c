// Gateways as streams, and those of a run; see gateway_stream.h and gateway.h.
#include "lss/runtime/gateway/gateway.h"

#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/gateway/frame_record.h"
#include "lss/runtime/gateway/frame_socket.h"
#include "lss/runtime/gateway/gateway_stream.h"

#include <poll.h>
#include <time.h>

enum { SECOND = 1000000000, MADE_UP = 10000000 }; // nanoseconds

// What a look has found, of those that found something.
typedef struct {
  uint64_t look; // its number (host_find_look())
  int32_t length;
  uint8_t *frame;
} Found;

struct HostGateway {
  char *instance;
  HostFile *file;       // NULL: nothing is at its end
  const char *leads_to; // for people
  FrameSocket *socket;  // NULL: it leads to a record, or this process was forked and leaves no trace
  bool waits;           // simulated time waits for the wall clock
  bool said_lost;
  FrameRecord *record; // NULL: none is written
  FrameReplay *replay; // NULL: frames come from outside
  uint64_t looks;      // that were made, those before a checkpoint included
  GArray *found;       // of Found, while the run may go backwards; NULL: nothing is kept
};

static GatewayWishes wishes;
static GPtrArray *gateways; // HostGateway*, in the order in which modules ask; NULL: none does

void spinach_gateways_wish(const GatewayWishes *given) {
  wishes = *given;
}

// ---- The wall clock

static gint64 nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (gint64)time.tv_sec * SECOND + time.tv_nsec;
}

// Waits until the wall clock is where simulated time is, or something comes.
static void wait_for_wall(uint64_t now) {
  static bool begun;
  static gint64 lead; // of simulated time before the wall clock, when it is neither ahead nor behind
  const gint64 simulated = (gint64)((unsigned __int128)now * SECOND / wishes.ticks_per_second);
  const gint64 ahead = simulated - nanoseconds() - lead;
  if (!begun || ahead < -MADE_UP) {
    lead += begun ? ahead + MADE_UP : ahead;
    begun = true;
  }
  if (ahead <= 0) return;
  g_autofree struct pollfd *sockets = g_new0(struct pollfd, gateways->len);
  for (guint i = 0; i < gateways->len; i++) {
    const HostGateway *gateway = gateways->pdata[i];
    sockets[i] = (struct pollfd){.fd = gateway->socket ? frame_socket_handle(gateway->socket) : -1, .events = POLLIN};
  }
  ppoll(sockets, gateways->len, &(struct timespec){ahead / SECOND, ahead % SECOND}, NULL); // a signal ends it, too
}

// ---- A gateway as a file of the run

static HostGateway *gateway_of(const stream *s) {
  return host_file(s)->gateway;
}

static void cut(HostFile *file) {
  HostGateway *gateway = file->gateway;
  file->written = MIN(file->written, file->owner->position);
  gateway->looks = MIN(gateway->looks, file->owner->records);
  if (gateway->found) g_array_set_size(gateway->found, host_find_look(gateway->found, gateway->looks));
}

static void end(HostFile *file) {
  g_clear_pointer(&file->gateway->socket, frame_socket_close);
}

static void remove_name(const HostFile *file) {
  (void)file; // it has none
}

// Nothing comes any more, and no look takes time.
static void detach(HostFile *file) {
  file->gateway->socket = NULL;
  file->gateway->looks = UINT64_MAX;
}

static const GatewaySetting *setting_of(const char *instance) {
  for (guint i = 0; wishes.settings && i < wishes.settings->len; i++) {
    const GatewaySetting *setting = &g_array_index(wishes.settings, GatewaySetting, i);
    if (!strcmp(setting->instance, instance)) return setting;
  }
  return NULL;
}

static void clear_found(gpointer found) {
  g_free(((Found *)found)->frame);
}

static void lead_outside(HostGateway *gateway, const GatewayPlace *place) {
  g_autoptr(GError) error = NULL;
  gateway->socket = frame_socket_open(place, wishes.open, &error);
  if (!gateway->socket) spinach_fail("%s", error->message);
  gateway->waits = place->waits;
  gateway->leads_to = place->text;
}

bool gateway_open(stream *s) {
  static const HostConduct conduct = {cut, end, remove_name, detach};
  const char *instance = wishes.instance();
  HostGateway *gateway = g_new0(HostGateway, 1);
  gateway->instance = g_strdup(instance);
  if (!gateways) gateways = g_ptr_array_new();
  g_ptr_array_add(gateways, gateway);
  const GatewaySetting *setting = setting_of(instance);
  g_autofree char *record = wishes.replay ? frame_record_path(wishes.replay, instance) : NULL;
  if (record && !g_file_test(record, G_FILE_TEST_EXISTS)) return false;
  const char *why;
  if ((!setting && !record) || (host_consoles_are_closed(&why) && !why)) return false;
  if (host_consoles_are_closed(&why)) spinach_fail("the gateway \"%s\" cannot be opened: %s", instance, why);
  gateway->leads_to = record ? g_strdup(record) : NULL;
  if (record)
    gateway->replay = frame_replay_open(record);
  else
    lead_outside(gateway, &setting->place);
  g_autofree char *kept = wishes.record ? frame_record_path(wishes.record, instance) : NULL;
  if (kept) gateway->record = frame_record_open(kept);
  if (wishes.keep) gateway->found = g_array_new(FALSE, FALSE, sizeof(Found));
  if (gateway->found) g_array_set_clear_func(gateway->found, clear_found);
  gateway->file = host_file_new(s, gateway->leads_to);
  gateway->file->gateway = gateway;
  gateway->file->live = true;
  gateway->file->conduct = &conduct;
  return true;
}

// ---- Frames

static int32_t look(HostGateway *gateway, uint64_t now, uint8_t *frame, uint32_t capacity) {
  if (gateway->replay) return frame_replay_came(gateway->replay, now, frame, capacity);
  int32_t length = frame_socket_receive(gateway->socket, frame, capacity);
  if (!length && gateway->waits) {
    wait_for_wall(now);
    length = frame_socket_receive(gateway->socket, frame, capacity);
  }
  const char *lost = frame_socket_lost(gateway->socket);
  if (!lost || gateway->said_lost) return length;
  gateway->said_lost = true;
  spinach_report_error("warning: %s: nothing comes or goes any more: %s", gateway->instance, lost);
  return length;
}

static int32_t found_before(const HostGateway *gateway, uint64_t number, uint8_t *frame) {
  const guint at = gateway->found ? host_find_look(gateway->found, number) : 0;
  if (!gateway->found || at == gateway->found->len) return 0;
  const Found *found = &g_array_index(gateway->found, Found, at);
  if (found->look != number) return 0;
  if (found->length > 0) memcpy(frame, found->frame, (size_t)found->length);
  return found->length;
}

int32_t gateway_receive(stream *s, uint8_t *frame, uint32_t capacity) {
  HostGateway *gateway = gateway_of(s);
  const uint64_t number = s->records++;
  if (number < gateway->looks) return found_before(gateway, number, frame);
  gateway->looks = s->records;
  const uint64_t now = wishes.now();
  const int32_t length = look(gateway, now, frame, capacity);
  if (!length) return 0;
  if (gateway->record) frame_record_came(gateway->record, now, frame, length);
  if (gateway->found) {
    const Found found = {number, length, length > 0 ? g_memdup2(frame, (gsize)length) : NULL};
    g_array_append_val(gateway->found, found);
  }
  return length;
}

void gateway_send(stream *s, const uint8_t *frame, uint32_t length) {
  HostGateway *gateway = gateway_of(s);
  const bool again = s->position < gateway->file->written;
  s->position++;
  if (again) return;
  gateway->file->written = s->position;
  const uint64_t now = wishes.now();
  if (gateway->record) frame_record_sent(gateway->record, now, frame, length);
  if (gateway->replay)
    frame_replay_sent(gateway->replay, now, frame, length);
  else
    frame_socket_send(gateway->socket, frame, length);
}

// ---- At the start of a run

static HostGateway *gateway_named(const char *instance) {
  for (guint i = 0; gateways && i < gateways->len; i++)
    if (!strcmp(((HostGateway *)gateways->pdata[i])->instance, instance)) return gateways->pdata[i];
  return NULL;
}

// `"a" and "b"`: those that lead somewhere, or all.
static char *names(bool leading) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; gateways && i < gateways->len; i++) {
    const HostGateway *gateway = gateways->pdata[i];
    if (!leading || gateway->socket) g_ptr_array_add(texts, g_strdup_printf("\"%s\"", gateway->instance));
  }
  g_ptr_array_add(texts, NULL);
  return texts->len > 1 ? g_strjoinv(", ", (char **)texts->pdata) : NULL;
}

static bool refuse_settings(void) {
  g_autofree char *all = names(false);
  for (guint i = 0; wishes.settings && i < wishes.settings->len; i++) {
    const char *instance = g_array_index(wishes.settings, GatewaySetting, i).instance;
    if (gateway_named(instance)) continue;
    return !spinach_report_error(all ? "--gateway: \"%s\" is no gateway; this machine has %s"
                                     : "--gateway: \"%s\" is no gateway; this machine has none",
                                 instance, all);
  }
  for (guint i = 0; gateways && i < gateways->len; i++)
    if (((HostGateway *)gateways->pdata[i])->replay) return false;
  return wishes.replay && !wishes.links &&
         !spinach_report_error("--replay-links: the folder \"%s\" has no record of a gateway of this "
                               "machine",
                               wishes.replay);
}

bool spinach_gateways_begin(void) {
  if (refuse_settings()) return false;
  const uint64_t now = wishes.now();
  for (guint i = 0; gateways && i < gateways->len; i++) {
    const HostGateway *gateway = gateways->pdata[i];
    if (gateway->record) frame_record_begin(gateway->record, wishes.ticks_per_second, now);
    if (gateway->replay) frame_replay_begin(gateway->replay, wishes.ticks_per_second, now);
  }
  g_autofree char *outside = names(true);
  if (!outside) return true;
  spinach_report_error("warning: frames come from outside at %s: this run is not repeatable%s", outside,
                       wishes.record ? ", but its record is"
                                     : " (--record-links FOLDER keeps them for --replay-links)");
  return true;
}

bool spinach_gateway_at(guint index, const char **instance, const char **leads_to, bool *replayed) {
  guint number = 0;
  for (guint i = 0; gateways && i < gateways->len; i++) {
    const HostGateway *gateway = gateways->pdata[i];
    if (!gateway->file || number++ != index) continue;
    *instance = gateway->instance;
    *leads_to = gateway->leads_to;
    *replayed = gateway->replay != NULL;
    return true;
  }
  return false;
}
