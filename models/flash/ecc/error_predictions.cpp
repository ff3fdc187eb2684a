// Error predictions: the one file where they register.
#include "models/flash/ecc/cell_interference.h"
#include "models/flash/ecc/error_prediction.h"
#include "models/flash/ecc/no_prediction.h"

namespace tlmssd {

ErrorPredictionFamily& error_predictions() {
  static auto family = ErrorPredictionFamily{}.with<NoPrediction>().with<CellInterference>();
  return family;
}

}  // namespace tlmssd
