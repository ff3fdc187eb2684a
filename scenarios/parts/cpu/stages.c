/* Stages of a small SSD firmware in plain C, marked for tlmssd profile-firmware: what page mapping,
 * DFTL and FAST do for a look-up and for a unit that collection moves, and a greedy choice that
 * looks at every block. Tables are small, and filled with what makes each case happen; a stage does
 * the same work on large ones. Measured figures of it: rv64-o2.csv beside this file.
 */
#include <stdint.h>
#include <string.h>

#include "tlmssd_stages.h"

enum { UNITS = 1 << 16, NOWHERE = -1 };

static volatile uint32_t result; /* keeps the compiler from leaving work out */
static uint32_t seed = 1;
static uint32_t any(uint32_t below) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)seed * below) >> 32);
}

/* ---- commands: an NVMe submission queue entry, a NAND operation, a completion */

struct sqe {
  uint8_t opcode, flags;
  uint16_t id;
  uint32_t nsid, reserved[4];
  uint64_t prp1, prp2, slba;
  uint32_t nlb, rest[3];
};
struct command {
  uint64_t lba, buffer;
  uint32_t blocks;
  uint16_t id;
  uint8_t opcode, state;
};
struct operation {
  uint32_t row, column, length, purpose;
  uint64_t buffer;
  struct operation* next;
  uint8_t die, plane, code, state;
};
struct cqe {
  uint32_t result, reserved;
  uint16_t head, queue, id, status;
};

static struct command commands[256];
static uint64_t blocks_of_drive = (uint64_t)UNITS * 8;

static __attribute__((noinline)) int take_command(const struct sqe* entry) {
  struct command* c = &commands[entry->id & 255];
  if (entry->opcode > 9 || entry->nsid != 1 || c->state != 0) return -1;
  c->lba = entry->slba;
  c->blocks = (entry->nlb & 0xFFFF) + 1;
  if (c->lba >= blocks_of_drive || c->blocks > blocks_of_drive - c->lba) return -1;
  if ((entry->prp1 & 3) != 0 || (c->blocks > 8 && entry->prp2 == 0)) return -1;
  c->buffer = entry->prp1;
  c->id = entry->id;
  c->opcode = entry->opcode;
  c->state = 1;
  return 0;
}

static struct operation* queue_head[32];
static struct operation* queue_tail[32];
static __attribute__((noinline)) void issue(struct operation* op, uint32_t ppn, uint64_t buffer, uint32_t what) {
  op->die = (uint8_t)(ppn & 31);
  op->plane = (uint8_t)((ppn >> 5) & 3);
  op->row = (ppn >> 7) * 3 + (ppn & 1);
  op->column = 0;
  op->length = 4096;
  op->purpose = what;
  op->buffer = buffer;
  op->code = 1;
  op->state = 1;
  op->next = 0;
  if (queue_tail[op->die] != 0) {
    queue_tail[op->die]->next = op;
  } else {
    queue_head[op->die] = op;
  }
  queue_tail[op->die] = op;
}

static struct cqe completions[64];
static uint32_t tail, phase = 1;
static __attribute__((noinline)) void complete(uint16_t id, uint16_t status) {
  struct cqe* entry = &completions[tail];
  entry->result = 0;
  entry->head = (uint16_t)(id + 1);
  entry->queue = 1;
  entry->id = id;
  entry->status = (uint16_t)((status << 1) | phase);
  commands[id & 255].state = 0;
  if (++tail == 64) {
    tail = 0;
    phase ^= 1;
  }
}

/* ---- page mapping: the whole table in memory */

static int32_t page_map[UNITS];
static __attribute__((noinline)) int32_t page_look_up(uint32_t lpn) {
  return lpn < UNITS ? page_map[lpn] : NOWHERE;
}
static uint32_t valid[1024];
static __attribute__((noinline)) int page_move(uint32_t lpn, int32_t from, int32_t to) {
  if (lpn >= UNITS || page_map[lpn] != from) return 0;
  page_map[lpn] = to;
  --valid[(uint32_t)from >> 6 & 1023];
  ++valid[(uint32_t)to >> 6 & 1023];
  return 1;
}

/* ---- DFTL: a cache of entries, by a hash and in the order of use; the directory of map pages */

enum { LINES = 2048, BUCKETS = 1024, PER_PAGE = 1024 };
struct line {
  uint32_t lpn;
  int32_t ppn;
  int16_t chain, older, newer;
  uint8_t dirty;
};
static struct line lines[LINES];
static int16_t buckets[BUCKETS];
static int16_t oldest, newest;
static int32_t directory[UNITS / PER_PAGE];
static uint16_t dirty_in_page[UNITS / PER_PAGE];

static uint32_t bucket_of(uint32_t lpn) { return (lpn * 2654435761u) >> 22; }
static int16_t find(uint32_t lpn) {
  int16_t i = buckets[bucket_of(lpn)];
  while (i >= 0 && lines[i].lpn != lpn) i = lines[i].chain;
  return i;
}
static void unlink_line(int16_t i) {
  struct line* l = &lines[i];
  if (l->older >= 0) lines[l->older].newer = l->newer; else oldest = l->newer;
  if (l->newer >= 0) lines[l->newer].older = l->older; else newest = l->older;
}
static void use(int16_t i) {
  lines[i].older = newest;
  lines[i].newer = -1;
  if (newest >= 0) lines[newest].newer = i; else oldest = i;
  newest = i;
}
static void fill_cache(void) {
  int16_t i;
  memset(buckets, 0xFF, sizeof buckets);
  oldest = newest = -1;
  for (i = 0; i < LINES; ++i) {
    const uint32_t lpn = (uint32_t)i * (UNITS / LINES);
    lines[i].lpn = lpn;
    lines[i].ppn = page_map[lpn];
    lines[i].dirty = (uint8_t)(i & 1);
    lines[i].chain = buckets[bucket_of(lpn)];
    buckets[bucket_of(lpn)] = i;
    use(i);
  }
}
static __attribute__((noinline)) int32_t dftl_look_up(uint32_t lpn) {
  const int16_t i = find(lpn);
  if (i < 0) return NOWHERE;
  if (i != newest) {
    unlink_line(i);
    use(i);
  }
  return lines[i].ppn;
}
/* A look-up that finds nothing: the oldest entry goes, with its map page's other changes if it has
 * been changed; then the entry that a map page has brought is put in. */
static __attribute__((noinline)) int32_t dftl_bring_in(uint32_t lpn, int32_t ppn) {
  const int16_t i = oldest;
  struct line* l = &lines[i];
  int16_t* link = &buckets[bucket_of(l->lpn)];
  while (*link != i) link = &lines[*link].chain;
  *link = l->chain;
  unlink_line(i);
  if (l->dirty) {
    const uint32_t page = l->lpn / PER_PAGE;
    directory[page] = ppn + 1;
    dirty_in_page[page] = 0;
  }
  l->lpn = lpn;
  l->ppn = ppn;
  l->dirty = 0;
  l->chain = buckets[bucket_of(lpn)];
  buckets[bucket_of(lpn)] = i;
  use(i);
  return directory[lpn / PER_PAGE];
}
static __attribute__((noinline)) int dftl_move(uint32_t lpn, int32_t from, int32_t to) {
  const int16_t i = find(lpn);
  if (i >= 0) {
    if (lines[i].ppn != from) return 0;
    lines[i].ppn = to;
    if (!lines[i].dirty) ++dirty_in_page[lpn / PER_PAGE];
    lines[i].dirty = 1;
  } else {
    ++dirty_in_page[lpn / PER_PAGE];
  }
  --valid[(uint32_t)from >> 6 & 1023];
  ++valid[(uint32_t)to >> 6 & 1023];
  return 1;
}

/* ---- FAST: a table of data blocks, and log blocks that are searched from their newest slot on */

enum { LOG_SLOTS = 4096, BLOCK_UNITS = 256 };
static int32_t data_block[UNITS / BLOCK_UNITS];
static uint32_t log_slots[LOG_SLOTS];
static __attribute__((noinline)) int32_t fast_look_up(uint32_t lpn, uint32_t slots) {
  uint32_t i;
  for (i = slots; i-- > 0;) {
    if (log_slots[i] == lpn) return (int32_t)(0x100000 + i);
  }
  return data_block[lpn / BLOCK_UNITS] * BLOCK_UNITS + (int32_t)(lpn % BLOCK_UNITS);
}
static __attribute__((noinline)) int fast_move(uint32_t lpn, int32_t from, uint32_t to) {
  if (from == NOWHERE) return 0;
  if (from >= 0x100000) log_slots[from - 0x100000] = ~0u;
  if (lpn % BLOCK_UNITS == BLOCK_UNITS - 1) data_block[lpn / BLOCK_UNITS] = (int32_t)(to / BLOCK_UNITS);
  return 1;
}

/* ---- greedy: the block with the fewest valid units of all */

static __attribute__((noinline)) uint32_t choose(uint32_t blocks) {
  uint32_t best = 0, i;
  for (i = 1; i < blocks; ++i) {
    if (valid[i] < valid[best]) best = i;
  }
  return best;
}

/* ---- the write buffer: by a hash */

enum { ENTRIES = 1024 };
static uint32_t entry_lpn[ENTRIES];
static int16_t entry_chain[ENTRIES], entry_bucket[BUCKETS];
static uint64_t entry_sectors[ENTRIES];
static uint32_t entries;
static __attribute__((noinline)) int insert(uint32_t lpn, uint64_t sectors) {
  const uint32_t b = bucket_of(lpn);
  int16_t i = entry_bucket[b];
  while (i >= 0 && entry_lpn[i] != lpn) i = entry_chain[i];
  if (i < 0) {
    i = (int16_t)(entries++ & (ENTRIES - 1));
    entry_lpn[i] = lpn;
    entry_chain[i] = entry_bucket[b];
    entry_bucket[b] = i;
    entry_sectors[i] = 0;
  }
  entry_sectors[i] |= sectors;
  return i;
}

int main(void) {
  static struct operation operations[256];
  static const uint32_t sizes[] = {16, 64, 256, 1024};
  static const uint32_t slots[] = {1, 64, 256, 1024, 4096};
  uint32_t n, i;
  for (i = 0; i < UNITS; ++i) page_map[i] = (int32_t)i;
  for (i = 0; i < UNITS / BLOCK_UNITS; ++i) data_block[i] = (int32_t)i;
  for (i = 0; i < LOG_SLOTS; ++i) log_slots[i] = UNITS + i;
  for (i = 0; i < 1024; ++i) valid[i] = 1 + any(200);
  memset(entry_bucket, 0xFF, sizeof entry_bucket);
  fill_cache();
  for (n = 0; n < 128; ++n) {
    const uint32_t lpn = any(UNITS);
    const uint32_t cached = any(LINES) * (UNITS / LINES);
    struct sqe entry = {.opcode = (uint8_t)(1 + (n & 1)), .id = (uint16_t)n, .nsid = 1, .prp1 = 4096};
    entry.slba = lpn * 8;
    entry.nlb = 7;
    TLMSSD_STAGE("command", "any", "any", 1);
    result = (uint32_t)take_command(&entry);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("translate", "page", "any", 1);
    result = (uint32_t)page_look_up(lpn);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("translate", "dftl", "hit", 1);
    result = (uint32_t)dftl_look_up(cached);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("gc", "page", "any", 1);
    result = (uint32_t)page_move(lpn, page_map[lpn], (int32_t)any(UNITS));
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("gc", "dftl", "any", 1);
    result = (uint32_t)dftl_move(n % 2 ? cached : lpn | 1, page_map[cached], (int32_t)lpn);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("gc", "fast", "any", 1);
    result = (uint32_t)fast_move(lpn, (int32_t)lpn, lpn);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("flash", "any", "any", 1);
    issue(&operations[n], lpn, 4096 * n, 1);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("complete", "any", "any", 1);
    complete((uint16_t)n, 0);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("buffer", "any", "miss", 1);
    result = (uint32_t)insert(UNITS + n, 0xFF);
    TLMSSD_STAGE_END();
    TLMSSD_STAGE("buffer", "any", "hit", 1);
    result = (uint32_t)insert(UNITS + n, 0x0F);
    TLMSSD_STAGE_END();
  }
  for (n = 0; n < 128; ++n) {
    const uint32_t lpn = any(UNITS / LINES / 2) * 2 + 1 + n * (UNITS / LINES);
    TLMSSD_STAGE("translate", "dftl", "miss", 1);
    if (dftl_look_up(lpn) == NOWHERE) result = (uint32_t)dftl_bring_in(lpn, (int32_t)lpn);
    TLMSSD_STAGE_END();
  }
  for (i = 0; i < sizeof slots / sizeof slots[0]; ++i) {
    for (n = 0; n < 8; ++n) {
      const uint32_t lpn = any(UNITS);
      TLMSSD_STAGE("translate", "fast", "any", slots[i]);
      result = (uint32_t)fast_look_up(lpn, slots[i]);
      TLMSSD_STAGE_END();
    }
  }
  for (i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    for (n = 0; n < 8; ++n) {
      valid[any(sizes[i])] = any(200);
      TLMSSD_STAGE("victim", "greedy", "any", sizes[i]);
      result = choose(sizes[i]);
      TLMSSD_STAGE_END();
    }
  }
  return 0;
}
