// Understands a GeneratorConfig for a given drive.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "testbench/loads/generator/generator.h"
#include "testbench/loads/text/fields.h"

namespace tlmssd {

namespace {

Bytes size_of(const std::string& option, const std::string& text, FioUnits units) {
  const auto size = fio_size(text, units);
  if (!size) refuse_option(option, text, "a size (4k, 128k, 1m)");
  return *size;
}

/// "a,b,c" for read, write, trim. As in fio, what is left out at the end repeats the last one
/// given, and an empty part keeps the `fallback`.
std::array<std::string, 3> by_direction(const std::string& option, const std::string& text,
                                        const std::string& fallback) {
  const auto parts = split_text(text, ',');
  if (parts.empty() || parts.size() > 3)
    refuse_option(option, text, "one value, or up to three for read, write and trim");
  std::array<std::string, 3> result;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& part = parts[std::min(i, parts.size() - 1)];
    result[i] = part.empty() ? fallback : part;
  }
  return result;
}

void plan_direction(GeneratorPlan& plan, const GeneratorConfig& config) {
  using Mix = GeneratorPlan::Mix;
  struct Word {
    const char* name;
    Mix mix;
    unsigned direction;
    bool random;
  };
  static constexpr Word k_words[] = {
      {"read", Mix::one, 0, false},
      {"write", Mix::one, 1, false},
      {"trim", Mix::one, 2, false},
      {"randread", Mix::one, 0, true},
      {"randwrite", Mix::one, 1, true},
      {"randtrim", Mix::one, 2, true},
      {"rw", Mix::read_write, 0, false},
      {"readwrite", Mix::read_write, 0, false},
      {"randrw", Mix::read_write, 0, true},
      {"trimwrite", Mix::trim_write, 2, false},
      {"randtrimwrite", Mix::trim_write, 2, true},
  };
  std::vector<std::string> names;
  for (const Word& word : k_words) {
    names.emplace_back(word.name);
    if (config.rw != word.name) continue;
    plan.mix = word.mix;
    plan.direction = word.direction;
    plan.random = word.random;
    plan.read_percent = static_cast<std::uint32_t>(config.read_percent());
    if (plan.mix == Mix::read_write && !config.mixes_reads_and_writes()) {
      plan.mix = Mix::one;
      plan.direction = plan.read_percent == 0 ? 1 : 0;
    }
    return;
  }
  const std::string pattern = config.rw.substr(0, config.rw.find(':'));
  if (pattern != config.rw && std::find(names.begin(), names.end(), pattern) != names.end())
    throw InputError(fmt::format("rw: the modifier \"{}\" of \"{}\" is not supported, expected {} alone",
                                 config.rw.substr(pattern.size()), config.rw, pattern));
  throw InputError("rw: \"" + config.rw + "\" is no pattern, expected " + any_of(names) +
                   did_you_mean(config.rw, names));
}

std::vector<GeneratorPlan::SizeShare> size_shares(const std::string& text, FioUnits units) {
  std::vector<GeneratorPlan::SizeShare> shares;
  std::uint32_t given = 0;
  std::size_t open = 0;
  for (const std::string& part : split_text(text, ':')) {
    const auto pair = split_text(part, '/');
    if (pair.empty() || pair.size() > 2) refuse_option("bssplit", text, "size/per cent pairs (4k/60:64k/40)");
    GeneratorPlan::SizeShare share{size_of("bssplit", pair[0], units), 0};
    const auto percent = pair.size() == 2 && !pair[1].empty() ? fio_number(pair[1]) : std::nullopt;
    if (pair.size() == 2 && !pair[1].empty()) {
      if (!percent || *percent > 100) refuse_option("bssplit", pair[1], "whole per cent");
      share.percent = static_cast<std::uint32_t>(*percent);
      given += share.percent;
    } else {
      share.percent = 101;  // to be filled in
      ++open;
    }
    shares.push_back(share);
  }
  if (given > 100 || (open == 0 && given < 100)) {
    throw InputError(
        fmt::format("bssplit: the shares in \"{}\" add up to {} %, expected 100 %", text, given));
  }
  std::uint32_t left = 100 - given;
  for (auto& share : shares) {
    if (share.percent != 101) continue;
    share.percent = left / static_cast<std::uint32_t>(open);
    left -= share.percent;
    --open;
  }
  return shares;
}

void plan_sizes(GeneratorPlan& plan, const GeneratorConfig& config, FioUnits units) {
  if (!config.bssplit.empty()) {
    const auto texts = by_direction("bssplit", config.bssplit, config.bs);
    for (std::size_t i = 0; i < 3; ++i) plan.sizes[i] = size_shares(texts[i], units);
  } else if (!config.bsrange.empty()) {
    const auto texts = by_direction("bsrange", config.bsrange, "");
    for (std::size_t i = 0; i < 3; ++i) {
      const auto bounds = split_text(texts[i], '-');
      if (bounds.size() != 2) refuse_option("bsrange", config.bsrange, "lower-upper (4k-64k)");
      plan.range_low[i] = size_of("bsrange", bounds[0], units);
      plan.range_high[i] = size_of("bsrange", bounds[1], units);
      if (plan.range_high[i] < plan.range_low[i])
        refuse_option("bsrange", config.bsrange, "the lower bound first");
    }
  } else {
    const auto texts = by_direction("bs", config.bs, "4k");
    for (std::size_t i = 0; i < 3; ++i) plan.sizes[i] = {{size_of("bs", texts[i], units), 100}};
  }
  std::array<std::string, 3> aligns;
  if (!config.blockalign.empty()) aligns = by_direction("blockalign", config.blockalign, "");
  for (std::size_t i = 0; i < 3; ++i) {
    plan.smallest[i] = plan.range_low[i];
    for (const auto& share : plan.sizes[i]) {
      plan.smallest[i] = plan.smallest[i] == 0 ? share.bytes : std::min(plan.smallest[i], share.bytes);
    }
    plan.align[i] = aligns[i].empty() ? plan.smallest[i] : size_of("blockalign", aligns[i], units);
  }
}

bool used(const GeneratorPlan& plan, std::size_t direction) {
  if (plan.mix == GeneratorPlan::Mix::read_write) return direction < 2;
  return plan.mix == GeneratorPlan::Mix::trim_write ? direction > 0 : direction == plan.direction;
}

/// A list of sizes ("512/20:4k/80", "512-4k", "512,4k") with those that are not whole blocks
/// rounded.
std::string in_whole_blocks(const std::string& text, std::uint32_t lba, FioUnits units) {
  std::string result;
  bool is_size = true;  // not what stands behind a slash
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",:-/", at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::optional<Bytes> bytes = is_size ? fio_size(word, units) : std::nullopt;
    result += bytes && *bytes % lba != 0 ? std::to_string(std::max<Bytes>((*bytes + lba / 2) / lba, 1) * lba)
                                         : word;
    if (end < text.size()) {
      is_size = text[end] != '/';
      result += text[end];
    }
    at = end + 1;
  }
  return result;
}

void check_blocks(const GeneratorPlan& plan, const GeneratorConfig& config, std::uint32_t lba,
                  FioUnits units) {
  const auto whole = [&](const std::string& option, const std::string& text, Bytes bytes) {
    if (bytes == 0) throw InputError(option + ": is 0, expected at least one logical block");
    if (bytes > (Bytes{1} << 30U))
      throw InputError(fmt::format("{}: {} B is too large, expected at most 1 GiB", option, bytes));
    if (bytes % lba != 0) {
      throw refusal(option,
                    fmt::format("{} B is not a multiple of the drive's logical block of {} B", bytes, lba),
                    in_whole_blocks(text, lba, units));
    }
  };
  const std::vector<std::string> splits = split_text(config.bssplit, ',');  // an empty one is bs
  for (std::size_t i = 0; i < 3; ++i) {
    if (!used(plan, i)) continue;
    const bool split = !splits.empty() && !splits[std::min(i, splits.size() - 1)].empty();
    for (const auto& share : plan.sizes[i])
      whole(split ? "bssplit" : "bs", split ? config.bssplit : config.bs, share.bytes);
    if (plan.sizes[i].empty()) {
      whole("bsrange", config.bsrange, plan.range_low[i]);
      whole("bsrange", config.bsrange, plan.range_high[i]);
    }
    if (!config.blockalign.empty()) whole("blockalign", config.blockalign, plan.align[i]);
    if (plan.smallest[i] > plan.size) {
      if (config.size != GeneratorConfig{}.size)
        throw InputError(fmt::format("size: {} B holds no request of {} B", plan.size, plan.smallest[i]));
      const char* const option = split ? "bssplit" : plan.sizes[i].empty() ? "bsrange" : "bs";
      throw InputError(
          fmt::format("{}: {} B are more than the {} B that the load works on, expected at most {} B", option,
                      plan.smallest[i], plan.size, plan.size / lba * lba));
    }
  }
}

Bytes up_to(Bytes bytes, Bytes unit) {
  return unit == 0 ? bytes : (bytes + unit - 1) / unit * unit;
}

/// As in fio, an offset that is a share of the drive goes up to whole smallest requests, of any
/// direction, and a size that is one goes down.
void plan_region(GeneratorPlan& plan, const GeneratorConfig& config, const DriveSize& drive, FioUnits units,
                 std::uint32_t job) {
  const std::uint32_t lba = drive.lba_bytes;
  const Bytes smallest = *std::min_element(plan.smallest.begin(), plan.smallest.end());
  const auto is_share = [](const std::string& text) { return text.find('%') != std::string::npos; };
  const auto of_drive = [&](const char* option, const std::string& text) {
    return size_or_share(option, text, {drive.bytes, "the drive"}, units);
  };
  const Bytes increment = of_drive("offset_increment", config.offset_increment);
  Bytes asked = of_drive("offset", config.offset);
  Bytes shift = 0;
  bool beyond = __builtin_mul_overflow(increment, job, &shift) ||
                __builtin_add_overflow(asked, shift, &asked) || asked >= drive.bytes;
  plan.offset = asked;
  const bool shifted = config.numjobs > 1 && is_share(config.offset_increment);
  if (!beyond && (is_share(config.offset) || shifted)) {
    plan.offset = up_to(up_to(asked, smallest), lba);
    beyond = plan.offset >= drive.bytes;
  }
  if (beyond) {  // of the first job, which has no increment, that is the offset's doing
    throw InputError(fmt::format("{}: job {} begins beyond the drive's {} B",
                                 job == 0 ? "offset" : "offset_increment", job, drive.bytes));
  }
  const Bytes left = drive.bytes - plan.offset;
  const bool rest = config.size == "100%";
  plan.size = rest ? left : of_drive("size", config.size);
  if (plan.size > drive.bytes - asked) {
    throw InputError(
        fmt::format("size: {} B at offset {} B ends beyond the drive's {} B", plan.size, asked, drive.bytes));
  }
  plan.size = std::min(plan.size, left);
  if (!rest && is_share(config.size) && smallest > 0 && plan.size >= smallest)
    plan.size -= plan.size % smallest;
  if (plan.offset % lba != 0) {
    throw InputError(
        fmt::format("offset: {} B is not a multiple of the drive's logical block of {} B", plan.offset, lba));
  }
  plan.size = plan.size / lba * lba;
  if (plan.size == 0) throw InputError("size: holds no whole logical block");
}

/// Files of apps are read by their lives, all of them, and nothing else has lives.
void check_lives(const GeneratorPlan& plan, const GeneratorConfig& config, const DriveSize& drive) {
  if (plan.distribution.kind != DistributionSpec::Kind::lives) {
    throw refusal(
        "random_distribution",
        fmt::format("files of apps (file_cache.apps) are read and deleted by their lives, not by {}",
                    config.random_distribution),
        "lives");
  }
  if (plan.mix != GeneratorPlan::Mix::one || plan.direction != 0 || !plan.random)
    throw refusal("rw", fmt::format("{} is not how files of apps are read", config.rw), "randread");
  if (config.numjobs > 1)
    throw refusal("numjobs", "a file of an app has one life at a time, whose load is one job", "1");
  if (plan.offset != 0) throw refusal("offset", "lives are of all files of the apps", "0");
  if (plan.size != drive.bytes) throw refusal("size", "lives are of all files of the apps", "100%");
}

/// Requests to files are reads, each within one file.
void check_files(const GeneratorPlan& plan, const GeneratorConfig& config, Bytes file) {
  if (plan.mix != GeneratorPlan::Mix::one || plan.direction != 0) {
    throw refusal("rw", fmt::format("{} changes data, and target: files can only be read", config.rw),
                  fmt::format("{}", plan.random ? "randread" : "read"));
  }
  Bytes largest = plan.range_high[0];
  for (const auto& share : plan.sizes[0]) largest = std::max(largest, share.bytes);
  const char* const option = !config.bssplit.empty() ? "bssplit" : config.bsrange.empty() ? "bs" : "bsrange";
  const std::string one_file = !config.bsrange.empty() && config.bssplit.empty()
                                   ? fmt::format("{}-{}", file, file)
                                   : std::to_string(file);
  if (largest > file) {
    throw refusal(option, fmt::format("{} B exceed the {} B of a file (file_cache.file_size)", largest, file),
                  one_file);
  }
  if (plan.offset % file != 0) {
    throw refusal("offset", fmt::format("{} B are no whole files of {} B", plan.offset, file),
                  fmt::format("{}", (plan.offset + file / 2) / file * file));
  }
  const Bytes align = plan.align[0];
  const bool places = file % align == 0 && largest <= align;
  const bool steps = file % largest == 0 && largest == plan.smallest[0] && align % largest == 0;
  if ((plan.random && !places) || ((!plan.random || config.percentage_random != "100") && !steps)) {
    throw refusal(
        option,
        fmt::format("requests of up to {} B at multiples of {} B cross the boundaries of files of {} B",
                    largest, align, file),
        one_file);
  }
}

void plan_rates(GeneratorPlan& plan, const GeneratorConfig& config, FioUnits units) {
  if (!config.rate_iops.empty() && !config.rate.empty()) {
    throw InputError("rate: cannot be given together with rate_iops");
  }
  const bool iops = !config.rate_iops.empty();
  if (!iops && config.rate.empty()) return;
  const char* option = iops ? "rate_iops" : "rate";
  const auto texts = by_direction(option, iops ? config.rate_iops : config.rate, "0");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = fio_size(texts[i], units);  // in fio, numbers without a unit take k and m, too
    constexpr std::uint64_t k_most = 1'000'000'000'000;
    if (value && *value > k_most)
      throw InputError(fmt::format("{}: {} is too large, expected at most {} {} per second", option, texts[i],
                                   k_most, iops ? "requests" : "bytes"));
    if (!value)
      refuse_option(option, texts[i], iops ? "requests per second (1000, 10k)" : "bytes per second (100m)");
    if (used(plan, i) && *value == 0) {
      throw InputError(
          fmt::format("{}: \"{}\" leaves a direction that the job uses without a rate, expected one for each",
                      option, iops ? config.rate_iops : config.rate));
    }
    (iops ? plan.rate_iops : plan.rate_bytes)[i] = *value;
  }
  plan.poisson = config.is_poisson();
}

void plan_shares(GeneratorPlan& plan, const GeneratorConfig& config, FioUnits units) {
  try {
    plan.distribution = parse_distribution(config.random_distribution, units == FioUnits::scenario);
  } catch (const std::invalid_argument& error) {
    throw InputError(std::string("random_distribution: ") + error.what());
  }
  plan.distribution.hot_set = config.hot_set;
  const auto texts = by_direction("percentage_random", config.percentage_random, "100");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto percent = fio_number(texts[i]);
    if (percent && *percent > 100)
      throw InputError(
          fmt::format("percentage_random: {} is too large, expected 0 to 100 per cent", texts[i]));
    if (!percent) refuse_option("percentage_random", texts[i], "whole per cent");
    plan.random_percent[i] = static_cast<std::uint32_t>(*percent);
  }
}

bool goes_in_order(const GeneratorPlan& plan) {
  return !plan.random && plan.mix != GeneratorPlan::Mix::read_write;
}

bool goes_by_map(const GeneratorPlan& plan) {
  return plan.random && !plan.repeats && plan.distribution.kind == DistributionSpec::Kind::random;
}

/// No place comes twice before all have come.
bool passes_are_whole(const GeneratorPlan& plan) {
  if (goes_in_order(plan)) return true;
  if (!goes_by_map(plan)) return false;
  for (std::size_t i = 0; i < 3; ++i)
    if (used(plan, i) && plan.random_percent[i] != 100) return false;
  return true;
}

/// What one pass through the region does. As in fio, requests of one size that go through it in
/// order, or by its random map, leave out the rest at its end that holds none.
Bytes bytes_of_pass(const GeneratorPlan& plan) {
  const bool in_order = goes_in_order(plan);
  const bool by_map = goes_by_map(plan);
  Bytes block = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!used(plan, i)) continue;
    const bool one_size = plan.sizes[i].size() == 1 && plan.align[i] == plan.smallest[i];
    const bool everywhere = in_order || (by_map && plan.random_percent[i] == 100);
    if (!one_size || !everywhere || (block != 0 && block != plan.smallest[i])) return plan.size;
    block = plan.smallest[i];
  }
  return plan.size / block * block;
}

/// The loops of a job file as fio counts them. number_ios is of each. Where a pass through the
/// region comes to no place twice, there are as many passes as loops, or as io_size takes if that
/// are more, of which io_size times loops is done at most.
void plan_loops(GeneratorPlan& plan, const GeneratorConfig& config) {
  using Wide = unsigned __int128;
  const std::uint64_t loops = std::max<std::uint64_t>(config.loops, 1);
  if (__builtin_mul_overflow(plan.number_ios, loops, &plan.number_ios))
    plan.number_ios = std::numeric_limits<std::uint64_t>::max() / 2;  // more than any io_size has
  if (plan.io_bytes == 0 || config.io_size.empty() || !passes_are_whole(plan)) return;
  const Bytes counted = plan.mix == GeneratorPlan::Mix::trim_write ? 2 * plan.size : plan.size;
  const Bytes once = plan.io_bytes / loops;
  const Bytes passes = std::max<Bytes>(loops, once / counted + (once % counted == 0 ? 0 : 1));
  plan.io_bytes = static_cast<Bytes>(std::min<Wide>(plan.io_bytes, Wide{bytes_of_pass(plan)} * passes));
}

void plan_end(GeneratorPlan& plan, const GeneratorConfig& config, FioUnits units) {
  plan.number_ios = config.number_ios;
  if (config.time_based) {
    plan.io_bytes = 0;
    return;
  }
  plan.io_bytes = config.io_size.empty()
                      ? bytes_of_pass(plan)
                      : size_or_share("io_size", config.io_size, {plan.size, "size"}, units);
  if (plan.io_bytes == 0) throw InputError("io_size: is 0, expected a size");
  if (__builtin_mul_overflow(plan.io_bytes, std::max<std::uint64_t>(config.loops, 1), &plan.io_bytes)) {
    throw InputError("loops: makes the load longer than can be counted");
  }
}

}  // namespace

bool GeneratorPlan::paced() const {
  return std::any_of(rate_iops.begin(), rate_iops.end(), [](auto rate) { return rate != 0; }) ||
         std::any_of(rate_bytes.begin(), rate_bytes.end(), [](auto rate) { return rate != 0; });
}

std::uint64_t GeneratorPlan::most_requests() const {
  return mix == Mix::trim_write ? 2 * number_ios : number_ios;
}

std::optional<std::vector<HostOpcode>> GeneratorPlan::operations() const {
  if (apps) return std::nullopt;
  static constexpr HostOpcode k_opcodes_of[] = {HostOpcode::read, HostOpcode::write, HostOpcode::trim};
  std::vector<HostOpcode> found;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!used(*this, i)) continue;
    found.push_back(k_opcodes_of[i]);
    if (k_opcodes_of[i] == HostOpcode::write && flushes()) found.push_back(HostOpcode::flush);
  }
  return found;
}

std::string GeneratorPlan::range_notice() const {
  for (std::size_t i = 0; i < 3; ++i) {
    if (apps || !used(*this, i) || !sizes[i].empty() || range_high[i] % range_low[i] == 0) continue;
    return fmt::format("bsrange: {} B is never drawn: sizes are multiples of {} B, up to {} B", range_high[i],
                       range_low[i], range_high[i] / range_low[i] * range_low[i]);
  }
  return "";
}

std::vector<std::string> GeneratorPlan::alone_options(bool at_end) const {
  constexpr std::size_t k_trim = 2;
  if (apps) return {};
  std::vector<std::string> options;
  if (used(*this, k_trim)) options.emplace_back("rw");
  if (fsync != 0) options.emplace_back("fsync");
  if (fdatasync != 0) options.emplace_back("fdatasync");
  if (at_end) options.emplace_back("end_fsync");
  return options;
}

std::optional<WritePattern> GeneratorPlan::writes() const {
  constexpr std::size_t k_write = 1;
  if (!used(*this, k_write)) return std::nullopt;
  WritePattern pattern;
  pattern.random = random && random_percent[k_write] == 100;
  pattern.uniform = pattern.random && repeats && distribution.kind == DistributionSpec::Kind::random;
  pattern.offset = offset;
  pattern.size = size;
  pattern.largest = range_high[k_write];
  for (const SizeShare& share : sizes[k_write])
    if (share.percent > 0) pattern.largest = std::max(pattern.largest, share.bytes);
  return pattern;
}

GeneratorPlan plan_generator(const GeneratorConfig& config, const DriveSize& drive, FioUnits units,
                             std::uint32_t job) {
  GeneratorPlan plan;
  plan_direction(plan, config);
  plan_sizes(plan, config, units);
  plan_region(plan, config, drive, units, job);
  check_blocks(plan, config, drive.lba_bytes, units);
  if (drive.file_size != 0 && !drive.apps) check_files(plan, config, drive.file_size);
  plan_rates(plan, config, units);
  plan_shares(plan, config, units);
  plan.apps = drive.apps;
  if (drive.apps) {
    check_lives(plan, config, drive);
  } else if (plan.distribution.kind == DistributionSpec::Kind::lives) {
    throw refusal("random_distribution",
                  "lives are those of files of apps (target: files, and file_cache.apps)", "random");
  }
  plan.repeats = config.norandommap;
  plan_end(plan, config, units);
  if (units != FioUnits::scenario) plan_loops(plan, config);
  plan.fsync = config.fsync;
  plan.fdatasync = config.fdatasync;
  plan.force_unit_access = config.force_unit_access;
  return plan;
}

}  // namespace tlmssd
