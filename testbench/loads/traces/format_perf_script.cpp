// Text of `perf script` (and of ftrace's trace_pipe) for block events: task, processor, seconds,
// event, and the event's own words.
//
//   fio 812 [001]  93.004721: block:block_rq_issue: 259,0 WS 4096 () 81920 + 8 [fio]
//
// One event is taken, else every request would be counted several times: that of the file's first
// request. block_bio_queue and block_rq_insert, block_rq_issue and block_rq_complete are known; all
// give sector + sectors of 512 B and rwbs as blkparse does. Other lines are passed over, and so are
// comments (#). Source: the TP_printk of the block events of Linux.
#include "testbench/loads/traces/rwbs.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr FieldSpec k_perf_time{"time", "seconds and a colon"};
constexpr FieldSpec k_perf_device{"device", "major,minor"};
constexpr FieldSpec k_perf_rwbs{"rwbs", "letters out of R, W, D, F, N, S, A, M, B, E, V"};
constexpr FieldSpec k_perf_sector{"sector", "512 B sectors before \" + \""};
constexpr FieldSpec k_perf_sectors{"sectors", "512 B sectors after \" + \""};
constexpr FieldSpec k_perf_event{"event", "a block event, such as block:block_rq_issue"};

class PerfScriptFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') return false;
    const std::size_t found = line.find(": block");
    if (found == std::string_view::npos) {
      if (line.find(']') == std::string_view::npos || line.find(": ") == std::string_view::npos)
        bad_field(at, k_perf_event, line, "is missing");
      return false;  // another event
    }
    const std::size_t space = line.rfind(' ', found);
    if (space == std::string_view::npos)
      bad_field(at, k_perf_time, line.substr(0, found), "has no task before it");
    record.time = time_stamp(at, k_perf_time, line.substr(space + 1, found - space - 1), 1'000'000'000'000);
    std::string_view rest = line.substr(found + 2);
    if (rest.starts_with("block:")) rest.remove_prefix(6);
    const std::size_t colon = rest.find(':');
    const std::string_view event = rest.substr(0, colon);
    if (colon == std::string_view::npos || !known(event)) return false;
    if (event_.empty()) event_ = event;
    if (event != event_) return false;
    return request(rest.substr(colon + 1), at, record);
  }
  [[nodiscard]] std::string note() const override { return "event " + event_; }

 private:
  static bool known(std::string_view event) {
    return event == "block_bio_queue" || event == "block_rq_insert" || event == "block_rq_issue" ||
           event == "block_rq_complete";
  }
  /// "259,0 WS 4096 () 81920 + 8 [fio]": what stands between rwbs and sector differs by event.
  static bool request(std::string_view text, const LineReader& at, TraceRecord& record) {
    Fields fields(text, ' ');
    record.device = fields.need(at, k_perf_device);
    const std::string_view letters = fields.need(at, k_perf_rwbs);
    if (!is_rwbs(letters)) bad_field(at, k_perf_rwbs, letters, "is no operation");
    if (!read_rwbs(letters, record)) return false;
    record.offset = 0;
    record.bytes = 0;
    if (record.opcode == HostOpcode::flush) return true;
    const std::size_t plus = text.find(" + ");
    if (plus == std::string_view::npos) bad_field(at, k_perf_sector, text, "has no \" + \"");
    const std::string_view before = text.substr(0, plus);
    record.offset = scaled_number(at, k_perf_sector, before.substr(before.rfind(' ') + 1), 512);
    const std::string_view after = text.substr(plus + 3);
    record.bytes = scaled_number(at, k_perf_sectors, after.substr(0, after.find(' ')), 512);
    if (record.bytes == 0 && letters.front() == 'F') record.opcode = HostOpcode::flush;
    return true;
  }

  std::string event_;
};

}  // namespace

std::unique_ptr<TraceFormat> make_perf_script_format() {
  return std::make_unique<PerfScriptFormat>();
}

}  // namespace tlmssd
