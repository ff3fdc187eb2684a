// Error prediction: what decoders make of knowing where errors are to be expected.
//
// A decoder that is told beside a bit how likely it is to be wrong corrects more wrong bits of a
// frame than one that takes all alike. How many is a prediction's answer, by what the decoder is
// told and by the page. It must be a pure function of its arguments. Without one (scenario:
// ssd.flash.ecc.prediction none) a code corrects the number that its section says.
#pragma once

#include <cstdint>
#include <memory>

#include "models/base/parameters.h"

namespace tlmssd {

/// What a code's decoder knows beside the bits of the page.
enum class SideInformation : std::uint8_t {
  none,
  page,       ///< how often bits read as 0 and as 1 are wrong, from wear and age of the data
  word_line,  ///< the states of the cell and of its neighbours in the word line, and what these say
};

/// The page a frame is read from.
struct PageRead {
  std::uint32_t cell_bits = 1;  ///< that its cells hold: of the part, or one in SLC mode
  std::uint32_t type = 0;       ///< 0: the page that one reference voltage tells apart
  double rate = 0;              ///< bit errors of the page, expected
  bool slc = false;             ///< its block is in SLC mode
};

/// The decoder that all kinds of LDPC share, when it is told nothing.
struct PlainDecoder {
  std::uint32_t correctable;  ///< wrong bits of a frame at which it fails half of the time
  std::uint32_t frame_bits;
  std::uint32_t cell_bits;  ///< of the part
};

class ErrorPrediction {
 public:
  virtual ~ErrorPrediction() = default;
  /// Wrong bits of a frame of that page at which the decoder fails half of the time; never fewer
  /// than the plain decoder's.
  [[nodiscard]] virtual double correctable(SideInformation side, const PageRead& page) const = 0;
};

using ErrorPredictionFamily = PolicyFamily<ErrorPrediction, const PlainDecoder&>;
/// All predictions by name (scenario: ssd.flash.ecc.prediction); error_predictions.cpp is the one
/// file that lists them.
ErrorPredictionFamily& error_predictions();

}  // namespace tlmssd
