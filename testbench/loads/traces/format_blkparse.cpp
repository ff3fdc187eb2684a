// Text output of blkparse in its default line format: device, cpu, sequence, seconds, pid, action,
// rwbs, sector + sectors.
//
// One action is chosen (Q: queued, D: issued to the device, C: completed), else every request would
// be counted several times; lines of other actions are passed over, and so is the summary at the
// end. rwbs.h has the letters of operations; N (neither: a pass-through command) is passed over.
// Binary blktrace comes as such lines, too (testbench/loads/text/blktrace_source.h). Source:
// blkparse(1), blktrace's blkparse_fmt.c.
#include "testbench/loads/traces/rwbs.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr FieldSpec k_blkparse_device{"device", "major,minor"};
constexpr FieldSpec k_blkparse_cpu{"cpu", "a number"};
constexpr FieldSpec k_blkparse_sequence{"sequence", "a number"};
constexpr FieldSpec k_blkparse_time{"time", "seconds"};
constexpr FieldSpec k_blkparse_pid{"pid", "a number"};
constexpr FieldSpec k_blkparse_action{"action", "a letter or two"};
constexpr FieldSpec k_blkparse_rwbs{"rwbs", "letters out of R, W, D, F, N, S, A, M, B, E, V"};
constexpr FieldSpec k_blkparse_sector{"sector", "512 B sectors"};
constexpr FieldSpec k_blkparse_plus{"+", "\"sector + sectors\""};
constexpr FieldSpec k_blkparse_sectors{"sectors", "512 B sectors"};

class BlkparseFormat final : public TraceFormat {
 public:
  explicit BlkparseFormat(std::string action) : action_(std::move(action)) {}

  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    if (summary_ || summary_line(line)) {
      summary_ = true;
      return false;
    }
    Fields fields(line, ' ');
    record.device = fields.need(at, k_blkparse_device);
    check_device(at, record.device);
    whole_number(at, k_blkparse_cpu, fields.need(at, k_blkparse_cpu));
    whole_number(at, k_blkparse_sequence, fields.need(at, k_blkparse_sequence));
    record.time = time_stamp(at, k_blkparse_time, fields.need(at, k_blkparse_time), 1'000'000'000'000);
    whole_number(at, k_blkparse_pid, fields.need(at, k_blkparse_pid));
    const std::string_view action = fields.need(at, k_blkparse_action);
    if (action.size() > 2) bad_field(at, k_blkparse_action, action, "is no action");
    if (action != action_) return false;
    const std::string_view letters = fields.need(at, k_blkparse_rwbs);
    if (!is_rwbs(letters)) bad_field(at, k_blkparse_rwbs, letters, "is no operation");
    if (!read_rwbs(letters, record)) return false;  // a pass-through command
    if (letters.front() == 'F' && !has_extent(fields)) record.opcode = HostOpcode::flush;
    return extent(fields, at, record);
  }
  [[nodiscard]] std::string note() const override { return "action " + action_; }

 private:
  static bool summary_line(std::string_view line) {
    return line.starts_with("CPU") || line.starts_with("Total (") || line.starts_with("Throughput (") ||
           line.starts_with("Events (") || line.starts_with("Skips:") || line.starts_with("Input file ");
  }
  static void check_device(const LineReader& at, std::string_view text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || comma == 0 || comma + 1 == text.size()) {
      bad_field(at, k_blkparse_device, text, "is no device");
    }
    whole_number(at, k_blkparse_device, text.substr(0, comma));
    whole_number(at, k_blkparse_device, text.substr(comma + 1));
  }
  /// "sector + sectors" comes next, and there are some. Of a write without data, which is a flush,
  /// blkparse leaves them out ("FWS [command]", completed "FWS 0 [0]").
  static bool has_extent(Fields fields) {
    std::string_view sector;
    std::string_view plus;
    std::string_view sectors;
    return fields.next(sector) && fields.next(plus) && plus == "+" && fields.next(sectors) && sectors != "0";
  }
  /// "sector + sectors [command]"; a flush may stop before it.
  static bool extent(Fields& fields, const LineReader& at, TraceRecord& record) {
    record.offset = 0;
    record.bytes = 0;
    if (record.opcode == HostOpcode::flush) return true;
    const std::string_view sector = fields.need(at, k_blkparse_sector);
    record.offset = scaled_number(at, k_blkparse_sector, sector, 512);
    const std::string_view plus = fields.need(at, k_blkparse_plus);
    if (plus != "+") bad_field(at, k_blkparse_plus, plus, "is not a plus sign");
    record.bytes = scaled_number(at, k_blkparse_sectors, fields.need(at, k_blkparse_sectors), 512);
    return true;
  }

  std::string action_;
  bool summary_ = false;
};

}  // namespace

std::unique_ptr<TraceFormat> make_blkparse_format(const BlkparseConfig& config) {
  return std::make_unique<BlkparseFormat>(config.action);
}

}  // namespace tlmssd
