// Reads a trace file as a stream of requests.
#include "testbench/loads/traces/trace_reader.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_most_volumes = 65536;
constexpr std::uint64_t k_longest_request = std::uint64_t{1}
                                            << 30U;  // a longer read or write is a wrong column or unit
constexpr std::size_t k_sample = 50;
constexpr std::size_t k_sample_with_comments = 400;

std::string names_of_formats() {
  std::string names = "auto";
  for (const TraceFormatInfo& info : trace_formats()) names += ", " + std::string(info.name);
  return names;
}

/// A row of column titles: every field starts with a letter.
bool titles(std::string_view line, char separator) {
  Fields fields(line, separator);
  std::string_view field;
  std::size_t count = 0;
  while (fields.next(field)) {
    if (!field.empty() && (field.front() == '"' || field.front() == '#')) field = trimmed(field.substr(1));
    if (field.empty() || std::isalpha(static_cast<unsigned char>(field.front())) == 0) return false;
    ++count;
  }
  return count >= 3;
}

bool is_comment(std::string_view line) {
  return trimmed(line).starts_with('#');
}

/// How many of the sample's lines `format` can read, before the first that it cannot.
std::size_t readable(const TraceFormatInfo& info, const TraceFile& file,
                     const std::vector<std::string>& sample) {
  const auto parser = info.make(file.blkparse, nullptr);
  const LineReader nowhere("", std::string_view{});
  TraceRecord record;
  std::size_t count = 0;
  bool first = true;
  for (const std::string& line : sample) {
    if (trimmed(line).empty() || (info.separator != '\0' && is_comment(line))) continue;
    if (std::exchange(first, false) && info.separator != '\0' && titles(line, info.separator)) continue;
    try {
      parser->parse(line, nowhere, record);
    } catch (const InputError&) {
      break;
    }
    ++count;
  }
  return count;
}

}  // namespace

TraceReader::TraceReader(const TraceFile& file)
    : lines_(file.path), config_(file.config), times_matter_(file.times_matter) {
  open(file);
}

TraceReader::TraceReader(const TraceFile& file, std::string name, std::string_view bytes)
    : lines_(std::move(name), bytes), config_(file.config), times_matter_(file.times_matter) {
  open(file);
}

void TraceReader::open(const TraceFile& file) {
  recognised_ = config_.format == "auto";
  if (recognised_) {
    info_ = &recognise(file);
  } else {
    info_ = trace_formats().find(config_.format);
    if (info_ == nullptr) {
      throw InputError("trace format \"" + config_.format + "\" is unknown, expected one of " +
                       names_of_formats());
    }
  }
  const bool csv = info_->name == "csv";
  parser_ = info_->make(file.blkparse, csv && file.columns ? &*file.columns : nullptr);
  if (csv) to_pass_over_ = file.columns->header_lines;
  separator_ = csv ? separator_of(*file.columns) : info_->separator;
}

const TraceFormatInfo& TraceReader::recognise(const TraceFile& file) {
  std::vector<std::string> sample = lines_.peek(k_sample_with_comments);
  if (std::all_of(sample.begin(), sample.end(), [](const auto& line) { return trimmed(line).empty(); })) {
    throw InputError(lines_.file(), 0, "is empty, expected a trace");
  }
  // Comments tell no format, unless there is nothing else.
  std::vector<std::string> told;
  std::copy_if(sample.begin(), sample.end(), std::back_inserter(told),
               [](const std::string& line) { return !is_comment(line) && !trimmed(line).empty(); });
  if (!told.empty()) sample = std::move(told);
  if (sample.size() > k_sample) sample.resize(k_sample);
  const TraceFormatInfo* best = nullptr;
  std::size_t most = 0;
  for (const TraceFormatInfo& info : trace_formats()) {
    if (!info.recognised) continue;
    const std::size_t count = readable(info, file, sample);
    if (count > most) {
      most = count;
      best = &info;
    }
  }
  if (best == nullptr) {
    throw InputError(lines_.file(), 1,
                     "the format is not recognised from the line " + quoted_input(sample.front()) +
                         "; say format: " + names_of_formats().substr(6));
  }
  return *best;
}

bool TraceReader::header(std::string_view line) {
  started_ = true;
  if (separator_ == '\0' || !titles(line, separator_)) return false;
  header_row_ = true;
  return true;
}

/// One may be the row of titles.
bool TraceReader::comment(std::string_view line) {
  if (separator_ == '\0' || !is_comment(line)) return false;
  if (!started_ && titles(line, separator_)) header(line);
  return true;
}

bool TraceReader::next(Request& request) {
  Recorded recorded;
  if (parser_->needs_sorting() ? take_in_order(recorded) : read(recorded)) {
    line_ = recorded.line;
    request = recorded.request;
    request.time = relative(recorded.time);
    return true;
  }
  if (!any_)
    throw InputError(lines_.file(), 0,
                     lines_.line() == 0 ? "is empty, expected a trace" : "holds no request");
  return false;
}

/// The request of the next line that has one.
bool TraceReader::read(Recorded& recorded) {
  std::string_view line;
  TraceRecord record;
  while (lines_.next(line)) {
    if (to_pass_over_ > 0) {
      --to_pass_over_;
      continue;
    }
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (comment(line)) continue;
    if (!started_ && header(line)) continue;
    if (!parser_->parse(line, lines_, record) || !sound(record)) continue;
    recorded.time = record.time;
    recorded.line = lines_.line();
    recorded.request.opcode = record.opcode;
    recorded.request.force_unit_access = record.force_unit_access;
    recorded.request.device = volume(record.device);
    recorded.request.offset = record.offset;
    recorded.request.bytes = record.bytes;
    if (parser_->has_times()) check_order(record.time);
    return true;
  }
  return false;
}

/// Whether the earliest of those that wait is one that was read late.
bool TraceReader::late_first() const {
  return !late_.empty() && (waiting_.empty() || waiting_.front() < late_.front());
}

/// The earliest request, once no later line can come before it or no more may wait.
bool TraceReader::take_in_order(Recorded& recorded) {
  const auto window = static_cast<WideTime>(config_.max_disorder);
  const auto enough = [&] {
    if (waiting_.empty() && late_.empty()) return false;
    const WideTime earliest = late_first() ? late_.front().time : waiting_.front().time;
    return waiting_.size() + late_.size() >= k_most_waiting || latest_read_ - earliest > window;
  };
  while (!ended_ && !enough()) {
    Recorded next;
    ended_ = !read(next);
    if (ended_) break;
    if (waiting_.empty() || waiting_.back().time <= next.time) {
      waiting_.push_back(next);
    } else {
      late_.push_back(next);
      std::push_heap(late_.begin(), late_.end());
    }
  }
  if (late_first()) {
    std::pop_heap(late_.begin(), late_.end());
    recorded = late_.back();
    late_.pop_back();
    return true;
  }
  if (waiting_.empty()) return false;
  recorded = waiting_.front();
  waiting_.pop_front();
  return true;
}

/// False: a request without size that is to be skipped.
bool TraceReader::sound(const TraceRecord& record) {
  if (record.opcode == HostOpcode::flush) return true;
  if (record.bytes == 0) {
    if (config_.zero_size != "skip")
      lines_.fail("field size: is 0, expected at least one byte (or zero_size: skip)");
    ++zero_size_;
    return false;
  }
  if (record.opcode != HostOpcode::trim && record.bytes > k_longest_request) {
    lines_.fail(fmt::format("field size: {} bytes is too large, expected at most 1 GiB for a {}",
                            record.bytes, name_of(record.opcode)));
  }
  std::uint64_t end = 0;
  if (__builtin_add_overflow(record.offset, record.bytes, &end) || end >> 63U != 0) {
    lines_.fail(
        fmt::format("field offset: {} + {} bytes does not fit 63 bits, expected an address on a drive",
                    record.offset, record.bytes));
  }
  return true;
}

/// Of lines as the file has them.
void TraceReader::check_order(WideTime time) {
  if (!read_any_) latest_read_ = time;
  read_any_ = true;
  if (time >= latest_read_) {
    latest_read_ = time;
    return;
  }
  const WideTime back = latest_read_ - time;
  if (times_matter_ && back > static_cast<WideTime>(config_.max_disorder)) {
    lines_.fail(fmt::format(
        "field time: lies {:.6g} s before the request above, expected times in order (disorder up to "
        "max_disorder, {:.6g} s, is put right)",
        static_cast<double>(back) * 1e-12, static_cast<double>(config_.max_disorder) * 1e-12));
  }
  sorted_ = parser_->needs_sorting();
}

Picoseconds TraceReader::relative(WideTime time) {
  if (!any_) {
    any_ = true;
    first_ = time;
  }
  if (!parser_->has_times()) return 0;
  using Signed = __int128;
  const Signed since = static_cast<Signed>(time) - static_cast<Signed>(first_);
  const auto bounded = [](Signed any) { return static_cast<Picoseconds>(std::min<Signed>(any, k_latest)); };
  if (since < last_) {
    ++out_of_order_;
    largest_disorder_ = std::max(largest_disorder_, bounded(last_ - since));
  }
  last_ = std::max(last_, since);
  return bounded(last_);
}

std::uint32_t TraceReader::volume(std::string_view name) {
  if (name == last_name_ && !volumes_.empty()) return last_volume_;
  const auto found = index_.find(name);
  if (found != index_.end()) {
    last_volume_ = found->second;
  } else {
    if (volumes_.size() == k_most_volumes) {
      lines_.fail("there are more than 65536 volumes, expected the volume's name in that field");
    }
    last_volume_ = static_cast<std::uint32_t>(volumes_.size());
    index_.emplace(name, last_volume_);
    volumes_.emplace_back(name);
    std::replace(volumes_.back().begin(), volumes_.back().end(), ',', '.');
  }
  last_name_.assign(name);
  return last_volume_;
}

std::string TraceReader::where() const {
  return lines_.file() + ":" + std::to_string(line_);
}

std::string TraceReader::description() const {
  std::string text(info_->name);
  if (recognised_) text += " (recognised)";
  if (const std::string note = parser_->note(); !note.empty()) text += ", " + note;
  if (sorted_) text += ", put in order of their times";
  if (header_row_) text += ", header row";
  if (lines_.compression() != "plain") text += ", " + std::string(lines_.compression());
  return text;
}

}  // namespace tlmssd
