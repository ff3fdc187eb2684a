// Snapshot files: the state of a drive, compressed, with the identity of the drive it belongs to.
//
// Layout: "TLMSSDSN", the format and the machine's byte order and type sizes, the file's length,
// then one zstd stream of frames. Each frame is size, checksum and up to 1 MiB of content, and is
// verified before any of it is handed out, so that damage shows as one clear line and never reaches
// a model. The first content is the version and the identity: (key, value) lines that must all be
// the same in the drive that is to be restored. Written beside the target under a name of its own,
// and put in place when it is whole and on the disk.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/archive.h"
#include "models/base/identity.h"
#include "models/base/input_error.h"
#include "testbench/process/staging.h"

namespace tlmssd {

/// The snapshot belongs to another drive; the message names every difference.
struct SnapshotMismatch : InputError {
  using InputError::InputError;
};

/// Throws InputError when a snapshot cannot be saved at `path`: its folder cannot be written, or
/// what is there may not be replaced (`own`: by nothing but a snapshot).
void check_snapshot_target(const std::string& path, Replace replace);

class FileArchive : public Archive {
 public:
  /// Begins to write a snapshot. Nothing changes at `path` until finish().
  static std::unique_ptr<FileArchive> save(const std::string& path, const Identity& identity,
                                           Replace replace = Replace::own);
  /// Opens a snapshot and compares its identity with those that fit; `which` becomes the number of
  /// the one that it has. Throws InputError when it is none, is damaged, or has none of them (the
  /// message compares with the first).
  static std::unique_ptr<FileArchive> load(const std::string& path, const std::vector<Identity>& fitting,
                                           std::size_t& which);
  /// Saving: writes the rest and puts the file in place. Loading: checks that everything has been
  /// read.
  virtual void finish() = 0;
};

/// What `archive` of save_snapshot() has put first: the scenario that the drive was made from.
/// Throws InputError.
std::string snapshot_scenario(const std::string& path);
/// Whether there is a file that begins as snapshots do.
bool is_snapshot(const std::string& path);

/// Saves what `archive` archives; the file appears when all went well.
void save_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive, Replace replace = Replace::own);
/// Restores what `archive` archives. Every fault of the file becomes an InputError of one line.
void load_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive);
/// The same of a snapshot with one of these identities. Returns the number of the one that it has.
std::size_t load_snapshot(const std::string& path, const std::vector<Identity>& fitting,
                          const std::function<void(Archive&)>& archive);

}  // namespace tlmssd
