// Which files from the network are written to the drive: the interface of admission policies,
// chosen by name (file_cache.admission).
//
// A policy is told of every access to a file and of every file that has come over the network, in
// the order in which that happens. It may keep files back in the host's memory. It chooses and
// nothing else: copies on the drive are the FileCache's business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/pslc_room.h"
#include "models/base/statistics.h"
#include "models/base/types.h"
#include "testbench/loads/requests/app_files.h"

namespace tlmssd {

/// The drive's pSLC as its firmware has it now; nothing on a drive without one.
using PslcQuery = std::function<std::optional<PslcRoom>()>;

/// What a policy may know when it is made.
struct AdmissionContext {
  std::uint32_t files;
  Bytes file_size;
  PslcQuery pslc;
  std::shared_ptr<const AppFiles> apps = nullptr;  ///< what is seen of files; null: nothing
  std::uint64_t seed = 0;                          ///< of the policy's own chance
  [[nodiscard]] Bytes size(FileNumber file) const { return apps ? apps->bytes(file) : file_size; }
};

class AdmissionPolicy {
 public:
  /// What becomes of a file.
  struct Verdict {
    FileNumber file = 0;
    bool write = false;  ///< to the drive; otherwise it is forgotten
  };
  virtual ~AdmissionPolicy() = default;
  /// An access to `file` begins. True: the policy has it in the host's memory.
  virtual bool accessed(FileNumber file) = 0;
  /// `file` has come over the network. Verdicts may be about others that had to make room in
  /// memory; without one about `file` itself it is held back.
  virtual std::vector<Verdict> fetched(FileNumber file) = 0;
  /// Its app has deleted `file`: it is not needed any more, here or on the drive.
  virtual void deleted(FileNumber /*file*/) {}
  /// Most that copies on the drive may take up now, of `space`.
  [[nodiscard]] virtual Bytes limit(Bytes space) const { return space; }
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void reset_statistics() {}
  virtual void archive(Archive& /*archive*/) {}
};

using AdmissionFamily = PolicyFamily<AdmissionPolicy, const AdmissionContext&>;
/// All admission policies by name.
AdmissionFamily& admission_family();

}  // namespace tlmssd
