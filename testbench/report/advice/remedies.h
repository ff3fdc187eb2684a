// What a wait of the ledger comes from, and which parameter is its remedy.
#pragma once

#include <string>
#include <vector>

#include "testbench/report/advice/busy_parts.h"

namespace tlmssd {

// Causes that more than one wait can have.
constexpr const char* k_programs = "programs of host data";
constexpr const char* k_rewrites = "rewrites of block-mapped regions";
constexpr const char* k_reads = "reads of the flash";
/// Senses of a first attempt beside the first, with their transfers.
constexpr const char* k_further_senses = "further senses for the code";
/// Moves of data out of blocks in SLC mode, and the erases for that.
constexpr const char* k_folding = "folding";

/// Causes of the ledger that have one remedy.
struct Remedy {
  std::string cause;
  std::string look_at;
  double share = 0;
  std::string look_at_firmware = "";
  double without = 0;          ///< of the time, what is free without it at most
  double along = 0;            ///< beside `share`: waits for its own data, which end with it
  bool more_dies = false;      ///< look_at is more dies, over which all that they do is spread
  bool takes_its_own = false;  ///< channels, bus, DRAM and decoders have less to do without it, too
};

/// Whose wait is explained; without a load, that of all together.
struct Asker {
  std::string load = "";
  bool reads = false;  ///< of the host; else what it writes, or the rate of all
  double each = 0;     ///< nanoseconds that a command spends under the cause; 0: as all do on average
};

/// Both, joined by `by`, or the one that there is.
std::string joined(const std::string& a, const std::string& by, const std::string& b);

/// What keeps reads from waiting for programs, and for erases with `erases`; empty: nothing that is
/// not done, or no reads wait.
std::string suspend_key(const MeasuredDrive& drive, const Asker& asker, bool programs, bool erases);

/// Collection, or what takes its place where the drive has log blocks.
Remedy of_collection(const MeasuredDrive& drive, const Asker& asker);

/// Whether the host reads from some dies only, which do nothing else.
bool has_hot_dies(const MeasuredDrive& drive);

/// Utilisation of the busiest resource but the dies and what `remedy` names or takes along, which
/// limits the rate when these do not.
double busiest_beside(const Remedy& remedy, const MeasuredDrive& drive);

/// What takes most of the dies' time, or what moves their data, where they would have less to do
/// without that; `share`: of the run.
Remedy of_dies(const MeasuredDrive& drive, const Asker& asker);

/// Flushes and trims of the load `whose`, which SATA runs alone; empty: of all that have some, or
/// of the one that asks. `asker`: the load that waits for them; empty: the rate of all.
Remedy of_alone(const MeasuredDrive& drive, const std::string& whose, const std::string& asker);

/// What holds back a load whose requests come at their times: that it may have so many under way,
/// or that it pauses.
Remedy own_limit(const MeasuredDrive& drive, const Asker& asker);

/// Of a cause as ledgers name it: all that it comes from, `share` of it each. A wait for dies is
/// shared out by the time that each work takes of them, and between these and what moves their
/// data.
std::vector<Remedy> remedies_for(const std::string& cause, const MeasuredDrive& drive, const Asker& asker);

/// Of a wait that has these remedies, the share that ends with `remedy`.
double share_that_ends(const Remedy& remedy, const std::vector<Remedy>& all);

}  // namespace tlmssd
