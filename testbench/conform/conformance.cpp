#include "testbench/conform/conformance.h"

#include <algorithm>
#include <exception>

namespace tlmssd {

void Conformance::check(const std::string& what, const std::function<std::string()>& work) {
  Finding finding{what, {}, {}};
  findings_.push_back(finding);
  try {
    finding.wrong = work();
  } catch (const std::exception& error) {
    finding.wrong = std::string("threw: ") + error.what();
  } catch (...) {
    finding.wrong = "threw something that is no std::exception";
  }
  findings_.back().wrong = finding.wrong;
}

void Conformance::add(const Conformance& other) {
  findings_.insert(findings_.end(), other.findings_.begin(), other.findings_.end());
}

bool Conformance::passed() const {
  return std::all_of(findings_.begin(), findings_.end(),
                     [](const Finding& finding) { return finding.wrong.empty(); });
}

bool Conformance::failed(const std::string& what) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const Finding& finding) { return finding.check == what && !finding.wrong.empty(); });
}

std::string Conformance::text() const {
  std::size_t width = 0;
  for (const Finding& finding : findings_) width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : findings_) {
    std::string line = (finding.wrong.empty() ? "ok    " : "WRONG ") + finding.check;
    const std::string& more = finding.wrong.empty() ? finding.note : finding.wrong;
    if (!more.empty()) line += std::string(width + 6 - line.size(), ' ') + "  " + more;
    text += line + "\n";
  }
  return text;
}

}  // namespace tlmssd
