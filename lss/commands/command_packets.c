// lss packets FILE [-o OUT]: a capture as one kind of packet file, read as simulators read it.
#include "lss/base/output.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/runtime/files/packet_reader.h"
#include "lss/runtime/files/packet_writer.h"
#include "lss/runtime/files/used_files.h"
#include "lss/runtime/files/whole_file.h"

#include <string.h>
#include <unistd.h>

static const OptionSpec own[] = {
    {"-o", "FILE", "where it goes; without it, to standard output"},
    {0},
};
static const OptionSpec *const tables[] = {own, NULL};

typedef struct {
  PacketReader *reader;
  GError *error; // of reading
} Copy;

static bool copy_packets(FILE *out, void *data) {
  Copy *copy = data;
  if (!packet_writer_begin(out)) return false;
  CapturedPacket packet;
  while (packet_reader_next(copy->reader, &packet, &copy->error)) {
    if (!packet_reader_require_whole(copy->reader, &packet, UINT32_MAX, &copy->error)) return false;
    if (!packet_writer_add(out, packet.bytes, packet.length, packet.stamp)) return false;
  }
  return !copy->error;
}

static int fail(const char *command, int status, const char *text) {
  fprintf(stderr, "lss %s: %s\n", command, text);
  return status;
}

static int packets_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  const char *path = "-";
  if (!options_parse(tables, argc, argv, &options, option_text, &path, NULL)) return 2;
  if (!options.machine || options.rest->len) return usage_error(argv[0], "needs one file, a capture");
  if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
    return usage_error(argv[0], "standard output is a terminal; -o names the file to write");
  g_autoptr(GError) error = NULL;
  if (!used_files_add(options.machine, FILE_IS_READ, "lss packets", &error) ||
      !used_files_add(path, FILE_IS_WRITTEN, "-o", &error) || !used_files_add_standard(&error))
    return fail(argv[0], 2, error->message);
  g_autoptr(PacketReader) reader = packet_reader_open(options.machine, &error);
  if (!reader) return fail(argv[0], 1, error->message);
  Copy copy = {reader, NULL};
  const bool written = whole_file_fill(path, copy_packets, &copy, &error);
  g_autoptr(GError) unread = copy.error;
  if (unread) return fail(argv[0], 1, unread->message);
  if (!written) {
    fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", argv[0], path, error->message);
    return 3;
  }
  output_note(argv[0], path, "");
  return 0;
}

const Command command_packets = {"packets", packets_command, "FILE [-o X.pcap]",
                                 "a capture as simulators read it: pcap, nanoseconds, frames without FCS", tables};
