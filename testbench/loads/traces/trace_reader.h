// Reads a trace file as a stream of requests, whatever its format.
//
// Times count from the first request, however long ago that was; a request's own is at most
// k_latest. Recordings are not quite in order (stamps are taken on
// several cores): a stamp before its predecessor's is raised to it and counted; one that lies
// further back than `max_disorder` is bad input. Where lines are in order of completion, requests
// are put in order of their times instead: those that a later line may yet come before wait, up to
// `max_disorder` and k_most_waiting requests. Blank lines, comments (#) of tables and one header
// row are passed over.
// Every other malformed line is an InputError "file:line: field NAME: ...".
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

/// A trace file and how to read it.
struct TraceFile {
  std::string path;
  TraceConfig config;
  BlkparseConfig blkparse;
  std::optional<ColumnsConfig> columns;
  /// Requests are issued by their times; else stamps may lie as far back as they like.
  bool times_matter = true;
};

class TraceReader final : public RequestSource {
 public:
  static constexpr Picoseconds k_latest = k_never / 2;                  ///< 53 days
  static constexpr std::size_t k_most_waiting = std::size_t{1} << 17U;  ///< 10 MB
  explicit TraceReader(const TraceFile& file);
  /// Reads from memory; `name` stands for the file in messages.
  TraceReader(const TraceFile& file, std::string name, std::string_view bytes);

  bool next(Request& request) override;
  [[nodiscard]] std::string where() const override;

  [[nodiscard]] const TraceFormatInfo& format() const { return *info_; }
  /// "msr (recognised), times are Windows file time, xz": what the file was understood to be.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] bool has_times() const { return parser_->has_times(); }
  /// From the first request to the last one given, in picoseconds.
  [[nodiscard]] __int128 elapsed() const { return last_; }
  /// Names of the volumes seen so far, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& volumes() const { return volumes_; }
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }
  [[nodiscard]] Picoseconds largest_disorder() const { return largest_disorder_; }
  [[nodiscard]] std::uint64_t zero_size() const { return zero_size_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_.line(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  /// The request of a line, its time as the file has it.
  struct Recorded {
    WideTime time = 0;
    std::uint64_t line = 0;
    Request request;
    /// For a heap whose front is the earliest, of equal ones the first line.
    bool operator<(const Recorded& other) const {
      return time != other.time ? time > other.time : line > other.line;
    }
  };
  void open(const TraceFile& file);
  bool read(Recorded& recorded);
  bool take_in_order(Recorded& recorded);
  [[nodiscard]] bool late_first() const;
  void check_order(WideTime time);
  const TraceFormatInfo& recognise(const TraceFile& file);
  bool header(std::string_view line);
  bool comment(std::string_view line);
  bool sound(const TraceRecord& record);
  Picoseconds relative(WideTime time);
  std::uint32_t volume(std::string_view name);

  LineReader lines_;
  TraceConfig config_;
  bool times_matter_ = true;
  const TraceFormatInfo* info_ = nullptr;
  std::unique_ptr<TraceFormat> parser_;
  bool recognised_ = false;
  char separator_ = '\0';
  std::uint32_t to_pass_over_ = 0;  ///< lines at the beginning
  bool started_ = false;            ///< a line that is not a header has been seen
  bool header_row_ = false;
  bool read_any_ = false;
  WideTime latest_read_ = 0;
  std::deque<Recorded> waiting_;  ///< in order of their times as they were read
  std::vector<Recorded> late_;    ///< the others, a heap
  bool ended_ = false;            ///< no more lines for it
  bool sorted_ = false;           ///< lines were not in order of their times, and have been put so
  std::uint64_t line_ = 0;        ///< of the last request given
  bool any_ = false;
  WideTime first_ = 0;
  __int128 last_ = 0;  ///< since first_
  std::uint64_t out_of_order_ = 0;
  Picoseconds largest_disorder_ = 0;
  std::uint64_t zero_size_ = 0;
  std::vector<std::string> volumes_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>
      index_;  // look-up only, never iterated
  std::string last_name_;
  std::uint32_t last_volume_ = 0;
};

}  // namespace tlmssd
