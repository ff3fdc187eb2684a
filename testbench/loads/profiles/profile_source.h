// Made-up requests with the published statistics of a volume (profiles.h).
//
// A request either goes on with a sequential run, or draws an operation and then an extent: by
// popularity (Zipf over the operation's extents), or, as often as is needed to have visited all of
// them when the volume's requests are done, the next one that has not yet been read or written as a
// whole. Runs and such visits take whole extents; others a small piece, the extent, or the extent
// and its neighbour, in shares that give the published mean size. Shares and means are kept by
// feedback: what is owed so far moves the next draw a little, so that short streams come out right,
// too. Leaves out time stamps: for closed loop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "testbench/loads/profiles/profile_layout.h"
#include "testbench/loads/requests/distribution.h"
#include "testbench/loads/requests/request.h"

namespace tlmssd {

class ProfileSource final : public RequestSource {
 public:
  /// `most`: end after so many requests, even beyond those of the plan; 0: as many as the plan
  /// says.
  ProfileSource(const ProfilePlan& plan, std::uint64_t seed, std::uint64_t most = 0);
  bool next(Request& request) override;
  [[nodiscard]] std::uint64_t expected() const override { return most_; }
  /// One past the last byte that requests address.
  [[nodiscard]] Bytes end() const { return layout_.end(); }

 private:
  /// Of reads or of writes.
  struct Operation {
    ZipfRanks popularity;
    double share = 0;
    double mean_pages = 0;
    double owed_pages = 0;        ///< that the mean demands, less those requested
    std::uint32_t unvisited = 0;  ///< extents that this operation is to visit and none has, as a whole
    std::uint32_t visit = 0;  ///< where in ProfileLayout::visits() the search for the next such one goes on
  };
  [[nodiscard]] Operation operation(unsigned which) const;
  bool continue_run();
  bool begin_anew();
  unsigned draw_operation();
  bool draw_visit();
  bool draw_run();
  std::uint32_t draw_pages();
  void note(std::uint32_t pages);

  ProfilePlan plan_;
  ProfileLayout layout_;
  std::uint64_t most_;
  RandomStream operation_random_;
  RandomStream place_random_;
  RandomStream run_random_;
  RandomStream size_random_;
  std::array<Operation, 2> operations_;
  std::vector<bool> visited_;
  std::uint64_t issued_ = 0;
  double owed_writes_ = 0;
  double owed_sequential_ = 0;
  unsigned operation_ = 0;      ///< of the present request
  std::uint32_t extent_ = 0;    ///< where it begins
  Bytes last_end_ = 0;          ///< of the request before
  std::uint32_t run_left_ = 0;  ///< extents that the present run goes on for
};

}  // namespace tlmssd
