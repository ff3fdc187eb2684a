/* new-name: a page-mapped FTL in plain C: write buffer, pages written to all planes in turn, greedy
 * garbage collection, trims, bad blocks, read-only end of life. It leaves out refresh, error
 * correction, multi-plane operations and static wear levelling.
 *
 * A PARALLEL UNIT (PU) is a plane of a die; a PPN counts the mapping pages of all PUs, block by block
 * and page by page. An ENTRY of the write buffer is one buffer of the emulator's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlmssd_firmware.h>

enum { NONE = -1, LOST = -2 }; /* no place; what was there cannot be read */
enum { HOST, GC, STREAMS };
enum { FREE, OPEN, FULL, BAD };
enum { EMPTY, FILLING, WAITING, PROGRAMMING };
enum { RESERVE = 2, PROGRAMS_PER_PU = 4, SET_ASIDE = 4 };

struct block { int32_t valid, next, readers, programs, erases, state, failed; };
struct entry { int32_t lpn, state, stale, before, after; uint64_t seq; };
struct pu { int32_t open[STREAMS], free, good, programs, victim, at, copying; };
struct state { int32_t head, tail, waiting, used, empty, turn, read_only; uint64_t seq, force, victims, moved; };
struct job;     /* a command under way */
struct program; /* a program or a collection under way */

struct ftl {
  struct tlmssd_host* host;
  struct tlmssd_shape shape;
  int32_t pus, entries, pu_units, block_units, logical, low, high; /* program unit in mapping pages */
  int32_t *map, *lpn_at, *cached; /* LPN to PPN, PPN to LPN, LPN to entry */
  struct block* block;
  struct entry* entry;
  struct pu* pu;
  struct state s;
  struct job *jobs, *blocked, **last_blocked;
  struct program* all;
  int32_t programs, collecting, draining, pumping;
};

struct job {
  struct ftl* f;
  struct tlmssd_command* c;
  struct job *next, *next_blocked;
  size_t range;          /* stores: where they are */
  int32_t lpn, flushing; /* lpn NONE: at the begin of a range; flushing: entries that it waits for */
  uint64_t seq;
  enum tlmssd_status status;
  struct part* parts; /* reads of flash */
  int32_t count, left;
  uint64_t buffered;
};
struct part { struct job* job; int32_t ppn, units; };
struct program {
  struct ftl* f;
  struct program *next, **back;
  int32_t pu, stream, n, base, reads, from[256], id[256];
};

static void pump(struct ftl* f);
static void collect(struct ftl* f, int32_t pu);
static void gather(void* self);
static void store(void* self);

/* ---- places */

static void place(const struct ftl* f, int32_t ppn, struct tlmssd_flash* op) {
  int32_t pu = ppn / f->block_units / (int32_t)f->shape.blocks;
  uint32_t channel = (uint32_t)pu % f->shape.channels, rest = (uint32_t)pu / f->shape.channels;
  uint32_t dies = f->shape.dies / f->shape.channels;
  memset(op, 0, sizeof *op);
  op->size = sizeof *op;
  op->die = channel * dies + rest % dies; /* all channels, then their dies, then the planes */
  op->plane = rest / dies;
  op->block = (uint32_t)(ppn / f->block_units) % f->shape.blocks;
  op->page = (uint32_t)(ppn % f->block_units) / f->shape.units_per_page;
  op->first_unit = (uint32_t)ppn % f->shape.units_per_page;
}
static struct block* block_of(struct ftl* f, int32_t ppn) { return &f->block[ppn / f->block_units]; }

static void deallocate(struct ftl* f, int32_t lpn) {
  if (f->map[lpn] >= 0) {
    --block_of(f, f->map[lpn])->valid;
    f->lpn_at[f->map[lpn]] = NONE;
  }
  f->map[lpn] = NONE;
}
static void remap(struct ftl* f, int32_t lpn, int32_t ppn) {
  deallocate(f, lpn);
  f->map[lpn] = ppn;
  f->lpn_at[ppn] = lpn;
  ++block_of(f, ppn)->valid;
}

static void go_read_only(struct ftl* f) { f->s.read_only = 1; }

/* The first unit of a program unit of a stream's open block; NONE: there is no block for it. */
static int32_t claim(struct ftl* f, int32_t n, int32_t stream) {
  struct pu* pu = &f->pu[n];
  if (pu->open[stream] == NONE) {
    int32_t best = NONE, first = n * (int32_t)f->shape.blocks;
    if (pu->free <= (stream == HOST ? RESERVE : 0)) return NONE;
    for (int32_t b = first; b < first + (int32_t)f->shape.blocks; ++b)
      if (f->block[b].state == FREE && (best == NONE || f->block[b].erases < f->block[best].erases)) best = b;
    --pu->free;
    f->block[best].state = OPEN;
    f->block[best].next = 0;
    pu->open[stream] = best;
  }
  struct block* block = &f->block[pu->open[stream]];
  int32_t ppn = pu->open[stream] * f->block_units + block->next;
  block->next += f->pu_units;
  ++block->programs;
  if (block->next == f->block_units) {
    block->state = FULL;
    pu->open[stream] = NONE;
  }
  return ppn;
}

/* ---- entries of the write buffer */

static void unlink_entry(struct ftl* f, int32_t e) {
  struct entry* entry = &f->entry[e];
  if (entry->before == NONE) f->s.head = entry->after; else f->entry[entry->before].after = entry->after;
  if (entry->after == NONE) f->s.tail = entry->before; else f->entry[entry->after].before = entry->before;
  --f->s.waiting;
}
static void enqueue(struct ftl* f, int32_t e) {
  struct entry* entry = &f->entry[e];
  entry->state = WAITING;
  entry->before = f->s.tail;
  entry->after = NONE;
  if (f->s.tail == NONE) f->s.head = e; else f->entry[f->s.tail].after = e;
  f->s.tail = e;
  ++f->s.waiting;
}
static int32_t new_entry(struct ftl* f, int32_t lpn) {
  int32_t e = f->s.empty;
  f->s.empty = f->entry[e].after;
  f->entry[e].lpn = lpn;
  f->entry[e].stale = 0;
  f->entry[e].seq = ++f->s.seq;
  f->cached[lpn] = e;
  ++f->s.used;
  return e;
}
static void free_entry(struct ftl* f, int32_t e) {
  struct entry* entry = &f->entry[e];
  if (f->cached[entry->lpn] == e) f->cached[entry->lpn] = NONE;
  entry->state = EMPTY;
  entry->after = f->s.empty;
  f->s.empty = e;
  --f->s.used;
  for (struct job* job = f->jobs; job != NULL; job = job->next)
    if (job->flushing > 0 && entry->seq <= job->seq) --job->flushing;
}

/* ---- what is under way */

static struct program* new_program(struct ftl* f, int32_t pu) {
  struct program* p = calloc(1, sizeof *p);
  p->f = f;
  p->pu = pu;
  p->next = f->all;
  p->back = &f->all;
  if (p->next != NULL) p->next->back = &p->next;
  f->all = p;
  return p;
}
static void free_program(struct program* p) {
  *p->back = p->next;
  if (p->next != NULL) p->next->back = p->back;
  free(p);
}
static void free_job(struct job* job) {
  struct job** at = &job->f->jobs;
  while (*at != job) at = &(*at)->next;
  *at = job->next;
  free(job->parts);
  free(job);
}

/* ---- commands */

static void ended(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  tlmssd_complete(f->host, job->c, job->status);
  free_job(job);
  pump(f);
}
static void finish(struct job* job) {
  const struct tlmssd_work work = {TLMSSD_STAGE_COMPLETE, 1};
  tlmssd_run(job->f->host, job->c, &work, 1, ended, job);
}
static void run(struct job* job, enum tlmssd_stage stage, int32_t times, tlmssd_done then) {
  const struct tlmssd_work work[] = {{TLMSSD_STAGE_COMMAND, 1}, {stage, (uint32_t)times}};
  tlmssd_run(job->f->host, job->c, work, times > 0 ? 2 : 1, then, job);
}
static int32_t first_of(const struct ftl* f, uint64_t lba) { return (int32_t)(lba / f->shape.blocks_per_unit); }
static int32_t last_of(const struct ftl* f, uint64_t lba, uint64_t blocks) {
  return (int32_t)((lba + blocks - 1) / f->shape.blocks_per_unit);
}
static int beyond(const struct ftl* f, uint64_t lba, uint64_t blocks) {
  return lba > f->shape.logical_blocks || blocks > f->shape.logical_blocks - lba;
}

/* A read of a block has ended; collection may wait for the last one before it erases. */
static void unpin(struct ftl* f, struct block* block) {
  int32_t pu = (int32_t)(block - f->block) / (int32_t)f->shape.blocks;
  if (--block->readers > 0 || f->pu[pu].copying >= 0) return;
  f->pu[pu].copying = 1;
  gather(new_program(f, pu));
}

/* ---- reads */

static void part_done(void* self, const struct tlmssd_result* result) {
  struct part* part = self;
  struct job* job = part->job;
  struct ftl* f = job->f;
  struct block* block = block_of(f, part->ppn);
  if (result->status != TLMSSD_OK) job->status = TLMSSD_MEDIA_ERROR;
  unpin(f, block);
  if (--job->left == 0) finish(job);
}
static void read_parts(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  struct tlmssd_flash op;
  for (int32_t i = 0, n = job->count; i < n; ++i) {
    place(f, job->parts[i].ppn, &op);
    op.units = (uint32_t)job->parts[i].units;
    op.command = job->c;
    tlmssd_read(f->host, &op, part_done, &job->parts[i]);
  }
}
static void issue_parts(void* self) {
  struct job* job = self;
  const struct tlmssd_work work = {TLMSSD_STAGE_FLASH, (uint32_t)job->count};
  if (job->count == 0) finish(job); else tlmssd_run(job->f->host, job->c, &work, 1, read_parts, job);
}
static void copy_buffered(void* self) {
  struct job* job = self;
  tlmssd_access(job->f->host, job->c, TLMSSD_WAIT_MEMORY, TLMSSD_DRAM, 0, job->buffered, 0, issue_parts, job);
}
static void look_up(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  int32_t first = first_of(f, job->c->lba), last = last_of(f, job->c->lba, job->c->blocks);
  job->parts = calloc((size_t)(last - first + 1), sizeof *job->parts);
  for (int32_t lpn = first; lpn <= last; ++lpn) {
    int32_t e = f->cached[lpn], ppn = f->map[lpn];
    struct part* before = job->count > 0 ? &job->parts[job->count - 1] : NULL;
    if (e != NONE && f->entry[e].state != FILLING) {
      tlmssd_deliver(f->host, job->c, (uint32_t)lpn, (uint32_t)e);
      job->buffered += f->shape.unit_bytes;
    } else if (ppn < 0) {
      if (ppn == LOST) job->status = TLMSSD_MEDIA_ERROR;
      tlmssd_deliver(f->host, job->c, (uint32_t)lpn, TLMSSD_NO_BUFFER);
    } else if (before != NULL && before->ppn + before->units == ppn && ppn % (int32_t)f->shape.units_per_page != 0) {
      ++before->units;
    } else {
      ++block_of(f, ppn)->readers;
      job->parts[job->count].job = job;
      job->parts[job->count].ppn = ppn;
      job->parts[job->count++].units = 1;
    }
  }
  job->left = job->count;
  if (job->buffered == 0) {
    issue_parts(job);
  } else {
    const struct tlmssd_work work = {TLMSSD_STAGE_BUFFER, 1};
    tlmssd_run(f->host, job->c, &work, 1, copy_buffered, job);
  }
}
static uint64_t entry_of_map(const struct ftl* f, int32_t lpn) {
  return (uint64_t)f->entries * f->shape.unit_bytes + (uint64_t)f->pus * (uint64_t)f->pu_units * f->shape.unit_bytes +
         4 * (uint64_t)lpn;
}
static void fetch_map(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  int32_t first = first_of(f, job->c->lba), last = last_of(f, job->c->lba, job->c->blocks);
  tlmssd_access(f->host, job->c, TLMSSD_WAIT_MAP, TLMSSD_DRAM, entry_of_map(f, first), 4 * (uint64_t)(last - first + 1),
                0, look_up, job);
}

/* ---- writes, trims, flushes */

static void flushed(struct job* job) {
  tlmssd_charge(job->f->host, job->c, TLMSSD_WAIT_BUFFER);
  if (job->f->s.read_only && job->flushing > 0) job->status = TLMSSD_WRITE_PROTECTED;
  job->flushing = 0;
  finish(job);
}
/* Waits until what is in the buffer now has reached flash. */
static void flush(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  job->seq = f->s.force = f->s.seq;
  job->flushing = f->s.used;
  job->left = 1;
  pump(f);
}
static void filled(void* self, const struct tlmssd_result* result) {
  struct part* part = self;
  struct job* job = part->job;
  struct ftl* f = job->f;
  int32_t e = part->units;
  unpin(f, block_of(f, part->ppn));
  free(part);
  job->parts = NULL;
  if (result->status != TLMSSD_OK) job->status = TLMSSD_MEDIA_ERROR;
  enqueue(f, e);
  store(job);
}
/* Part of a unit, or all of it. 1: in the buffer; 0: there is no room; -1: what is there is read first. */
static int store_unit(struct job* job, int32_t lpn, uint64_t lba, uint64_t blocks) {
  struct ftl* f = job->f;
  uint64_t start = (uint64_t)lpn * f->shape.blocks_per_unit, end = start + f->shape.blocks_per_unit;
  if (end > f->shape.logical_blocks) end = f->shape.logical_blocks;
  int whole = lba <= start && lba + blocks >= end, trim = job->c->opcode != TLMSSD_WRITE;
  int32_t old = f->cached[lpn], e;
  if (old != NONE && f->entry[old].state == FILLING) return 0;
  if (trim && whole) {
    if (old != NONE && f->entry[old].state == WAITING) {
      unlink_entry(f, old);
      free_entry(f, old);
    } else if (old != NONE) {
      f->entry[old].stale = 1;
      f->cached[lpn] = NONE;
    }
    deallocate(f, lpn);
    return 1;
  }
  if (trim && old == NONE && f->map[lpn] == NONE) return 1;
  if (old != NONE && f->entry[old].state == WAITING) {
    tlmssd_take(f->host, job->c, (uint32_t)lpn, (uint32_t)old);
    return 1;
  }
  if (f->s.used == f->entries) return 0;
  e = new_entry(f, lpn);
  if (old == NONE && !whole && f->map[lpn] >= 0) {
    struct part* part = job->parts = calloc(1, sizeof *part);
    uint32_t buffer = (uint32_t)e;
    struct tlmssd_flash op;
    part->job = job;
    part->ppn = f->map[lpn];
    part->units = e;
    f->entry[e].state = FILLING;
    ++block_of(f, part->ppn)->readers;
    place(f, part->ppn, &op);
    op.buffers = &buffer;
    op.command = job->c;
    tlmssd_read(f->host, &op, filled, part);
    return -1;
  }
  tlmssd_copy(f->host, old == NONE ? TLMSSD_NO_BUFFER : (uint32_t)old, (uint32_t)e, 0, f->shape.blocks_per_unit);
  if (old != NONE) f->entry[old].stale = 1;
  tlmssd_take(f->host, job->c, (uint32_t)lpn, (uint32_t)e);
  enqueue(f, e);
  return 1;
}
static void store(void* self) {
  struct job* job = self;
  struct ftl* f = job->f;
  const struct tlmssd_range whole = {job->c->lba, job->c->blocks};
  const struct tlmssd_range* ranges = job->c->range_count > 0 ? job->c->ranges : &whole;
  size_t count = job->c->range_count > 0 ? job->c->range_count : 1;
  for (; job->range < count && !f->s.read_only; ++job->range, job->lpn = NONE) {
    const struct tlmssd_range* range = &ranges[job->range];
    if (range->blocks == 0) continue;
    if (job->lpn == NONE) job->lpn = first_of(f, range->lba);
    for (; job->lpn <= last_of(f, range->lba, range->blocks); ++job->lpn) {
      int stored = store_unit(job, job->lpn, range->lba, range->blocks);
      if (stored < 0) return;
      if (stored == 0) {
        *f->last_blocked = job;
        f->last_blocked = &job->next_blocked;
        job->next_blocked = NULL;
        pump(f);
        return;
      }
    }
  }
  if (job->range < count) job->status = TLMSSD_WRITE_PROTECTED;
  if (job->c->force_unit_access && job->status == TLMSSD_SUCCESS) flush(job); else finish(job);
  pump(f);
}

/* ---- programs */

static void program_done(void* self, const struct tlmssd_result* result) {
  struct program* p = self;
  struct ftl* f = p->f;
  struct block* block = block_of(f, p->base);
  int ok = result->status == TLMSSD_OK;
  --block->programs;
  if (!ok) { /* nothing more is written to it; collection will empty it */
    block->failed = 1;
    block->state = FULL;
    if (f->pu[p->pu].open[p->stream] == (int32_t)(block - f->block)) f->pu[p->pu].open[p->stream] = NONE;
  }
  for (int32_t i = 0; i < p->n; ++i) {
    if (p->stream == GC) { /* id: LPN; written or trimmed meanwhile: no move any more */
      if (ok && f->map[p->id[i]] == p->from[i]) remap(f, p->id[i], p->base + i);
      continue;
    }
    struct entry* entry = &f->entry[p->id[i]];
    if (ok && !entry->stale) remap(f, entry->lpn, p->base + i);
    if (ok || entry->stale) free_entry(f, p->id[i]); else enqueue(f, p->id[i]);
  }
  tlmssd_access(f->host, NULL, TLMSSD_WAIT_MAP, TLMSSD_DRAM, entry_of_map(f, 0), 4 * (uint64_t)p->n, 1, NULL, NULL);
  if (p->stream == GC) {
    f->s.moved += (uint64_t)p->n;
    if (!ok) f->pu[p->pu].at = f->pu[p->pu].victim * f->block_units; /* once more */
    gather(p);
    return;
  }
  --f->pu[p->pu].programs;
  --f->programs;
  collect(f, p->pu);
  free_program(p);
  pump(f);
}
static void program_now(void* self) {
  struct program* p = self;
  struct ftl* f = p->f;
  uint32_t lpns[256], buffers[256];
  struct tlmssd_flash op;
  place(f, p->base, &op);
  for (int32_t i = 0; i < f->pu_units; ++i) {
    lpns[i] = TLMSSD_NO_UNIT;
    buffers[i] = TLMSSD_NO_BUFFER;
    if (i >= p->n) continue;
    lpns[i] = (uint32_t)(p->stream == GC ? p->id[i] : f->entry[p->id[i]].lpn);
    buffers[i] = (uint32_t)(p->stream == GC ? f->entries + p->pu * f->pu_units + i : p->id[i]);
  }
  op.lpns = lpns;
  op.buffers = buffers;
  op.purpose = p->stream == GC ? TLMSSD_FOR_GC : TLMSSD_FOR_HOST;
  tlmssd_program(f->host, &op, program_done, p);
}
static void issue(struct program* p) {
  const struct tlmssd_work work = {TLMSSD_STAGE_FLASH, 1};
  tlmssd_run(p->f->host, NULL, &work, 1, program_now, p);
}

/* The next PU in turn that can take a program. */
static int32_t choose(struct ftl* f, int32_t* base) {
  for (int32_t i = 0; i < f->pus; ++i) {
    int32_t n = (f->s.turn + i) % f->pus;
    if (f->pu[n].programs >= PROGRAMS_PER_PU || (*base = claim(f, n, HOST)) == NONE) continue;
    f->s.turn = (n + 1) % f->pus;
    return n;
  }
  return NONE;
}
static void dispatch(struct ftl* f) {
  while (!f->s.read_only && f->s.waiting > 0 &&
         (f->s.waiting >= f->pu_units || f->draining || f->entry[f->s.head].seq <= f->s.force)) {
    int32_t base, n = choose(f, &base);
    if (n == NONE) {
      for (n = 0; n < f->pus; ++n) collect(f, n);
      if (f->programs == 0 && f->collecting == 0) go_read_only(f); /* nothing can make room any more */
      return;
    }
    struct program* p = new_program(f, n);
    p->stream = HOST;
    p->base = base;
    while (p->n < f->pu_units && f->s.waiting > 0) {
      int32_t e = f->s.head;
      unlink_entry(f, e);
      f->entry[e].state = PROGRAMMING;
      p->id[p->n++] = e;
    }
    ++f->pu[n].programs;
    ++f->programs;
    issue(p);
    collect(f, n);
  }
}
/* Whatever can go on does: programs, commands without room, flushes, a drain. */
static void pump(struct ftl* f) {
  if (f->pumping) return;
  f->pumping = 1;
  dispatch(f);
  while (f->blocked != NULL && (f->s.used < f->entries || f->s.read_only)) {
    struct job* job = f->blocked;
    f->blocked = job->next_blocked;
    if (f->blocked == NULL) f->last_blocked = &f->blocked;
    tlmssd_charge(f->host, job->c, TLMSSD_WAIT_BUFFER);
    store(job);
    dispatch(f);
    if (f->blocked != NULL && f->last_blocked == &job->next_blocked) break; /* it waits again */
  }
  for (struct job *job = f->jobs, *next; job != NULL; job = next) {
    next = job->next;
    if (job->left != 1 || job->c->opcode == TLMSSD_READ || (job->flushing > 0 && !f->s.read_only)) continue;
    job->left = 0;
    flushed(job);
  }
  f->pumping = 0;
  if (f->draining && f->jobs == NULL && f->programs == 0 && f->collecting == 0 && (f->s.used == 0 || f->s.read_only)) {
    f->draining = 0;
    tlmssd_drained(f->host);
  }
}

/* ---- garbage collection: one victim of a PU at a time, a program unit at a time */

static void end_collection(struct program* p) {
  struct ftl* f = p->f;
  f->pu[p->pu].victim = NONE;
  --f->collecting;
  collect(f, p->pu);
  if (f->pu[p->pu].victim == NONE) f->pu[p->pu].copying = 0;
  free_program(p);
  pump(f);
}
static void erased(void* self, const struct tlmssd_result* result) {
  struct program* p = self;
  struct ftl* f = p->f;
  struct pu* pu = &f->pu[p->pu];
  struct block* block = &f->block[pu->victim];
  ++block->erases;
  block->state = result->status == TLMSSD_OK ? FREE : BAD;
  if (block->state == FREE) ++pu->free;
  if (block->state == BAD) {
    int64_t kept = 0;
    --pu->good;
    for (int32_t n = 0; n < f->pus; ++n)
      if (f->pu[n].good > SET_ASIDE) kept += (int64_t)(f->pu[n].good - SET_ASIDE) * f->block_units;
    if (kept < f->logical) go_read_only(f);
  }
  end_collection(p);
}
static void erase_now(void* self) {
  struct program* p = self;
  struct ftl* f = p->f;
  struct tlmssd_flash op;
  if (f->block[f->pu[p->pu].victim].failed) { /* a program of it has failed: it is not used again */
    const struct tlmssd_result bad = {.size = sizeof bad, .status = TLMSSD_ERASE_FAILED};
    erased(p, &bad);
    return;
  }
  place(f, f->pu[p->pu].victim * f->block_units, &op);
  op.purpose = TLMSSD_FOR_GC;
  tlmssd_erase(f->host, &op, erased, p);
}
static void copied(void* self, const struct tlmssd_result* result) {
  struct program* p = self;
  struct ftl* f = p->f;
  if (result->status != TLMSSD_OK)
    for (int32_t i = 0; i < p->n; ++i)
      for (uint32_t u = 0; u < result->units; ++u)
        if ((uint32_t)p->id[i] == result->lpns[u] && f->map[p->id[i]] == p->from[i]) {
          deallocate(f, p->id[i]);
          f->map[p->id[i]] = LOST;
        }
  if (--p->reads > 0) return;
  p->base = claim(f, p->pu, GC);
  if (p->base == NONE) {
    go_read_only(f);
    end_collection(p);
    return;
  }
  issue(p);
}
static void copy_now(void* self) {
  struct program* p = self;
  struct ftl* f = p->f;
  int32_t n = p->n, page = (int32_t)f->shape.units_per_page;
  for (int32_t i = 0, end; i < n; i = end) {
    uint32_t buffers[64];
    struct tlmssd_flash op;
    place(f, p->from[i], &op);
    for (end = i + 1; end < n && p->from[end] / page == p->from[i] / page; ++end) {}
    op.units = (uint32_t)(p->from[end - 1] - p->from[i] + 1);
    for (uint32_t u = 0; u < op.units; ++u) buffers[u] = TLMSSD_NO_BUFFER;
    for (int32_t k = i; k < end; ++k)
      buffers[p->from[k] - p->from[i]] = (uint32_t)(f->entries + p->pu * f->pu_units + k);
    op.buffers = buffers;
    op.purpose = TLMSSD_FOR_GC;
    tlmssd_read(f->host, &op, copied, p);
  }
}
/* The next valid units of the victim; none left: it is erased. */
static void gather(void* self) {
  struct program* p = self;
  struct ftl* f = p->f;
  struct pu* pu = &f->pu[p->pu];
  int32_t end = (pu->victim + 1) * f->block_units, page = NONE;
  p->stream = GC;
  p->n = p->reads = 0;
  for (; pu->at < end && p->n < f->pu_units; ++pu->at) {
    if (f->lpn_at[pu->at] == NONE) continue;
    p->id[p->n] = f->lpn_at[pu->at];
    p->from[p->n++] = pu->at;
    if (pu->at / (int32_t)f->shape.units_per_page != page) ++p->reads;
    page = pu->at / (int32_t)f->shape.units_per_page;
  }
  const struct tlmssd_work work[] = {{TLMSSD_STAGE_GC, (uint32_t)p->n}, {TLMSSD_STAGE_FLASH, p->n > 0 ? (uint32_t)p->reads : 1}};
  if (p->n == 0 && f->block[pu->victim].readers > 0) { /* the last of its reads comes back here */
    pu->copying = -1;
    free_program(p);
    return;
  }
  tlmssd_run(f->host, NULL, work, 2, p->n > 0 ? copy_now : erase_now, p);
}
static void collect(struct ftl* f, int32_t n) {
  struct pu* pu = &f->pu[n];
  int32_t first = n * (int32_t)f->shape.blocks, best = NONE;
  if (pu->victim != NONE || pu->free >= (pu->copying > 0 ? f->high : f->low) || f->s.read_only) return;
  for (int32_t b = first; b < first + (int32_t)f->shape.blocks; ++b) {
    const struct block* block = &f->block[b];
    if (block->state != FULL || block->programs > 0 || (block->valid == f->block_units && !block->failed)) continue;
    if (best == NONE || block->valid < f->block[best].valid) best = b;
  }
  if (best == NONE) return;
  if (tlmssd_notes(f->host)) {
    char why[80];
    snprintf(why, sizeof why, "of PU %d, block %d: the fewest valid units, %d", (int)n, (int)(best - first),
             (int)f->block[best].valid);
    tlmssd_note(f->host, "victim", why, TLMSSD_NO_UNIT);
  }
  const struct tlmssd_work work = {TLMSSD_STAGE_GC, 1};
  pu->victim = best;
  pu->at = best * f->block_units;
  pu->copying = 1;
  ++f->s.victims;
  ++f->collecting;
  tlmssd_run(f->host, NULL, &work, 1, gather, new_program(f, n));
}

/* ---- what the emulator asks */

static void submit(void* self, struct tlmssd_command* c) {
  struct ftl* f = self;
  struct job* job = calloc(1, sizeof *job);
  int outside = c->opcode != TLMSSD_FLUSH && c->range_count == 0 && beyond(f, c->lba, c->blocks);
  int64_t units = 0;
  job->f = f;
  job->c = c;
  job->lpn = NONE;
  job->next = f->jobs;
  f->jobs = job;
  for (size_t i = 0; i < c->range_count; ++i) {
    outside = outside || beyond(f, c->ranges[i].lba, c->ranges[i].blocks);
    if (c->ranges[i].blocks > 0)
      units += last_of(f, c->ranges[i].lba, c->ranges[i].blocks) - first_of(f, c->ranges[i].lba) + 1;
  }
  if (c->range_count == 0 && c->blocks > 0) units = last_of(f, c->lba, c->blocks) - first_of(f, c->lba) + 1;
  if (outside || (c->blocks == 0 && c->opcode != TLMSSD_FLUSH && c->opcode != TLMSSD_TRIM)) {
    job->status = outside ? TLMSSD_LBA_OUT_OF_RANGE : TLMSSD_INVALID_FIELD;
    run(job, TLMSSD_STAGE_COMPLETE, 1, ended);
  } else if (c->opcode == TLMSSD_READ) {
    run(job, TLMSSD_STAGE_TRANSLATE, (int32_t)units, fetch_map);
  } else if (c->opcode == TLMSSD_FLUSH) {
    run(job, TLMSSD_STAGE_COMMAND, 0, flush);
  } else {
    run(job, c->opcode == TLMSSD_WRITE ? TLMSSD_STAGE_BUFFER : TLMSSD_STAGE_TRANSLATE, (int32_t)units, store);
  }
}
static void drain(void* self) {
  struct ftl* f = self;
  f->draining = 1;
  pump(f);
}
static uint32_t buffers(void* self) {
  struct ftl* f = self;
  return (uint32_t)(f->entries + f->pus * f->pu_units);
}
static uint64_t dram_bytes(void* self) { return 4 * (uint64_t)((struct ftl*)self)->logical; }
static int is_read_only(void* self) { return ((struct ftl*)self)->s.read_only; }
static void power_cycle(void* self) { (void)self; /* drained: nothing is in the buffer */ }
static void reset_statistics(void* self) {
  struct ftl* f = self;
  f->s.victims = f->s.moved = 0;
}
static void report(void* self, struct tlmssd_report* r) {
  struct ftl* f = self;
  double free_blocks = 0;
  for (int32_t n = 0; n < f->pus; ++n) free_blocks += f->pu[n].free;
  tlmssd_value(f->host, r, "victims", (double)f->s.victims, "", "blocks chosen by garbage collection");
  tlmssd_value(f->host, r, "units moved", (double)f->s.moved, "units", "out of them");
  tlmssd_value(f->host, r, "free blocks", free_blocks, "", "blocks ready to be written");
}
static void archive(void* self, struct tlmssd_archive* a) {
  struct ftl* f = self;
  size_t blocks = (size_t)f->pus * f->shape.blocks;
  tlmssd_save(f->host, a, &f->s, sizeof f->s);
  tlmssd_save(f->host, a, f->map, (size_t)f->logical * sizeof *f->map);
  tlmssd_save(f->host, a, f->cached, (size_t)f->logical * sizeof *f->cached);
  tlmssd_save(f->host, a, f->lpn_at, blocks * (size_t)f->block_units * sizeof *f->lpn_at);
  tlmssd_save(f->host, a, f->block, blocks * sizeof *f->block);
  tlmssd_save(f->host, a, f->entry, (size_t)f->entries * sizeof *f->entry);
  tlmssd_save(f->host, a, f->pu, (size_t)f->pus * sizeof *f->pu);
}
static void destroy(void* self) {
  struct ftl* f = self;
  while (f->all != NULL) free_program(f->all);
  while (f->jobs != NULL) free_job(f->jobs);
  free(f->map), free(f->cached), free(f->lpn_at), free(f->block), free(f->entry), free(f->pu), free(f);
}
static void* array(size_t count, size_t size, int fill) {
  void* memory = malloc(count * size);
  if (memory != NULL) memset(memory, fill, count * size);
  return memory;
}

static void* create(struct tlmssd_host* host, const struct tlmssd_shape* shape) {
  struct ftl* f = calloc(1, sizeof *f);
  int32_t share, spare;
  f->host = host;
  f->shape = *shape;
  f->last_blocked = &f->blocked;
  f->pus = (int32_t)(shape->dies * shape->planes);
  f->pu_units = (int32_t)(shape->program_pages * shape->units_per_page);
  f->block_units = (int32_t)(shape->pages * shape->units_per_page);
  f->logical = (int32_t)shape->logical_units;
  f->entries = (int32_t)(tlmssd_number(host, "buffer_size") / shape->unit_bytes);
  share = (f->logical / f->pus + f->block_units - 1) / f->block_units; /* blocks of a PU that data fill */
  spare = (int32_t)shape->blocks - share;
  f->low = 1 + (int32_t)(tlmssd_number(host, "gc_start") * spare);
  f->high = 1 + (int32_t)(tlmssd_number(host, "gc_stop") * spare);
  if (f->low < RESERVE + 2) f->low = RESERVE + 2;
  if (f->high < f->low) f->high = f->low;
  if (f->pu_units > 256 || shape->units_per_page > 64)
    tlmssd_refuse(host, "ssd.flash.part.page_size", "makes program units of more than 256 mapping pages");
  else if (f->entries < f->pu_units)
    tlmssd_refuse(host, "firmware.buffer_size", "holds less than a program unit");
  else if (spare < SET_ASIDE + 1)
    tlmssd_refuse(host, "ssd.flash.over_provisioning", "leaves less than 5 spare blocks in a plane");
  else {
    size_t blocks = (size_t)f->pus * shape->blocks;
    f->map = array((size_t)f->logical, sizeof *f->map, 0xFF);
    f->cached = array((size_t)f->logical, sizeof *f->cached, 0xFF);
    f->lpn_at = array(blocks * (size_t)f->block_units, sizeof *f->lpn_at, 0xFF);
    f->block = array(blocks, sizeof *f->block, 0);
    f->entry = array((size_t)f->entries, sizeof *f->entry, 0);
    f->pu = array((size_t)f->pus, sizeof *f->pu, 0);
    for (int32_t e = 0; e < f->entries; ++e) f->entry[e].after = e + 1;
    f->s.head = f->s.tail = NONE;
    for (int32_t n = 0; n < f->pus; ++n) {
      f->pu[n].free = f->pu[n].good = (int32_t)shape->blocks;
      f->pu[n].open[HOST] = f->pu[n].open[GC] = f->pu[n].victim = NONE;
    }
    return f;
  }
  free(f);
  return NULL;
}

static const struct tlmssd_parameter parameters[] = {
    {"buffer_size", TLMSSD_BYTES, 32 << 20, 4096, 1 << 30, "write buffer in DRAM"},
    {"gc_start", TLMSSD_SHARE, 0.10, 0, 1, "free blocks, as a share of the spare ones, below which collection starts"},
    {"gc_stop", TLMSSD_SHARE, 0.15, 0, 1, "free blocks, as a share of the spare ones, at which it stops"},
};

static const struct tlmssd_firmware firmware = {
    .size = sizeof firmware,
    .api = TLMSSD_FIRMWARE_API,
    .name = "new-name",
    .version = "1.0",
    .summary = "page mapping in plain C, greedy collection",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof parameters[0],
    .create = create,
    .destroy = destroy,
    .buffers = buffers,
    .dram_bytes = dram_bytes,
    .submit = submit,
    .drain = drain,
    .archive = archive,
    .power_cycle = power_cycle,
    .report = report,
    .reset_statistics = reset_statistics,
    .read_only = is_read_only,
};

TLMSSD_EXPORT const struct tlmssd_firmware* tlmssd_firmware_plugin(void) { return &firmware; }
