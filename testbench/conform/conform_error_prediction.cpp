#include "testbench/conform/conform_error_prediction.h"

#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "testbench/conform/call_cost.h"
#include "testbench/conform/same_number.h"

namespace tlmssd {

namespace {

constexpr double k_longest_answer = 2000;  // ns
constexpr double k_slack = 1 + 1e-6;       // of what is worked out by halving

/// Every page type at rates from none to a half, by pages of the part and of SLC mode.
std::vector<PageRead> pages_of(std::uint32_t cell_bits) {
  constexpr int k_rates = 60;
  std::vector<PageRead> pages;
  for (const std::uint32_t bits : {cell_bits, 1U}) {
    for (std::uint32_t type = 0; type < bits; ++type) {
      pages.push_back({bits, type, 0});
      for (int i = 0; i <= k_rates; ++i)
        pages.push_back({bits, type, 0.5 * std::pow(1e-9, 1 - static_cast<double>(i) / k_rates)});
    }
  }
  return pages;
}

std::string said(const PageRead& page, double answer) {
  return fmt::format("{:.1f} at a rate of {:.2e}, page type {} of {} bits", answer, page.rate, page.type,
                     page.cell_bits);
}

}  // namespace

Conformance conform_error_prediction(
    const std::function<std::unique_ptr<ErrorPrediction>(const PlainDecoder&)>& make,
    std::uint32_t cell_bits) {
  const PlainDecoder plain{82, 8 * (1024 + 105), cell_bits};
  const auto prediction = make(plain);
  const auto again = make(plain);
  const std::vector<PageRead> pages = pages_of(cell_bits);
  Conformance found;
  const auto every = [&](const char* words, auto complaint) {
    found.check(words, [&]() -> std::string {
      for (const PageRead& page : pages) {
        std::string wrong = complaint(page);
        if (!wrong.empty()) return wrong;
      }
      return {};
    });
  };
  every("told nothing, it corrects what the plain decoder does", [&](const PageRead& page) -> std::string {
    const double answer = prediction->correctable(SideInformation::none, page);
    return answer == plain.correctable ? "" : said(page, answer);
  });
  if (!found.passed()) return found;
  every("what it is told never costs, and half of the bits are the most",
        [&](const PageRead& page) -> std::string {
          for (const SideInformation side : {SideInformation::page, SideInformation::word_line}) {
            const double answer = prediction->correctable(side, page);
            if (!(answer * k_slack >= plain.correctable && answer <= plain.frame_bits / 2.0))
              return said(page, answer);
          }
          return {};
        });
  every("the word line is worth no less than the page", [&](const PageRead& page) -> std::string {
    const double answer = prediction->correctable(SideInformation::word_line, page);
    return answer * k_slack >= prediction->correctable(SideInformation::page, page) ? "" : said(page, answer);
  });
  found.check("the same question has the same answer", [&]() -> std::string {
    for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
      const double answer = again->correctable(SideInformation::word_line, *page);
      if (!same_number(answer, prediction->correctable(SideInformation::word_line, *page)))
        return said(*page, answer);
    }
    return {};
  });
  double nanoseconds = 0;
  found.check("a call takes at most 2 us", [&]() -> std::string {
    nanoseconds = nanoseconds_of_call(pages.size(), [&](std::size_t i) {
      return prediction->correctable(SideInformation::word_line, pages[i]);
    });
    return nanoseconds <= k_longest_answer ? "" : fmt::format("{:.0f} ns", nanoseconds);
  });
  found.note(fmt::format("{:.0f} ns", nanoseconds));
  return found;
}

}  // namespace tlmssd
