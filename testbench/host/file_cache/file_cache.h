// Software of the host between the host's commands and a drive: files of the network, of which
// copies are kept on the drive. What is copied is an admission policy's choice
// (admission_policy.h). After Luo et al., Journal of Integration Technology 11(3), 2022, sections
// 3.5 and 4.4, who tell of DFCache and CacheSifter.
//
// What it does. Loads see a drive that is smaller by the cache's region, and, behind its last block, `files` files of `file_size` one after
// another, which can only be read. A command for the drive goes there as it is. A read of a file, or of a part of one, is an access, and
//   hit          reads the copy on the drive, in commands as long as the drive takes;
//   memory hit   finds the file in the host's memory, where the policy holds it;
//   miss         fetches the whole file over the network, and ends when its own part is here; accesses to the same file meanwhile
//                wait for their parts of the same fetch.
// When a file has come the policy says what becomes of it, or of another. To be written, it takes a free slot of the region or that of the file
// used longest ago, which is trimmed; more are trimmed when the policy's limit has fallen. Its copy counts from then on; until the drive has
// it, accesses are hits that the host's memory answers. No access waits for a write. A file for which there is no room is not written.
//
// Network. One transfer after another, in the order of the misses: a file's begins when the one
// before has left, `latency` later its first byte is here. A miss takes wait + latency + size /
// bandwidth.
//
// Apps. With `file_cache.apps` files differ (AppFiles): each has its app, its kind and a size of up
// to `file_size`, of which as much is fetched, written and read; a copy takes a slot all the same.
// A trim of a file is its app's deletion: what is kept of it goes, in memory and on the drive, and
// a fetch under way brings nothing.
//
// Data. What is written to the drive are stamps of file, block and number of the fetch, which are
// compared on each hit; a wrong one is a DataMismatch. The host itself gets zeros. A copy that the
// drive cannot read is dropped, and the file fetched anew.
//
// Waiting. Accesses wait for the drive and for points in time alone, writes for trims of their own,
// so none waits for another: there is no deadlock. Trims, writes and what a write replaces follow
// each other by waiting for the drive's answer.
//
// Time. `cost` for each access, side by side, is the cause `log_structured`; waits for the network
// are the cause `network`; for the drive, a hit carries on the ledger, and of several commands the
// one that ends last counts.
//
// Left out: the map of the cache on the drive (nothing survives a crash of the host), files that
// change, several servers.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/base/archive.h"
#include "models/base/event_queue.h"
#include "models/base/task.h"
#include "testbench/host/drive_batch.h"
#include "testbench/host/file_cache/admission_policy.h"
#include "testbench/host/file_cache/file_cache_config.h"
#include "testbench/host/file_cache/file_store.h"
#include "testbench/host/host_port.h"
#include "testbench/host/host_software.h"

namespace tlmssd {

class FileCache : public sc_core::sc_module, public HostSoftware, private HostPort::Owner {
 public:
  /// Throws InputError, which begins with a key ("file_cache.space"), when the sizes do not fit the
  /// drive.
  FileCache(const sc_core::sc_module_name& name, const FileCacheConfig& config, const AttachedDrive& drive,
            EventQueue& event_queue, PslcQuery pslc);
  ~FileCache() override;

 private:
  HostPort host_;
  DrivePort port_;

 public:
  [[nodiscard]] tlm::tlm_target_socket<>& host_socket() override { return host_.socket; }
  [[nodiscard]] tlm::tlm_initiator_socket<>& drive_socket() override { return port_.socket; }
  [[nodiscard]] std::uint64_t blocks() const override { return shape_.drive_blocks; }
  [[nodiscard]] std::uint64_t file_blocks() const override { return shape_.all_blocks; }
  /// The network's files as loads see them.
  [[nodiscard]] DriveSize files() const { return files_space(config_, shape_, drive_.lba_bytes, apps_); }
  [[nodiscard]] Bytes unit_bytes() const override { return drive_.mapping_page; }
  [[nodiscard]] std::string cost_key() const override { return "file_cache.cost"; }
  [[nodiscard]] Picoseconds cost() const override { return config_.cost; }
  [[nodiscard]] bool at_rest() const override { return host_.under_way().size() == 0 && background_ == 0; }
  [[nodiscard]] const FileStore& store() const { return store_; }
  /// Most that copies may take up now, bytes.
  [[nodiscard]] Bytes limit() const;

  struct Statistics {
    std::uint64_t accesses = 0;  ///< hits + memory hits + misses + joined
    std::uint64_t hits = 0;
    std::uint64_t hits_unwritten =
        0;  ///< of these, answered from memory because the write was still under way
    std::uint64_t memory_hits = 0;
    std::uint64_t misses = 0;   ///< that started a fetch
    std::uint64_t joined = 0;   ///< that waited for a fetch under way
    std::uint64_t written = 0;  ///< files
    Bytes bytes_written = 0;
    Bytes bytes_fetched = 0;
    std::uint64_t deleted = 0;  ///< files, by their apps
    std::uint64_t evicted = 0;
    std::uint64_t rejected = 0;      ///< by the policy
    std::uint64_t without_room = 0;  ///< to be written, but all slots were busy or the limit too low
    std::uint64_t failed_writes = 0;
    std::uint64_t refetched = 0;  ///< misses because the copy could not be read
    Picoseconds network = 0;      ///< time in which accesses waited for the network
  };
  [[nodiscard]] const Statistics& statistics() const { return stats_; }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override {
    stats_ = {};
    policy_->reset_statistics();
  }
  void archive(Archive& archive) override;
  [[nodiscard]] Identity identity() const override;
  void describe_stall(std::string& text) const override;

 private:
  using Entry = HostPort::Entry;
  using Slot = FileStore::Slot;

  // The host's commands.
  std::unique_ptr<Entry> make_entry() override { return std::make_unique<Entry>(); }
  void start(Entry& entry) override;
  void set_timed(bool timed) override;
  [[nodiscard]] HostStatus validate(const HostCommand& command) const;
  [[nodiscard]] bool on_drive(LbaRange range) const;
  [[nodiscard]] bool is_file(LbaRange range) const;
  Task<> pass(Entry& entry);
  void remove(Entry& entry);
  Task<> access(Entry& entry);
  Task<bool> read_copy(Entry& entry, Slot slot, std::uint32_t first);
  Task<> from_network(Entry& entry, FileNumber file, std::uint32_t first);
  void check(const HostCommand& command, FileNumber file, std::uint32_t fetch, std::uint32_t first) const;

  // What goes on beside them.
  Task<> fetch(FileNumber file, Picoseconds begin);
  void admit(FileNumber file);
  Task<> write(Slot slot, std::vector<Slot> evicted);
  Task<> release(std::vector<Slot> slots);
  Task<> trim(const std::vector<Slot>& slots);

  [[nodiscard]] FileNumber file_at(std::uint64_t lba) const {
    return static_cast<FileNumber>((lba - blocks()) / shape_.file_blocks);
  }
  [[nodiscard]] std::uint32_t blocks_of(FileNumber file) const {
    return apps_ ? apps_->blocks(file) : shape_.file_blocks;
  }
  [[nodiscard]] Bytes bytes_of(FileNumber file) const { return Bytes{blocks_of(file)} * drive_.lba_bytes; }
  [[nodiscard]] std::uint64_t lba_of(Slot slot) const {
    return shape_.drive_blocks + std::uint64_t{slot} * shape_.file_blocks;
  }
  [[nodiscard]] Stamp stamp(FileNumber file, std::uint32_t fetch, std::uint32_t block) const;
  /// When the first `blocks` of a file whose transfer began at `begin` are here.
  [[nodiscard]] Picoseconds arrival_of(Picoseconds begin, std::uint32_t blocks) const;

  FileCacheConfig config_;
  AttachedDrive drive_;
  EventQueue& event_queue_;
  FileCacheShape shape_;
  std::uint32_t most_;  ///< blocks of one command to the drive
  std::shared_ptr<const AppFiles> apps_;
  std::unique_ptr<AdmissionPolicy> policy_;
  FileStore store_;
  std::vector<std::uint32_t> fetched_;  ///< number of each file's last fetch
  struct Fetch {
    Picoseconds begin = 0;  ///< of the transfer
    bool wanted = true;     ///< the file has not been deleted meanwhile
  };
  std::unordered_map<FileNumber, Fetch> under_way_;
  std::unordered_set<Slot> deleted_;  ///< whose files were deleted while they were being written
  std::uint32_t fetches_ = 0;
  Picoseconds network_free_ = 0;  ///< when all transfers asked for so far have left
  std::uint32_t background_ = 0;  ///< fetches, writes and trims
  bool timed_ = true;
  bool read_only_ = false;  ///< the drive has refused a write
  Statistics stats_;
  TaskSet tasks_;
};

}  // namespace tlmssd
