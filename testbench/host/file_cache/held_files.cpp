#include "testbench/host/file_cache/held_files.h"

#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd {

HeldFiles::HeldFiles(Bytes bytes, const AdmissionContext& context) : context_(context), room_(bytes) {
  if (bytes < context.file_size) {
    throw refusal("file_cache.memory", fmt::format("{} B hold no file of {} B", bytes, context.file_size),
                  fmt::format("{} B", context.file_size));
  }
}

}  // namespace tlmssd
