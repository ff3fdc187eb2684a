// The decoders of the flash controller: whether a page can be decoded, when that is done, and what
// it took.
//
// An engine serves in order and is a reservation, not a process: a page takes the engine of its
// decoder that is free first, occupies it for its frames at the code's throughput, and is done the
// pipeline's latency later. A frame fails when it has more wrong bits than the code corrects; where
// the code has a waterfall, the limit of each try is drawn from a normal distribution around that.
// What a code corrects is its own number, or what an error prediction says of the page.
// Leaves out: the encoders (taken to keep up with the bus), wrong corrections (a check sum is taken
// to find them), iterations that grow with the number of errors, and what would have to be written
// anew when the code changes: data are taken to carry parity for every code that is asked for.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "models/base/archive.h"
#include "models/base/booked.h"
#include "models/base/busy_sink.h"
#include "models/base/random.h"
#include "models/base/read_verdict.h"
#include "models/base/statistics.h"
#include "models/flash/ecc/ecc_config.h"

namespace tlmssd {

class EccEngines {
 public:
  EccEngines(const EccConfig& config, std::uint64_t seed);

  /// Where slots with a frame that could not be decoded are told.
  struct FailedSlots {
    SlotSet& slots;
    std::uint32_t first;     ///< slot of the first frame
    std::uint32_t per_slot;  ///< frames
  };
  /// Tries to decode `frames` frames of `page` with so many wrong bits each; none given: without
  /// any. `by_default`: the first attempt at the page, with the default read voltages, which the
  /// raw bit error rate is of.
  PlaneVerdict decode(EccCode code, const PageRead& page, std::uint32_t frames,
                      std::span<const std::uint32_t> errors, bool by_default = true,
                      const FailedSlots* failed = nullptr);

  /// A read has sensed so many pages only because its code asks for them. `again`: after a failure.
  void note_further_senses(std::uint64_t pages, bool again) {
    further_senses_ += pages;
    if (!again) further_at_first_ += pages;
  }

  struct Slot {
    Picoseconds start;
    Picoseconds end;
  };
  /// Reserves an engine for a page of `frames` frames that is there at `ready`.
  Slot reserve(EccCode code, std::uint32_t frames, Picoseconds ready);

  /// Which codes will be asked for: decides which decoders there are, for the gate count.
  void provide(EccCodes codes) { provided_ = codes; }
  /// Logic gates of all decoders provided.
  [[nodiscard]] std::uint64_t gates() const;

  struct Counts {
    std::uint64_t pages = 0;
    std::uint64_t frames = 0;
    std::uint64_t failed_pages = 0;
    std::uint64_t failed_frames = 0;
    std::uint64_t corrected_bits = 0;
    double correctable = 0;        ///< sum over the pages
    double least_correctable = 0;  ///< of a page; 0: none yet
    Picoseconds decode_time = 0;
    Picoseconds wait_time = 0;
    Picoseconds busy = 0;
  };
  [[nodiscard]] const Counts& counts(EccCode code) const { return counts_[static_cast<std::size_t>(code)]; }
  /// The random stream; no decoding may be under way.
  void archive(Archive& archive) { archive(random_); }
  void report(StatisticsSink& sink, Picoseconds now) const;
  void tell_busy(BusySink& sink, Picoseconds now) const;
  void reset_statistics(Picoseconds now);

 private:
  /// BCH, LDPC, and one for each code of a plug-in.
  using Decoder = std::size_t;
  static constexpr Decoder k_bch = 0;
  static constexpr Decoder k_ldpc = 1;
  [[nodiscard]] static Decoder decoder_of(EccCode code) {
    if (code <= EccCode::ep_ldpc) return code == EccCode::bch ? k_bch : k_ldpc;
    return k_ldpc + static_cast<std::size_t>(code) - static_cast<std::size_t>(EccCode::ep_ldpc);
  }
  [[nodiscard]] bool provides(Decoder decoder) const;
  /// Of what is reserved of all engines of a decoder, what lies beyond `now`.
  [[nodiscard]] Picoseconds ahead(Decoder decoder, Picoseconds now) const;
  /// How long the engines of a decoder have been decoding in the time measured, all together.
  [[nodiscard]] Picoseconds busy(Decoder decoder, Picoseconds now) const;
  void report_use(StatisticsSink& sink, Decoder decoder, const std::string& name, Picoseconds now) const;

  EccConfig config_;
  std::array<Picoseconds, k_most_ecc_codes> frame_time_{};
  std::vector<std::vector<Picoseconds>> free_at_;  // by decoder and engine
  EccCodes provided_;
  RandomStream random_;
  std::array<Counts, k_most_ecc_codes> counts_{};
  std::vector<Picoseconds> carried_;  // by decoder: what was left of earlier work when counting began
  Picoseconds since_ = 0;
  /// What came to the decoders.
  struct RawErrors {
    std::uint64_t frames = 0;
    std::uint64_t errors = 0;  ///< wrong bits
  };
  std::array<RawErrors, 2> raw_;  ///< by default: of native blocks, and of those in SLC mode
  RawErrors all_;                 ///< in whatever attempt
  std::uint64_t further_senses_ = 0;
  std::uint64_t further_at_first_ = 0;  ///< of these, of first attempts
};

}  // namespace tlmssd
