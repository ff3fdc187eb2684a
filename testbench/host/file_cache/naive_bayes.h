// Naive Bayes with counts: which class something has by features that it shows, learned one example
// at a time.
//
// With n examples so far, n_c of class c and n_cv of them with value v of a feature that has V:
//   P(c | v1, v2, ...) ~ (n_c + 1) / (n + C) * product of (n_cv + 1) / (n_c + V)
// Laplace's rule of succession throughout, so that nothing learned means all classes alike. Learning
// is O(features), a posterior O(classes * features).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/archive.h"

namespace tlmssd {

class NaiveBayes {
 public:
  /// `values`: how many values each feature has.
  NaiveBayes(std::size_t classes, std::vector<std::uint32_t> values)
      : values_(std::move(values)), of_class_(classes, 0) {
    for (const std::uint32_t count : values_) counts_.emplace_back(classes * count, 0);
  }

  /// An example of a class. Features must be below their numbers of values.
  void learn(std::size_t of_class, std::span<const std::uint32_t> features) {
    ++of_class_[of_class];
    for (std::size_t f = 0; f < values_.size(); ++f) ++counts_[f][of_class * values_[f] + features[f]];
  }
  [[nodiscard]] std::uint64_t examples() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : of_class_) all += count;
    return all;
  }
  /// Probability of each class before anything is seen of it.
  [[nodiscard]] std::vector<double> prior() const {
    std::vector<double> result;
    const double all = static_cast<double>(examples() + of_class_.size());
    for (const std::uint64_t count : of_class_) result.push_back(static_cast<double>(count + 1) / all);
    return result;
  }
  /// Probability of each class; they add up to 1.
  [[nodiscard]] std::vector<double> posterior(std::span<const std::uint32_t> features) const {
    std::vector<double> result = prior();
    for (std::size_t c = 0; c < result.size(); ++c) {
      double logarithm = std::log(result[c]);
      for (std::size_t f = 0; f < values_.size(); ++f) {
        const std::uint64_t seen = counts_[f][c * values_[f] + features[f]];
        logarithm += std::log(static_cast<double>(seen + 1) / static_cast<double>(of_class_[c] + values_[f]));
      }
      result[c] = logarithm;
    }
    const double most = *std::max_element(result.begin(), result.end());
    double sum = 0;
    for (double& one : result) sum += one = std::exp(one - most);
    for (double& one : result) one /= sum;
    return result;
  }

  void archive(Archive& a) {
    a(of_class_);
    for (std::vector<std::uint64_t>& counts : counts_) a(counts);
  }

 private:
  std::vector<std::uint32_t> values_;
  std::vector<std::uint64_t> of_class_;
  std::vector<std::vector<std::uint64_t>> counts_;  ///< by feature: class * values + value
};

}  // namespace tlmssd
