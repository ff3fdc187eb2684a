// Output of biosnoop (BCC and libbpf-tools): seconds, command, process, disk, operation, sector,
// bytes, [time queued,] latency.
//
//   TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)
//   0.000004    supervise      1950   xvda1     W 13092560   4096      0.74
//
// A line is printed when a request completes; the request's time is that less its latency (and with
// -Q the time it was queued), so that lines are not in order of their times. Commands may hold
// blanks, so that fields count from the end. The operation is R, W, D or F, or rwbs letters.
// Source: biosnoop of BCC and of libbpf-tools.
#include <array>

#include "testbench/loads/traces/rwbs.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr FieldSpec k_biosnoop_time{"TIME", "seconds"};
constexpr FieldSpec k_biosnoop_pid{"PID", "a number"};
constexpr FieldSpec k_biosnoop_operation{"T", "R, W, D, F or rwbs letters"};
constexpr FieldSpec k_biosnoop_sector{"SECTOR", "512 B sectors"};
constexpr FieldSpec k_biosnoop_bytes{"BYTES", "bytes"};
constexpr FieldSpec k_biosnoop_latency{"LAT", "milliseconds"};
constexpr Picoseconds k_biosnoop_second = 1'000'000'000'000;
constexpr Picoseconds k_biosnoop_millisecond = 1'000'000'000;
/// Requests may have begun before the first one completed: times count from a day before.
constexpr WideTime k_biosnoop_before = WideTime{86'400} * k_biosnoop_second;
constexpr std::size_t k_biosnoop_most_fields = 24;

class BiosnoopFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    std::array<std::string_view, k_biosnoop_most_fields> words;
    std::size_t count = 0;
    Fields fields(line, ' ');
    while (count < words.size() && fields.next(words[count])) ++count;
    if (count > 0 && words[0] == "TIME(s)") {
      queued_ = line.find("QUE(ms)") != std::string_view::npos;
      return false;
    }
    const std::size_t behind = queued_ ? 7 : 6;  // PID, DISK, T, SECTOR, BYTES, [QUE,] LAT
    if (count < behind + 2) bad_field(at, k_biosnoop_latency, line, "is missing");
    const std::string_view* const last = words.data() + count - behind;
    whole_number(at, k_biosnoop_pid, last[0]);
    record.device = last[1];
    if (!is_rwbs(last[2])) bad_field(at, k_biosnoop_operation, last[2], "is no operation");
    const WideTime completed =
        k_biosnoop_before + time_stamp(at, k_biosnoop_time, words[0], k_biosnoop_second);
    WideTime took = 0;
    for (std::size_t i = 5; i < behind; ++i)
      took += time_stamp(at, k_biosnoop_latency, last[i], k_biosnoop_millisecond);
    if (took > k_biosnoop_before) bad_field(at, k_biosnoop_latency, last[behind - 1], "is more than a day");
    record.time = completed - took;
    record.offset = scaled_number(at, k_biosnoop_sector, last[3], 512);
    record.bytes = whole_number(at, k_biosnoop_bytes, last[4]);
    if (!read_rwbs(last[2], record)) return false;
    if (record.bytes == 0 && last[2].front() == 'F') record.opcode = HostOpcode::flush;
    return true;
  }
  [[nodiscard]] std::string note() const override { return "times less latencies"; }
  [[nodiscard]] bool needs_sorting() const override { return true; }

 private:
  bool queued_ = false;
};

}  // namespace

std::unique_ptr<TraceFormat> make_biosnoop_format() {
  return std::make_unique<BiosnoopFormat>();
}

}  // namespace tlmssd
