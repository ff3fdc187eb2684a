// fio's I/O logs, versions 2 and 3 (its HOWTO, "Trace file format v2" and "v3").
//
// Version 2: "file action [offset length]"; no time stamps, but "wait" lines whose offset is a
// pause in us since the previous wait. Version 3: "timestamp file action [offset length]", in us;
// wait is not allowed. Actions read, write, trim are requests, sync and datasync are flushes; add,
// open and close say nothing about the drive and are passed over. Every file is a volume.
#include <string>

#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr Picoseconds k_iolog_microsecond = 1'000'000;
constexpr FieldSpec k_iolog_time{"timestamp", "us"};
constexpr FieldSpec k_iolog_file{"filename", "a name"};
constexpr FieldSpec k_iolog_action{"action",
                                   "read, write, trim, sync, datasync, wait (version 2), add, open or close"};
constexpr FieldSpec k_iolog_offset{"offset", "bytes"};
constexpr FieldSpec k_iolog_wait{"offset", "us to wait"};
constexpr FieldSpec k_iolog_length{"length", "bytes"};

class FioIologFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    if (version_ == 0) return head(line, at);
    Fields fields(line, ' ');
    if (version_ == 3)
      now_ = time_stamp(at, k_iolog_time, fields.need(at, k_iolog_time), k_iolog_microsecond);
    record.device = fields.need(at, k_iolog_file);
    if (record.device.size() > 256) bad_field(at, k_iolog_file, record.device, "is too long");
    const std::string_view action = fields.need(at, k_iolog_action);
    if (action == "add" || action == "open" || action == "close") return end(fields, at, false);
    if (action == "wait") return wait(fields, at);
    record.time = now_;
    record.force_unit_access = false;
    if (action == "sync" || action == "datasync") {
      record.opcode = HostOpcode::flush;
      record.offset = 0;
      record.bytes = 0;
      return true;
    }
    if (action == "read") {
      record.opcode = HostOpcode::read;
    } else if (action == "write") {
      record.opcode = HostOpcode::write;
    } else if (action == "trim") {
      record.opcode = HostOpcode::trim;
    } else {
      bad_field(at, k_iolog_action, action, "is no action");
    }
    record.offset = whole_number(at, k_iolog_offset, fields.need(at, k_iolog_offset));
    record.bytes = whole_number(at, k_iolog_length, fields.need(at, k_iolog_length));
    return end(fields, at, true);
  }
  [[nodiscard]] bool has_times() const override { return version_ == 3 || waits_; }
  [[nodiscard]] std::string note() const override {
    if (version_ == 3) return "version 3, times in us";
    return waits_ ? "version 2, times from its wait lines" : "version 2, without times";
  }

 private:
  bool head(std::string_view line, const LineReader& at) {
    if (line == "fio version 2 iolog") {
      version_ = 2;
    } else if (line == "fio version 3 iolog") {
      version_ = 3;
    } else {
      at.fail("line is " + quoted_input(line) +
              ", expected \"fio version 2 iolog\" or \"fio version 3 iolog\"");
    }
    return false;
  }
  bool wait(Fields& fields, const LineReader& at) {
    if (version_ == 3) bad_field(at, k_iolog_action, "wait", "is not allowed in a version 3 log");
    const std::uint64_t pause = whole_number(at, k_iolog_wait, fields.need(at, k_iolog_wait));
    now_ += static_cast<WideTime>(pause) * k_iolog_microsecond;
    if (now_ >> 64U != 0)
      bad_field(at, k_iolog_wait, std::to_string(pause), "adds up to more than can be held");
    waits_ = true;
    return false;
  }
  static bool end(const Fields& fields, const LineReader& at, bool request) {
    if (!fields.ended())
      at.fail("line has too many fields, expected " +
              std::string(request ? "offset length" : "no more after the action"));
    return request;
  }

  int version_ = 0;
  bool waits_ = false;
  WideTime now_ = 0;
};

}  // namespace

std::unique_ptr<TraceFormat> make_fio_iolog_format() {
  return std::make_unique<FioIologFormat>();
}

}  // namespace tlmssd
