// What GTKWave's writer of FST is compiled with (FST_CONFIG_INCLUDE): its files are those of fst.c.  The one that it
// makes is the run's output, whose first failure is remembered; what it keeps beside that is in memory.
#ifndef SPINACH_WAVE_FST_HOST_H
#define SPINACH_WAVE_FST_HOST_H

#include <fst_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HAVE_LIBPTHREAD     1
#define FST_WRITER_PARALLEL 1

FILE *fst_host_open(const char *name, const char *mode);
FILE *fst_host_temporary(void);
int fst_host_close(FILE *file);
int fst_host_flush(FILE *file);
size_t fst_host_write(const void *bytes, size_t size, size_t count, FILE *file);
int fst_host_seek(FILE *file, off_t offset, int whence);
int fst_host_remove(const char *name);

#ifndef SPINACH_WAVE_FST_HOST
#define fopen   fst_host_open
#define tmpfile fst_host_temporary
#define fclose  fst_host_close
#define fflush  fst_host_flush
#define fwrite  fst_host_write
#define fseeko  fst_host_seek
#define unlink  fst_host_remove
#endif

#endif
