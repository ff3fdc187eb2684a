// Lays a load's own address space onto a drive: volumes one after another, addresses beyond the
// drive wrapped, scaled or refused, everything rounded to whole logical blocks.
//
// Rounding: a read or write that does not start or end on a logical block is widened (start down,
// end up), as a host's block layer would read-modify-write it. A trim is narrowed to the blocks
// that lie in it, as Linux and fio do, because what is beside it still counts; one that holds no
// block is passed over. How often is counted. Wrapping: modulo the region's size, and a request
// that crosses the end is split in two. Scaling: only when the load's addresses do not fit; 4 KiB
// pages are squeezed proportionally and the offset within the page and the size are kept, so
// requests that were neighbours may overlap afterwards. Refusing: an InputError.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/parameters.h"
#include "testbench/loads/requests/app_files.h"
#include "testbench/loads/requests/request.h"
#include "testbench/loads/requests/stream_map.h"

namespace tlmssd {

struct PlacementConfig {
  std::string addresses = "refuse";
  std::string volume = "all";
  Bytes region_offset = 0;
  Bytes region_size = 0;
  static const ParameterTable<PlacementConfig>& parameters();
};

/// A request in logical blocks of the drive; always inside it, blocks > 0 except for a flush.
struct PlacedRequest {
  HostOpcode opcode = HostOpcode::read;
  bool force_unit_access = false;
  std::uint64_t lba = 0;
  std::uint32_t blocks = 0;
  std::uint16_t placement_handle = 0;
  Picoseconds time = 0;  ///< not before this instant since the load's start (open loop)
};

/// What laying the load onto the drive did to it.
struct PlacementCounts {
  std::uint64_t requests = 0;   ///< taken from the load
  std::uint64_t widened = 0;    ///< to whole logical blocks
  std::uint64_t narrowed = 0;   ///< trims, to the logical blocks that lie in them
  std::uint64_t too_small = 0;  ///< trims passed over: no logical block lies in them
  std::uint64_t wrapped = 0;    ///< moved by wrapping
  std::uint64_t scaled = 0;     ///< moved by scaling
  std::uint64_t split = 0;      ///< pieces beyond the first of requests that crossed the end or were too long
  std::uint64_t other_volume = 0;  ///< skipped: not the chosen volume
};

/// Size of the drive as a host sees it, or of the network's files.
struct DriveSize {
  Bytes bytes = 0;
  std::uint32_t lba_bytes = 512;
  std::uint64_t first_lba = 0;  ///< where its addresses begin
  Bytes file_size = 0;          ///< not 0: files of this size one after another, which can only be read
  std::uint32_t handles = 1;    ///< placement handles
  std::shared_ptr<const AppFiles> apps = nullptr;  ///< the files are those of apps
};

/// What must be known of a load before it can be laid out: bytes up to the last byte addressed, per
/// volume.
struct LoadExtent {
  std::vector<Bytes> volume_bytes;
  std::uint64_t requests = 0;
};

class PlacedSource {
 public:
  /// `only_volume`: index of the one volume to replay, or k_all_volumes.
  static constexpr std::uint32_t k_all_volumes = 0xFFFFFFFFU;
  PlacedSource(std::unique_ptr<RequestSource> source, const PlacementConfig& config, const LoadExtent& extent,
               const DriveSize& drive, std::uint32_t only_volume = k_all_volumes);

  /// Placement handles of the requests; without it all use handle 0.
  void use(StreamMap streams) { streams_ = std::move(streams); }
  /// One past the highest number of a volume whose requests there are.
  [[nodiscard]] std::size_t volumes() const {
    return only_volume_ == k_all_volumes ? base_.size() : only_volume_ + std::size_t{1};
  }
  /// The next request; false at the end. Throws InputError for bad input and for a refused address.
  bool next(PlacedRequest& request);
  /// As RequestSource, with the offset on the drive.
  [[nodiscard]] SequentialRun sequential_writes() const;
  void skip(std::uint64_t requests);
  [[nodiscard]] const PlacementCounts& counts() const { return counts_; }
  /// Requests to come in all, when known; 0: unknown.
  [[nodiscard]] std::uint64_t expected() const { return source_->expected(); }
  [[nodiscard]] std::string where() const { return source_->where(); }
  [[nodiscard]] const RequestSource& source() const { return *source_; }
  /// The load's addresses do not fit and `addresses: refuse` holds: next() is going to throw.
  [[nodiscard]] bool refuses() const { return mode_ == Mode::refuse; }
  /// How the load was laid out, in a sentence.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  enum class Mode : std::uint8_t { fits, wrap, scale, refuse };
  void place(const Request& request);
  void round(HostOpcode opcode, Bytes start, Bytes end);
  void emit(PlacedRequest& request);

  std::unique_ptr<RequestSource> source_;
  std::vector<Bytes> base_;  ///< where each volume starts in the joined address space
  PlacementCounts counts_;
  std::string description_;
  std::uint64_t region_first_ = 0;   ///< LBA
  std::uint64_t region_blocks_ = 0;  ///< LBAs
  Bytes span_ = 0;
  std::uint32_t lba_bytes_ = 512;
  std::uint32_t only_volume_;
  Mode mode_ = Mode::refuse;
  StreamMap streams_;
  PlacedRequest pending_;          ///< what all pieces of the request being emitted have in common
  std::uint64_t pending_lba_ = 0;  ///< within the region
  std::uint64_t pending_blocks_ = 0;
};

}  // namespace tlmssd
