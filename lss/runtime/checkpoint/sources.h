// The checkpoints that a run continues from: a file, or the folder of a network, which has a file for each part.
//
// What they hold is found by path, so a whole machine continues from the parts of a network, and a part from the
// checkpoint of a whole machine.  A part opens only what it needs: mostly that is the file with its own name.
#ifndef SPINACH_SOURCES_H
#define SPINACH_SOURCES_H

#include "lss/runtime/checkpoint/file.h"

#define SOURCES_SUFFIX ".checkpoint" // of the file of a part, after its path

typedef struct {
  char *name; // of its file, without the folder
  char *sha256;
  CheckpointFile file;
  GVariant *layouts;     // texts, by number
  GHashTable *instances; // path -> SourcePlace of this file
  guint8 *memory;        // the state, while it is unpacked
  int shared;            // descriptor of the state, unpacked, for processes that begin there; 0 without one
} Source;

// The state of an instance in one of them.
typedef struct {
  Source *source;
  guint64 offset;     // in its arena
  const char *layout; // of the instance (layout.h)
} SourcePlace;

// Opens what this machine needs.  On failure sets *error: a sentence.  Whatever was open before is forgotten.
bool sources_open(const char *path, GError **error);
guint sources_count(void);
Source *sources_at(guint index);
const Source *sources_first(void);

// The states of an instance: none, one, or for a crossing between two parts the state of each end.
guint sources_find(const char *path, SourcePlace places[2]);

// The entries of a list of all headers, each once.  The caller owns it.
GVariant *sources_list(const char *key);

// Unpacks the state of one into memory that sources_free_memory() gives back, or where `place` is.
bool sources_expand(Source *source, guint8 *place, GError **error);
void sources_free_memory(Source *source);
// Unpacks the state of all into memory that this process and those that it forks map when they expand them.
bool sources_share(GError **error);

#endif
