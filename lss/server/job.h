// Work on source text, done in a forked process: the compiler keeps the state of one compilation, and takes all of it
// with it when the process ends, be it by itself, by a defect, or because a newer change has made its work worthless.
#ifndef LSS_JOB_H
#define LSS_JOB_H

#include "lss/server/protocol.h"

typedef struct Job Job;

// Runs work(data) in a process of its own.  What it returns comes to done(), from the main loop; NULL when the process
// died.  The job is gone when done() is called.
typedef JsonValue *(*JobWork)(gpointer data);
typedef void (*JobDone)(JsonValue *result, gpointer data); // `result` is borrowed
Job *job_start(JobWork work, gpointer work_data, JobDone done, gpointer done_data);

// Ends a job and whatever it has started, without calling done().
void job_cancel(Job *job);

#endif
