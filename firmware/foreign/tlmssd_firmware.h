/* A flash translation layer in plain C for tlmssd: call-backs, no C++ (C99).
 *
 * A shared library with one function,
 *
 *   const struct tlmssd_firmware* tlmssd_firmware_plugin(void);
 *
 * is a plug-in: `plugins: [libmine.so]` and `firmware: {model: mine}` in a scenario. A program that
 * links tlmssd::tlmssd hands the same struct to tlmssd_add_firmware() before tlmssd::main().
 *
 * The emulator moves content, the firmware names it. A BUFFER is a place in the controller's DRAM for
 * one mapping page, numbered 0 .. buffers - 1: units of a write command are taken into buffers,
 * programs send buffers, reads fill buffers or go straight to the read command. A unit has a logical
 * number (LPN), which travels in the spare area of its page.
 *
 * Rules
 * - Everything runs on one thread. Calls of tlmssd_...() return at once; what takes time ends in a
 *   call-back, never from within the call that it was given to.
 * - Timed and untimed (preconditioning) the same calls happen in the same order; untimed, no time
 *   passes. Timers then fire, earliest first, only while a command or a drain waits for them.
 * - Structs begin with their size, which their maker sets: later versions add fields at the end.
 *   Make them as {.size = sizeof(struct ...)}; what is not set is 0.
 * - A wrong call (a page outside the array, a buffer that does not exist, a command completed twice)
 *   ends the run with one line and exit code 2. What NAND does not allow (pages out of order, a
 *   program of a page that is not erased) does so, too.
 *
 * Units: times in picoseconds, sizes in bytes, addresses counted from the start of the memory,
 * logical addresses in logical blocks (of lba_bytes), LPNs in mapping pages (of unit_bytes). */
#ifndef TLMSSD_FIRMWARE_H
#define TLMSSD_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): names as in C */
#ifdef __cplusplus
extern "C" {
#endif

#define TLMSSD_FIRMWARE_API 1
/* No unit: padding in a program, a slot of a read that held padding. */
#define TLMSSD_NO_UNIT UINT32_MAX
/* No buffer: in a program, a unit of zeros; in a read, its content is not wanted. */
#define TLMSSD_NO_BUFFER UINT32_MAX

/* A flush completes when all that was completed before it came is on flash (or in SCM), trims aside; without a
 * write buffer that is at once. Power loss takes what is in DRAM. */
enum tlmssd_opcode { TLMSSD_READ, TLMSSD_WRITE, TLMSSD_FLUSH, TLMSSD_TRIM, TLMSSD_WRITE_ZEROES };

/* How a command ends. */
enum tlmssd_status {
  TLMSSD_SUCCESS,
  TLMSSD_LBA_OUT_OF_RANGE,
  TLMSSD_WRITE_PROTECTED, /* the drive has gone read-only */
  TLMSSD_MEDIA_ERROR,     /* unrecovered read error */
  TLMSSD_INVALID_FIELD
};

/* How a flash operation ends. */
enum tlmssd_flash_status {
  TLMSSD_OK,
  TLMSSD_PROGRAM_FAILED, /* the block must not be programmed again */
  TLMSSD_ERASE_FAILED,   /* the block must not be used again */
  TLMSSD_UNCORRECTABLE   /* some frame could not be decoded */
};

/* On whose behalf a flash operation is: decides its priority and where reports count it. */
enum tlmssd_purpose {
  TLMSSD_FOR_HOST,
  TLMSSD_FOR_GC,
  TLMSSD_FOR_WEAR,
  TLMSSD_FOR_REFRESH,
  TLMSSD_FOR_MIGRATION,
  TLMSSD_FOR_MAP
};

/* Pieces of firmware work; a scenario says in ssd.cpu.cycles what one execution of each costs. */
enum tlmssd_stage {
  TLMSSD_STAGE_COMMAND,   /* take a command from the mailbox and decode it */
  TLMSSD_STAGE_TRANSLATE, /* one mapping look-up or update */
  TLMSSD_STAGE_BUFFER,    /* one write-buffer insertion or look-up */
  TLMSSD_STAGE_FLASH,     /* build and issue one flash operation */
  TLMSSD_STAGE_COMPLETE,  /* finish a command */
  TLMSSD_STAGE_GC         /* per victim selection and per valid unit moved */
};

enum tlmssd_memory { TLMSSD_DRAM, TLMSSD_SCM };

/* What a command waits for, in the report of its latency. */
enum tlmssd_wait {
  TLMSSD_WAIT_MAP,    /* the mapping table */
  TLMSSD_WAIT_MEMORY, /* data in DRAM or SCM */
  TLMSSD_WAIT_BUFFER, /* room in the write buffer */
  TLMSSD_WAIT_SPACE,  /* free blocks */
  TLMSSD_WAIT_HAZARD  /* an earlier command on the same units */
};

/* Codes that a read may ask for: 1 to 5 are bch, hard-ldpc, soft-ldpc, quick-ldpc and ep-ldpc. */
enum tlmssd_code {
  TLMSSD_CODE_NONE,
  TLMSSD_CODE_BCH,
  TLMSSD_CODE_HARD_LDPC,
  TLMSSD_CODE_SOFT_LDPC,
  TLMSSD_CODE_QUICK_LDPC,
  TLMSSD_CODE_EP_LDPC
};

/* The drive that the firmware runs on. */
struct tlmssd_shape {
  size_t size;
  uint64_t logical_blocks;  /* offered to the host; more than 0 */
  uint32_t logical_units;   /* LPNs are 0 .. logical_units - 1 */
  uint32_t lba_bytes;       /* 512 or 4096 */
  uint32_t unit_bytes;      /* mapping page (firmware.mapping.unit): a page holds whole ones */
  uint32_t blocks_per_unit; /* logical blocks of a unit: 1 to 64 */
  uint32_t channels;
  uint32_t dies;           /* in all; die d is on channel d / (dies / channels) */
  uint32_t planes;         /* of a die */
  uint32_t blocks;         /* of a plane */
  uint32_t pages;          /* of a block */
  uint32_t units_per_page; /* at least 1 */
  uint32_t program_pages;  /* consecutive pages that are programmed at once: 1, a word line, ... */
  uint32_t multi_plane;    /* 1: planes of a die can be operated together */
  uint64_t scm_bytes;      /* storage-class memory; 0: none */
  uint64_t seed;           /* of the scenario */
};

struct tlmssd_range {
  uint64_t lba;
  uint64_t blocks;
};

/* A command of the host, from submit() until tlmssd_complete(); in between it stays where it is. */
struct tlmssd_command {
  size_t size;
  enum tlmssd_opcode opcode;
  int force_unit_access; /* write: complete only when on flash */
  uint64_t lba;
  uint32_t blocks;
  uint32_t placement_handle;
  const struct tlmssd_range* ranges; /* trim: may be several; none: lba and blocks */
  size_t range_count;
  void* user; /* the firmware's own; null at first */
};

/* What a flash operation brought. Valid during the call-back. */
struct tlmssd_result {
  size_t size;
  enum tlmssd_flash_status status;
  const uint32_t* lpns; /* reads: of the units, from the spare area; otherwise those of the request */
  uint32_t units;
  uint32_t wrong_bits;   /* reads: of all frames */
  uint64_t failed_units; /* reads: a bit for each unit (modulo 64) that could not be decoded */
};

typedef void (*tlmssd_done)(void* self);
typedef void (*tlmssd_flash_done)(void* self, const struct tlmssd_result* result);

/* A flash operation. The struct and its arrays need to last only until the call returns. */
struct tlmssd_flash {
  size_t size;
  uint32_t die;
  uint32_t plane;
  uint32_t planes; /* neighbouring planes that work together; 0: 1 */
  uint32_t block;  /* same in each plane */
  uint32_t page;
  uint32_t pages;      /* program: consecutive pages; 0: program_pages of the shape */
  uint32_t first_unit; /* read: first unit of the page (counted on over the planes) */
  uint32_t units;      /* read: number of units; 0: 1. A program has all those of its pages */
  /* Program: of each unit, plane by plane, then page by page; below logical_units, but for TLMSSD_FOR_MAP. */
  const uint32_t* lpns;
  const uint32_t* buffers; /* program: what is sent, read: where it goes; null: nowhere */
  enum tlmssd_purpose purpose;
  enum tlmssd_code code; /* read: to decode with */
  uint32_t retry_level;  /* read: step of the part's read-retry levels */
  /* Charged with the time; null: no command waits for it. A read without buffers brings to a read
   * command those of its logical blocks that are of the units found. */
  struct tlmssd_command* command;
};

/* Executions of a stage. */
struct tlmssd_work {
  enum tlmssd_stage stage;
  uint32_t times;
};

struct tlmssd_host;    /* the emulator, as one firmware sees it */
struct tlmssd_archive; /* a snapshot, being written or read */
struct tlmssd_report;  /* the section `firmware` of the report */

/* What the emulator does for firmware; use the functions below. */
struct tlmssd_api {
  size_t size;
  void (*complete)(struct tlmssd_host*, struct tlmssd_command*, enum tlmssd_status);
  void (*read)(struct tlmssd_host*, const struct tlmssd_flash*, tlmssd_flash_done, void* self);
  void (*program)(struct tlmssd_host*, const struct tlmssd_flash*, tlmssd_flash_done, void* self);
  void (*erase)(struct tlmssd_host*, const struct tlmssd_flash*, tlmssd_flash_done, void* self);
  uint32_t (*pending)(const struct tlmssd_host*, uint32_t die);
  void (*take)(struct tlmssd_host*, const struct tlmssd_command*, uint32_t lpn, uint32_t buffer);
  void (*deliver)(struct tlmssd_host*, struct tlmssd_command*, uint32_t lpn, uint32_t buffer);
  void (*copy)(struct tlmssd_host*, uint32_t from, uint32_t to, uint32_t first, uint32_t blocks);
  void (*run)(struct tlmssd_host*, struct tlmssd_command*, const struct tlmssd_work*, size_t count,
              tlmssd_done, void* self);
  void (*access)(struct tlmssd_host*, struct tlmssd_command*, enum tlmssd_wait, enum tlmssd_memory,
                 uint64_t address, uint64_t bytes, int write, tlmssd_done, void* self);
  void (*charge)(struct tlmssd_host*, struct tlmssd_command*, enum tlmssd_wait);
  void (*timer)(struct tlmssd_host*, uint64_t picoseconds, tlmssd_done, void* self);
  uint64_t (*now)(const struct tlmssd_host*);
  uint32_t (*outstanding)(const struct tlmssd_host*);
  void (*drained)(struct tlmssd_host*);
  void (*fail)(struct tlmssd_host*, const char* what);
  void (*refuse)(struct tlmssd_host*, const char* parameter, const char* what);
  double (*number)(const struct tlmssd_host*, const char* parameter);
  const char* (*text)(const struct tlmssd_host*, const char* parameter);
  void (*archive)(struct tlmssd_archive*, void* data, size_t bytes);
  int (*saving)(const struct tlmssd_archive*);
  void (*value)(struct tlmssd_report*, const char* name, double value, const char* unit, const char* doc);
  int (*notes)(const struct tlmssd_host*);
  void (*note)(struct tlmssd_host*, const char* what, const char* why, uint32_t lpn);
};

struct tlmssd_host {
  const struct tlmssd_api* api;
};

/* ---- commands */

/* Hands the command back with its status; it is gone afterwards. Flash operations and memory accesses
 * (with a call-back) that are charged to it must have ended. */
static inline void tlmssd_complete(struct tlmssd_host* host, struct tlmssd_command* command,
                                   enum tlmssd_status status) {
  host->api->complete(host, command, status);
}
/* Of a write: the logical blocks of unit `lpn` go to the buffer, its others stay as they are there.
 * Of write zeroes and trim: zeros. Takes no time: the payload lies in DRAM already. */
static inline void tlmssd_take(struct tlmssd_host* host, const struct tlmssd_command* command, uint32_t lpn,
                               uint32_t buffer) {
  host->api->take(host, command, lpn, buffer);
}
/* To a read: the logical blocks of unit `lpn` that it asks for, from the buffer; TLMSSD_NO_BUFFER:
 * zeros. Takes no time: charge the copy with tlmssd_access(). */
static inline void tlmssd_deliver(struct tlmssd_host* host, struct tlmssd_command* command, uint32_t lpn,
                                  uint32_t buffer) {
  host->api->deliver(host, command, lpn, buffer);
}
/* Logical blocks first .. first + blocks - 1 of a buffer to another; `from` TLMSSD_NO_BUFFER: zeros. */
static inline void tlmssd_copy(struct tlmssd_host* host, uint32_t from, uint32_t to, uint32_t first,
                               uint32_t blocks) {
  host->api->copy(host, from, to, first, blocks);
}
/* Commands that the host has waiting in its queues or under way. */
static inline uint32_t tlmssd_outstanding(const struct tlmssd_host* host) {
  return host->api->outstanding(host);
}

/* ---- flash */

static inline void tlmssd_read(struct tlmssd_host* host, const struct tlmssd_flash* read,
                               tlmssd_flash_done done, void* self) {
  host->api->read(host, read, done, self);
}
static inline void tlmssd_program(struct tlmssd_host* host, const struct tlmssd_flash* program,
                                  tlmssd_flash_done done, void* self) {
  host->api->program(host, program, done, self);
}
static inline void tlmssd_erase(struct tlmssd_host* host, const struct tlmssd_flash* erase,
                                tlmssd_flash_done done, void* self) {
  host->api->erase(host, erase, done, self);
}
/* Operations queued or running on a die. */
static inline uint32_t tlmssd_pending(const struct tlmssd_host* host, uint32_t die) {
  return host->api->pending(host, die);
}

/* ---- time */

/* Runs stages one after the other, for a command (its latency report says core wait and firmware) or
 * for none (null). Two stages that the same cores run stay on one core. A stage takes at most 60 s. */
static inline void tlmssd_run(struct tlmssd_host* host, struct tlmssd_command* command,
                              const struct tlmssd_work* work, size_t count, tlmssd_done done, void* self) {
  host->api->run(host, command, work, count, done, self);
}
/* An access to a memory through the system bus. `done` null: nothing waits for it. */
static inline void tlmssd_access(struct tlmssd_host* host, struct tlmssd_command* command,
                                 enum tlmssd_wait wait, enum tlmssd_memory memory, uint64_t address,
                                 uint64_t bytes, int write, tlmssd_done done, void* self) {
  host->api->access(host, command, wait, memory, address, bytes, write, done, self);
}
/* The command has waited until now for something that firmware knows of. Say so before the next
 * stage, access or flash operation of the command: time that is not charged goes to what that
 * waits for, to core wait before a stage, though all cores may be idle. */
static inline void tlmssd_charge(struct tlmssd_host* host, struct tlmssd_command* command,
                                 enum tlmssd_wait wait) {
  host->api->charge(host, command, wait);
}
static inline void tlmssd_timer(struct tlmssd_host* host, uint64_t picoseconds, tlmssd_done done,
                                void* self) {
  host->api->timer(host, picoseconds, done, self);
}
static inline uint64_t tlmssd_now(const struct tlmssd_host* host) {
  return host->api->now(host);
}

/* ---- the rest */

/* What drain() was asked for is done, and no flash operation is under way. Timers may be: the drive is
 * at rest whatever they do later. */
static inline void tlmssd_drained(struct tlmssd_host* host) {
  host->api->drained(host);
}
/* Ends the run with one line and exit code 2, when the present call returns. */
static inline void tlmssd_fail(struct tlmssd_host* host, const char* what) {
  host->api->fail(host, what);
}
/* In create(), before it returns null: what is wrong with a key of the scenario, which is given whole: a
 * parameter ("firmware.NAME") or one of the drive ("ssd.flash.over_provisioning"). */
static inline void tlmssd_refuse(struct tlmssd_host* host, const char* parameter, const char* what) {
  host->api->refuse(host, parameter, what);
}
/* In create(): the value of a parameter; sizes in bytes, shares as a fraction, times in ps, flags 0, 1. */
static inline double tlmssd_number(const struct tlmssd_host* host, const char* parameter) {
  return host->api->number(host, parameter);
}
static inline const char* tlmssd_text(const struct tlmssd_host* host, const char* parameter) {
  return host->api->text(host, parameter);
}
/* Saves or restores bytes, in the order in which they are named. */
static inline void tlmssd_save(struct tlmssd_host* host, struct tlmssd_archive* archive, void* data,
                               size_t bytes) {
  host->api->archive(archive, data, bytes);
}
static inline int tlmssd_saving(struct tlmssd_host* host, const struct tlmssd_archive* archive) {
  return host->api->saving(archive);
}
/* A figure in the section `firmware` of the report: name, value, unit ("" for a number) and what it is. */
static inline void tlmssd_value(struct tlmssd_host* host, struct tlmssd_report* report, const char* name,
                                double value, const char* unit, const char* doc) {
  host->api->value(report, name, value, unit, doc);
}

/* Whether decisions are to be seen (report.decisions: [own], run --break decision=own). */
static inline int tlmssd_notes(const struct tlmssd_host* host) {
  return host->api->notes(host);
}
/* A decision: what it is ("victim"), why in words, or null, and the unit that it is about, or TLMSSD_NO_UNIT. */
static inline void tlmssd_note(struct tlmssd_host* host, const char* what, const char* why, uint32_t lpn) {
  host->api->note(host, what, why, lpn);
}

/* ---- what a firmware is */

enum tlmssd_kind {
  TLMSSD_INTEGER,
  TLMSSD_REAL,
  TLMSSD_SHARE, /* "10 %" */
  TLMSSD_TIME,  /* "10 us" */
  TLMSSD_BYTES, /* "4 KiB" */
  TLMSSD_FLAG,  /* true, false */
  TLMSSD_TEXT
};

/* A key beside firmware.model. */
struct tlmssd_parameter {
  const char* name; /* small letters, digits and _ */
  enum tlmssd_kind kind;
  double fallback; /* default; TLMSSD_TEXT: none, the text is empty */
  double minimum;
  double maximum;
  const char* doc; /* one sentence */
};

struct tlmssd_firmware {
  size_t size;
  uint32_t api; /* TLMSSD_FIRMWARE_API */
  const char* name;
  const char* version;
  const char* summary; /* one line */
  const struct tlmssd_parameter* parameters;
  size_t parameter_count;

  /* The firmware for a drive; null: refused. It must not read, program or complete anything yet. */
  void* (*create)(struct tlmssd_host* host, const struct tlmssd_shape* shape);
  void (*destroy)(void* self);
  /* Buffers that it uses, of unit_bytes each, from address 0 of the DRAM; and DRAM behind them. */
  uint32_t (*buffers)(void* self);
  uint64_t (*dram_bytes)(void* self);
  /* A command has come. */
  void (*submit)(void* self, struct tlmssd_command* command);
  /* Write everything out, then call tlmssd_drained(). */
  void (*drain)(void* self);

  /* What follows may be null: the firmware does not offer it. */

  /* The host has nothing outstanding any more. */
  void (*quiet)(void* self);
  /* State that lives across an idle moment; the firmware is drained. Null: snapshots are refused. */
  void (*archive)(void* self, struct tlmssd_archive* archive);
  /* The power has failed and is back, between commands: what is not on flash is gone. */
  void (*power_cycle)(void* self);
  void (*report)(void* self, struct tlmssd_report* report);
  void (*reset_statistics)(void* self);
  /* What commands wait for, in lines, when a run cannot go on. Returns the length. */
  size_t (*describe_stall)(void* self, char* text, size_t bytes);
  int (*read_only)(void* self);
  uint32_t codes; /* a bit (1 << code) for each code that reads ask for */
};

/* For a program that links the library: before tlmssd::main(). */
void tlmssd_add_firmware(const struct tlmssd_firmware* firmware);

/* In front of tlmssd_firmware_plugin(). */
#if defined(__GNUC__)
#define TLMSSD_EXPORT __attribute__((visibility("default")))
#else
#define TLMSSD_EXPORT
#endif

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */
#endif
