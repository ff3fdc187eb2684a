// The conformance kit for error predictions.
#pragma once

#include <functional>
#include <memory>

#include "models/flash/ecc/error_prediction.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

/// Of a prediction for parts of so many bits a cell: what it says depends on its arguments alone,
/// is never below what the plain decoder corrects nor above half of the frame, and knowing the word
/// line is worth no less than knowing the page.
Conformance conform_error_prediction(
    const std::function<std::unique_ptr<ErrorPrediction>(const PlainDecoder&)>& make,
    std::uint32_t cell_bits);

}  // namespace tlmssd
