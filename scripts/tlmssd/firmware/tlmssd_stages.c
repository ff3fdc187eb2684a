/* The marks of tlmssd_stages.h under tlmssd profile-firmware: each begin is written down in order, so
 * that the tool can lay the instructions of its trace beside what they were for. */
#include <stdio.h>
#include <stdlib.h>

#include "tlmssd_stages.h"

#define MOST_RUNS 1000000u

struct run {
  const char* stage;
  const char* policy;
  const char* cached;
  unsigned entries;
};
static struct run runs[MOST_RUNS];
static unsigned count;

__attribute__((noinline)) void tlmssd_stage_begin(const char* stage, const char* policy, const char* cached,
                                                  unsigned entries) {
  struct run* run = &runs[count < MOST_RUNS ? count : MOST_RUNS - 1];
  run->stage = stage;
  run->policy = policy;
  run->cached = cached;
  run->entries = entries;
  ++count;
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void tlmssd_stage_end(void) { __asm__ volatile("" ::: "memory"); }

static void write_runs(void) {
  FILE* file = fopen(getenv("TLMSSD_STAGE_RUNS") ? getenv("TLMSSD_STAGE_RUNS") : "stage-runs", "w");
  unsigned i;
  if (file == NULL) return;
  for (i = 0; i < count && i < MOST_RUNS; ++i)
    fprintf(file, "%s,%s,%s,%u\n", runs[i].stage, runs[i].policy, runs[i].cached, runs[i].entries);
  fprintf(file, "end,%u\n", count);
  fclose(file);
}

/* The first run is empty: what a mark itself costs. */
__attribute__((constructor)) static void begin_profile(void) {
  atexit(write_runs);
  tlmssd_stage_begin("mark", "any", "any", 1);
  tlmssd_stage_end();
  __asm__ volatile("" ::: "memory"); /* or else the call were a jump, behind the function's epilogue */
}
