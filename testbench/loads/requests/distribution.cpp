// Where random requests go.
#include "testbench/loads/requests/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "models/base/mixing.h"
#include "testbench/loads/text/fio_units.h"

namespace tlmssd {

Permutation::Permutation(std::uint64_t size, std::uint64_t key) : size_(std::max<std::uint64_t>(size, 1)) {
  RandomStream keys(key, "permutation");
  for (std::uint64_t& round : keys_) round = keys();
  half_bits_ = std::max(1U, (static_cast<unsigned>(std::bit_width(size_ - 1)) + 1) / 2);
}

std::uint64_t Permutation::once(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & mask;
  for (const std::uint64_t key : keys_) {
    std::uint64_t hash = (right + key) * k_golden;
    hash ^= hash >> 32U;
    hash *= 0xD6E8FEB86659FD93U;
    const std::uint64_t next = left ^ ((hash >> 32U) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

namespace {

/// (exp(x) - 1) / x and log(1 + x) / x, also near 0.
double expm1_over(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2 * (1 + x / 3);
}
double log1p_over(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x * (0.5 - x / 3);
}

}  // namespace

ZipfRanks::ZipfRanks(std::uint64_t n, double theta) : n_(std::max<std::uint64_t>(n, 1)), theta_(theta) {
  low_ = h_integral(1.5) - 1;
  high_ = h_integral(static_cast<double>(n_) + 0.5);
  squeeze_ = 2 - h_integral_inverse(h_integral(2.5) - h(2));
}

double ZipfRanks::h(double x) const {
  return std::exp(-theta_ * std::log(x));
}

double ZipfRanks::h_integral(double x) const {
  const double log_x = std::log(x);
  return expm1_over((1 - theta_) * log_x) * log_x;
}

double ZipfRanks::h_integral_inverse(double x) const {
  const double t = std::max(x * (1 - theta_), -1.0);
  return std::exp(log1p_over(t) * x);
}

std::uint64_t ZipfRanks::draw(RandomStream& random) const {
  for (;;) {
    const double u = high_ + random.uniform() * (low_ - high_);
    const double x = h_integral_inverse(u);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(n_));
    if (k - x <= squeeze_ || u >= h_integral(k + 0.5) - h(k)) return static_cast<std::uint64_t>(k) - 1;
  }
}

namespace {

std::vector<DistributionSpec::Zone> parse_zones(const std::string& text) {
  std::vector<DistributionSpec::Zone> zones;
  std::uint64_t access = 0;
  std::uint64_t size = 0;
  for (const std::string& part : split_text(text, ':')) {
    const auto pair = split_text(part, '/');
    const auto a = pair.size() == 2 ? fio_number(pair[0]) : std::nullopt;
    const auto s = pair.size() == 2 ? fio_number(pair[1]) : std::nullopt;
    if (!a || !s || *a > 100 || *s > 100) {
      throw std::invalid_argument("zone \"" + part +
                                  "\" is not of the form access/size in whole per cent (60/10)");
    }
    zones.push_back({static_cast<std::uint32_t>(*a), static_cast<std::uint32_t>(*s)});
    access += *a;
    size += *s;
  }
  if (access != 100 || size != 100) {
    throw std::invalid_argument(fmt::format(
        "zones cover {} % of the accesses and {} % of the size, expected 100 % of each", access, size));
  }
  return zones;
}

void parse_zoned(DistributionSpec& spec, const std::string& text) {
  const auto directions = split_text(text, ',');
  if (directions.empty() || directions.size() > 3) {
    throw std::invalid_argument("zoned needs zones of the form access/size, as zoned:60/10:40/90");
  }
  for (std::size_t i = 0; i < 3; ++i)
    spec.zones[i] = parse_zones(directions[std::min(i, directions.size() - 1)]);
}

}  // namespace

DistributionSpec parse_distribution(const std::string& text, bool knows_lives) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  DistributionSpec spec;
  if (name == "random") {
    if (!rest.empty()) throw std::invalid_argument("random takes no parameter");
    return spec;
  }
  if (name == "lives" && knows_lives) {
    if (!rest.empty()) throw std::invalid_argument("lives takes no parameter");
    spec.kind = DistributionSpec::Kind::lives;
    return spec;
  }
  if (name == "zoned") {
    spec.kind = DistributionSpec::Kind::zoned;
    parse_zoned(spec, rest);
    return spec;
  }
  double low = 0;
  double high = 0;
  if (name == "zipf") {
    spec.kind = DistributionSpec::Kind::zipf;
    spec.parameter = 1.1;
    high = 10;
  } else if (name == "pareto") {
    spec.kind = DistributionSpec::Kind::pareto;
    spec.parameter = 0.2;
    high = 1;
  } else if (name == "normal") {
    spec.kind = DistributionSpec::Kind::normal;
    high = 100;
  } else {
    throw std::invalid_argument("\"" + name +
                                "\" is unknown, expected random, zipf:theta, pareto:h, normal:deviation" +
                                (knows_lives ? ", zoned:... or lives" : " or zoned:..."));
  }
  if (rest.empty() && name != "normal") return spec;
  const auto value = fio_real(rest);
  if (!value || *value <= low || *value > high || (name == "pareto" && *value >= 1)) {
    throw std::invalid_argument(fmt::format("{}: \"{}\" is not a number above {} and {} {}", name, rest, low,
                                            name == "pareto" ? "below" : "at most", high));
  }
  spec.parameter = *value;
  return spec;
}

Positions::Positions(const DistributionSpec& spec, std::uint64_t blocks, bool repeats, std::uint64_t seed)
    : spec_(spec),
      blocks_(blocks),
      repeats_(repeats),
      seed_(seed),
      random_(seed, "positions"),
      permutation_(blocks, spec.hot_set == 0 || !spec.prefers_places()
                               ? seed
                               : RandomStream(spec.hot_set, "hot set")()),
      zipf_(blocks, spec.kind == DistributionSpec::Kind::zipf ? spec.parameter : 1) {
  if (spec.kind == DistributionSpec::Kind::pareto)
    pareto_power_ = std::log(spec.parameter) / std::log(1 - spec.parameter);
}

std::uint64_t Positions::draw(unsigned direction) {
  switch (spec_.kind) {
    case DistributionSpec::Kind::zipf:
      return permutation_.at(zipf_.draw(random_));
    case DistributionSpec::Kind::pareto: {
      const double rank = static_cast<double>(blocks_) * std::pow(random_.uniform(), pareto_power_);
      return permutation_.at(std::min(static_cast<std::uint64_t>(rank), blocks_ - 1));
    }
    case DistributionSpec::Kind::normal:
      return permutation_.at(normal());
    case DistributionSpec::Kind::zoned:
      return zoned(direction);
    case DistributionSpec::Kind::random:
    case DistributionSpec::Kind::lives:  // a generator asks FileLives
      break;
  }
  if (repeats_) return random_.below(blocks_);
  if (drawn_ == blocks_) {
    drawn_ = 0;
    permutation_ = Permutation(blocks_, ++seed_);
  }
  return permutation_.at(drawn_++);
}

std::uint64_t Positions::zoned(unsigned direction) {
  std::uint64_t ticket = random_.below(100);
  std::uint64_t size_before = 0;
  for (const DistributionSpec::Zone& zone : spec_.zones[direction]) {
    if (ticket < zone.access) {
      const auto edge = [this](std::uint64_t percent) {
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(blocks_) * percent / 100);
      };
      const std::uint64_t first = std::min(edge(size_before), blocks_ - 1);
      const std::uint64_t end = std::max(edge(size_before + zone.size), first + 1);
      return first + random_.below(end - first);
    }
    ticket -= zone.access;
    size_before += zone.size;
  }
  return random_.below(blocks_);
}

std::uint64_t Positions::normal() {
  constexpr int k_draws = 12;
  double sum = 0;
  for (int i = 0; i < k_draws; ++i) sum += random_.uniform();
  const double middle = sum / k_draws;
  double shift = (random_.uniform() - 0.5) * std::min(spec_.parameter / 100, 0.5);
  while (middle + shift < 0 || middle + shift >= 1) shift /= 2;
  const auto size = static_cast<double>(blocks_);
  return std::min(static_cast<std::uint64_t>((middle + shift) * size), blocks_ - 1);
}

}  // namespace tlmssd
