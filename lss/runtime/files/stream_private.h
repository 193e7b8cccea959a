// What stream.c and packet.c share: the process's side of a stream.
#ifndef SPINACH_STREAM_PRIVATE_H
#define SPINACH_STREAM_PRIVATE_H

#include "lss/runtime/files/packet_reader.h"
#include "lss/runtime/files/stream.h"
#include "lss/runtime/files/used_files.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/text/report.h"

#include <stdio.h>

typedef struct HostImage HostImage;
typedef struct HostTerminal HostTerminal;
typedef struct HostGateway HostGateway;
typedef struct HostFile HostFile;

// What a file of another kind does when a run goes on otherwise, at its end, when a signal ends it, and in a forked
// process that is to leave no trace.
typedef struct {
  void (*cut)(HostFile *file);
  void (*close)(HostFile *file);
  void (*remove)(const HostFile *file);
  void (*detach)(HostFile *file);
} HostConduct;

struct HostFile {
  char *path;
  stream *owner;          // the module's side
  uint8_t *bytes;         // inputs: all of the file, and a zero behind it
  size_t size;            // of an input, in bytes
  struct stat status;     // of the file when those were read; all zeros: it is no ordinary file, or changed meanwhile
  HostImage *image;       // of an input that is read in parts
  size_t consumed;        // bytes of an input that were read, for the progress display
  bool replaces;          // it is not what its stream read before the checkpoint
  FILE *out;              // outputs
  uint64_t written;       // bytes, or packets, that it has; what is written again after going back is there already
  WholeFile *whole;       // as which an output grows; NULL when it is written in place
  PacketReader *reader;   // of a packet input
  GArray *index;          // CapturedPacket, whose bytes are in `bytes`, when packets are taken by number
  bool packets;           // of an output: it is a packet file
  HostTerminal *terminal; // of a console; two streams share one, what is typed and what is shown
  HostGateway *gateway;   // of a gateway, whose stream has the looks as records
  bool live;              // something may come at any time
  const HostConduct *conduct; // of a console or gateway
  bool detached;              // this process was forked from the one whose it is
};

HostFile *host_file_new(stream *s, const char *path);
HostFile *host_file(const stream *s);
HostFile *host_file_number(uint32_t index); // in the order of opening; NULL beyond the last
// The same for an instance, whose use of the file is noted.
HostFile *host_file_use(stream *s, const char *path, FileUse use);
// Who that is, in words that the caller frees.
extern char *(*host_file_user)(const char *path);
// Whether consoles and gateways are not opened any more; *why is then as in spinach_streams_close_consoles().
bool host_consoles_are_closed(const char **why);
// The first of what looks have found whose look is not before this one: of structs that begin with the number of a
// look, a uint64_t, in their order.
guint host_find_look(const GArray *found, uint64_t look);
void host_file_read_whole(HostFile *file);
void host_file_create(HostFile *file); // opens it for writing
void host_file_drop(HostFile *file);   // closes an output without leaving anything

// image.c: SHA-256 of the size and of the blocks of 4 KiB that are not all zeros, each after its number, both numbers
// as 8 bytes, the least significant one first.  The caller frees it.
char *host_image_digest(const HostFile *file);

// Why an output of this name is not to be written; the caller frees it, NULL when it may be.  Without one all may be.
extern char *(*host_output_problem)(const char *path);

#endif
