// Which files have a copy on the drive and where: slots of one file each, in the order of their
// last use. Plain C++; the FileCache sends the commands.
//
// A slot goes from free to written (insert, committed) and, when its file is dropped (remove), to
// free again (freed). Meanwhile it belongs to its dropper, which trims it first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/base/archive.h"
#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

class FileStore {
 public:
  using Slot = std::uint32_t;

  FileStore(std::uint32_t files, std::uint32_t slots);

  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(copies_.size()); }
  /// Files that have a copy, those that are being written included.
  [[nodiscard]] std::uint32_t used() const { return used_; }
  /// Nothing: the file has no copy.
  [[nodiscard]] std::optional<Slot> find(FileNumber file) const {
    return slot_of_[file] == k_none ? std::nullopt : std::optional(slot_of_[file]);
  }
  [[nodiscard]] std::optional<FileNumber> file(Slot slot) const { return copies_[slot].file; }
  /// By which fetch the copy's data came.
  [[nodiscard]] std::uint32_t fetch(Slot slot) const { return copies_[slot].fetch; }
  [[nodiscard]] bool writing(Slot slot) const { return copies_[slot].writing; }

  /// A free slot, the one freed longest ago; nothing: there is none.
  std::optional<Slot> take_free();
  void freed(Slot slot) { free_.push_back(slot); }
  /// `file` is going to be written to `slot`; it is the one used last.
  void insert(Slot slot, FileNumber file, std::uint32_t fetch);
  void committed(Slot slot) { copies_[slot].writing = false; }
  void touch(Slot slot);
  /// The file used longest ago of those that are neither being read nor written; nothing: there
  /// is none.
  [[nodiscard]] std::optional<Slot> victim() const;
  /// The file has no copy any more.
  void remove(Slot slot);

  [[nodiscard]] bool is_read(Slot slot) const { return copies_[slot].readers > 0; }
  void begin_read(Slot slot) { ++copies_[slot].readers; }
  /// How many reads are still under way.
  std::uint32_t end_read(Slot slot) { return --copies_[slot].readers; }

  /// Nothing may be under way. Throws ArchiveError.
  void archive(Archive& archive);

 private:
  static constexpr Slot k_none = ~Slot{0};  // in lists
  struct Copy {
    std::optional<FileNumber> file;
    std::uint32_t fetch = 0;
    std::uint32_t readers = 0;
    bool writing = false;
    Slot older = k_none;
    Slot newer = k_none;
  };
  void link(Slot slot);
  void unlink(Slot slot);

  std::vector<Slot> slot_of_;  ///< by file
  std::vector<Copy> copies_;
  std::deque<Slot> free_;
  Slot oldest_ = k_none;
  Slot newest_ = k_none;
  std::uint32_t used_ = 0;
};

}  // namespace tlmssd
