// Fuzz target of the trace readers. The first byte chooses the format (the list of trace_formats(),
// then `auto`) and how requests of size zero are taken; the rest is the file, compressed or not.
// Whatever it holds, reading ends in a request, the end of the file or an InputError with a message
// of one line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/base/input_error.h"
#include "testbench/loads/traces/trace_reader.h"

namespace {

using namespace tlmssd;

constexpr int k_most_requests = 10'000;

void read_all(const TraceFile& file, std::string_view bytes) {
  try {
    TraceReader reader(file, "input", bytes);
    Request request;
    Picoseconds last = 0;
    for (int i = 0; i < k_most_requests && reader.next(request); ++i) {
      if (request.time < last) std::abort();  // times never go back
      last = request.time;
    }
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    if (message.empty() || message.find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& formats = trace_formats();
  TraceFile file;
  const std::size_t choice = data[0] % (formats.size() + 1);
  if (choice < formats.size()) file.config.format = formats[choice].name;
  if (file.config.format == "csv") file.columns.emplace();
  file.config.zero_size = (data[0] & 0x80U) != 0 ? "skip" : "refuse";
  read_all(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
