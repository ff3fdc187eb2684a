#include "models/flash/ecc/ecc_engines.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

[[noreturn]] void refuse_probability(EccCode code, std::uint32_t wrong, double probability) {
  throw InputError("ECC code " + std::string(ecc_code_name(code)) + " answers a probability of failure of " +
                   fmt::format("{}", probability) + ", which is none of 0 to 1, to a frame with " +
                   std::to_string(wrong) + " wrong bits");
}

/// Draws only where there is something to draw.
bool fails_by(EccCode code, const CodeConfig& config, std::uint32_t wrong, RandomStream& random) {
  const double probability = wrong == 0 ? 0 : config.failure(config, wrong);
  if (!(probability >= 0 && probability <= 1)) refuse_probability(code, wrong, probability);
  return probability > 0 && (probability >= 1 || random.uniform() < probability);
}

}  // namespace

EccEngines::EccEngines(const EccConfig& config, std::uint64_t seed)
    : config_(config),
      free_at_(decoder_of(static_cast<EccCode>(ecc_codes() - 1)) + 1),
      random_(seed, "ecc decoders"),
      carried_(free_at_.size()) {
  for (std::size_t code = 0; code < ecc_codes(); ++code) {
    const CodeConfig& c = config_.codes[code];
    if (c.throughput > 0) frame_time_[code] = transfer_time(config_.frame, c.throughput);
  }
  for (auto& engines : free_at_) engines.resize(config_.engines);
}

PlaneVerdict EccEngines::decode(EccCode code, const PageRead& page, std::uint32_t frames,
                                std::span<const std::uint32_t> errors, bool by_default,
                                const FailedSlots* failed) {
  const CodeConfig& c = config_.of(code);
  Counts& counts = counts_[static_cast<std::size_t>(code)];
  const double correctable = config_.predicts(c) ? config_.prediction->correctable(c.side, page)
                                                 : static_cast<double>(c.correctable);
  // Beyond eight standard deviations there is nothing to draw, nor where no bit is wrong.
  const double width = c.waterfall * correctable;
  const double sure = std::max(correctable - 8 * width, 0.0);
  PlaneVerdict verdict;
  std::uint64_t corrected = 0;
  for (std::size_t frame = 0; frame < errors.size(); ++frame) {
    const std::uint32_t wrong = errors[frame];
    verdict.worst = std::max(verdict.worst, wrong);
    verdict.wrong += wrong;
    const bool fails =
        c.failure != nullptr
            ? fails_by(code, c, wrong, random_)
            : wrong > sure && wrong > (width > 0 ? correctable + width * random_.normal() : sure);
    if (fails) {
      ++verdict.failed;
      if (failed != nullptr)
        failed->slots.add(failed->first + static_cast<std::uint32_t>(frame) / failed->per_slot);
    } else {
      corrected += wrong;
    }
  }
  ++counts.pages;
  counts.frames += frames;
  for (RawErrors* const raw : {&all_, by_default ? &raw_[page.slc ? 1 : 0] : nullptr}) {
    if (raw == nullptr) continue;
    raw->frames += frames;
    raw->errors += verdict.wrong;
  }
  counts.corrected_bits += corrected;
  counts.correctable += correctable;
  if (counts.least_correctable == 0 || correctable < counts.least_correctable)
    counts.least_correctable = correctable;
  counts.failed_frames += verdict.failed;
  if (verdict.failed > 0) ++counts.failed_pages;
  return verdict;
}

EccEngines::Slot EccEngines::reserve(EccCode code, std::uint32_t frames, Picoseconds ready) {
  auto& engines = free_at_[decoder_of(code)];
  Picoseconds& engine = *std::min_element(engines.begin(), engines.end());
  const Picoseconds start = std::max(engine, ready);
  const Picoseconds work = frames * frame_time_[static_cast<std::size_t>(code)];
  engine = start + work;
  Counts& counts = counts_[static_cast<std::size_t>(code)];
  counts.wait_time += start - ready;
  counts.busy += work;
  counts.decode_time += work + config_.of(code).latency;
  return {start, start + work + config_.of(code).latency};
}

bool EccEngines::provides(Decoder decoder) const {
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (provided_.has(code) && decoder_of(code) == decoder) return true;
  }
  return false;
}

std::uint64_t EccEngines::gates() const {
  std::uint64_t one = (provides(k_bch) ? config_.bch_gates : 0) + (provides(k_ldpc) ? config_.ldpc_gates : 0);
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (provided_.has(code) && decoder_of(code) > k_ldpc) one += config_.of(code).gates;
  }
  return one * config_.engines;
}

void EccEngines::report(StatisticsSink& sink, Picoseconds now) const {
  sink.value("gates", gates(), "gates", "logic gates of all decoders, BCH and LDPC, that the policy needs");
  const auto bits = [this](std::uint64_t frames) {
    return static_cast<double>(frames) * config_.frame_bits();
  };
  const auto& [native, slc] = raw_;
  sink.value(
      "raw bit error rate",
      quotient(static_cast<double>(native.errors + slc.errors), bits(native.frames + slc.frames)), "",
      "wrong bits of all bits that the first attempts at pages brought, at the default read voltages; no "
      "value where there were none");
  sink.value(
      "bit error rate of all attempts", ratio(static_cast<double>(all_.errors), bits(all_.frames)), "",
      "wrong bits of all bits that came to the decoders, those of retries and of shifted voltages too");
  if (slc.frames > 0) {
    sink.value("raw bit error rate slc", quotient(static_cast<double>(slc.errors), bits(slc.frames)), "",
               "the same of what was read from blocks in SLC mode");
    sink.value("raw bit error rate native", quotient(static_cast<double>(native.errors), bits(native.frames)),
               "", "the same of what was read from native blocks");
  }
  if (further_senses_ > 0) {
    sink.value("further senses", further_senses_, "pages",
               "sensed and transferred only because the code asks for them: all but one sense of each read");
    sink.value("further senses of first attempts", further_at_first_, "pages",
               "of these, those of reads that had not failed before");
  }
  const auto mean = [](Picoseconds time, std::uint64_t number) {
    return number == 0 ? 0.0 : static_cast<double>(time) / static_cast<double>(number) * 1e-6;
  };
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const Counts& c = counts_[i];
    if (c.pages == 0) continue;
    sink.open(ecc_code_name(static_cast<EccCode>(i)), "pages decoded with this code");
    sink.value("pages", c.pages, "", "pages decoded, one of each plane of a read, failures included");
    sink.value("frames", c.frames, "", "frames of these");
    sink.value("failed_pages", c.failed_pages, "", "pages with a frame that could not be decoded");
    sink.value("failed_frames", c.failed_frames, "", "frames that could not be decoded");
    sink.value("corrected_bits", c.corrected_bits, "", "wrong bits corrected");
    if (config_.predicts(config_.codes[i])) {
      sink.value("mean_correctable", c.correctable / static_cast<double>(c.pages), "",
                 "wrong bits of a frame that the error prediction lets it correct, mean over the pages");
      sink.value("least_correctable", c.least_correctable, "", "the same of the page where they are fewest");
    }
    sink.value("mean_decode", mean(c.decode_time, c.pages), "us",
               "mean time to decode a page, without waiting");
    sink.value("mean_wait", mean(c.wait_time, c.pages), "us", "mean wait of a page for a free engine");
    sink.close();
  }
  report_use(sink, k_bch, "bch_utilisation", now);
  report_use(sink, k_ldpc, "ldpc_utilisation", now);
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (decoder_of(code) > k_ldpc)
      report_use(sink, decoder_of(code), std::string(ecc_code_name(code)) + "_utilisation", now);
  }
}

void EccEngines::report_use(StatisticsSink& sink, Decoder decoder, const std::string& name,
                            Picoseconds now) const {
  if (!provides(decoder)) return;
  const double time = static_cast<double>(now - since_) * config_.engines;
  sink.value(name, ratio(static_cast<double>(busy(decoder, now)), time), "",
             "share of these decoders' time spent decoding");
}

void EccEngines::tell_busy(BusySink& sink, Picoseconds now) const {
  if (provides(k_bch)) sink.busy("BCH decoders", busy(k_bch, now), config_.engines);
  if (provides(k_ldpc)) sink.busy("LDPC decoders", busy(k_ldpc, now), config_.engines);
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (const Decoder decoder = decoder_of(code); decoder > k_ldpc && provides(decoder))
      sink.busy(std::string(ecc_code_name(code)) + " decoders", busy(decoder, now), config_.engines);
  }
}

Picoseconds EccEngines::busy(Decoder decoder, Picoseconds now) const {
  Picoseconds sum = carried_[decoder];
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    if (decoder_of(static_cast<EccCode>(i)) == decoder) sum += counts_[i].busy;
  }
  return sum - ahead(decoder, now);
}

Picoseconds EccEngines::ahead(Decoder decoder, Picoseconds now) const {
  Picoseconds sum = 0;
  for (const Picoseconds free : free_at_[decoder]) sum += booked_ahead(free, now);
  return sum;
}

void EccEngines::reset_statistics(Picoseconds now) {
  for (Decoder decoder = 0; decoder < free_at_.size(); ++decoder) carried_[decoder] = ahead(decoder, now);
  since_ = now;
  counts_ = {};
  raw_ = {};
  all_ = {};
  further_senses_ = further_at_first_ = 0;
}

}  // namespace tlmssd
