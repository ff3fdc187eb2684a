// One trace format: turns a line of text into a request.
//
// Every format has a file of its own; trace_formats.cpp lists them by name.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/loads/requests/request.h"
#include "testbench/loads/text/fields.h"
#include "testbench/loads/traces/trace_config.h"

namespace tlmssd {

/// A line as the file has it.
struct TraceRecord {
  HostOpcode opcode = HostOpcode::read;
  bool force_unit_access = false;
  std::string_view device;  ///< name of the volume as it stands in the line; empty: the only one
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  WideTime time = 0;
};

class TraceFormat {
 public:
  virtual ~TraceFormat() = default;
  /// True: `record` holds the line's request. False: the line is sound but holds none. Throws
  /// InputError naming line and field.
  virtual bool parse(std::string_view line, const LineReader& at, TraceRecord& record) = 0;
  /// What this file was understood to be, beyond the format's name; asked after the first request.
  [[nodiscard]] virtual std::string note() const { return {}; }
  [[nodiscard]] virtual bool has_times() const { return true; }
  /// Lines may come in another order than that of their times, as where each is written when its
  /// request completes and its time is that of the start: requests are put in order of their times.
  [[nodiscard]] virtual bool needs_sorting() const { return false; }
};

/// What format a name stands for.
struct TraceFormatInfo {
  std::string_view name;
  std::string_view summary;  ///< columns and units
  std::string_view
      polarity;  ///< how operations are written; a reader of trace-info checks it against what is known of the file
  char separator;   ///< of fields, for recognising a header row; '\0': the format has none
  bool recognised;  ///< `auto` may choose it
  /// `columns` is given for format csv only.
  std::unique_ptr<TraceFormat> (*make)(const BlkparseConfig& blkparse, const ColumnsConfig* columns);
  std::string origin = {};  ///< the plug-in it comes from; empty: the program
};

/// Formats by name, in the order in which `auto` tries them.
class TraceFormats {
 public:
  TraceFormats(std::initializer_list<TraceFormatInfo> formats) : formats_(formats) {}
  [[nodiscard]] auto begin() const { return formats_.begin(); }
  [[nodiscard]] auto end() const { return formats_.end(); }
  [[nodiscard]] std::size_t size() const { return formats_.size(); }
  [[nodiscard]] const TraceFormatInfo& operator[](std::size_t number) const { return formats_[number]; }
  /// Null when there is none of that name.
  [[nodiscard]] const TraceFormatInfo* find(std::string_view name) const {
    const auto found = std::find_if(begin(), end(), [&](const auto& format) { return format.name == name; });
    return found == end() ? nullptr : &*found;
  }
  /// One more, of the plug-in `origin`: a TraceFormat without arguments and with `static constexpr`
  /// k_name, k_summary, k_polarity and k_separator, as in TraceFormatInfo. `auto` chooses it where
  /// it reads more lines than the others.
  template <class Format>
  void add(std::string origin) {
    formats_.push_back({Format::k_name, Format::k_summary, Format::k_polarity, Format::k_separator, true,
                        [](const BlkparseConfig&, const ColumnsConfig*) -> std::unique_ptr<TraceFormat> {
                          return std::make_unique<Format>();
                        },
                        std::move(origin)});
  }

 private:
  std::vector<TraceFormatInfo> formats_;
};

TraceFormats& trace_formats();

// The formats' constructors, one file each.
std::unique_ptr<TraceFormat> make_msr_format();
std::unique_ptr<TraceFormat> make_mqsim_format();
std::unique_ptr<TraceFormat> make_spc_format();
std::unique_ptr<TraceFormat> make_alibaba_format();
std::unique_ptr<TraceFormat> make_tencent_format();
std::unique_ptr<TraceFormat> make_fio_iolog_format();
std::unique_ptr<TraceFormat> make_blkparse_format(const BlkparseConfig& config);
std::unique_ptr<TraceFormat> make_perf_script_format();
std::unique_ptr<TraceFormat> make_biosnoop_format();
std::unique_ptr<TraceFormat> make_csv_format(const ColumnsConfig& config);
char separator_of(const ColumnsConfig& config);

}  // namespace tlmssd
