// What the cache policies that give up lines by last use have in common.
#pragma once

#include "firmware/cache/cache_policy.h"
#include "firmware/cache/lru_order.h"

namespace tlmssd::firmware {

class LruPolicy : public CachePolicy {
 public:
  LruPolicy(const CacheContext& context, const LruOrder::Preferences& preferences)
      : order_(context.store, preferences) {}

  bool admits_write(Lpn /*unit*/) override { return true; }
  bool admits_read(Lpn /*unit*/) override { return true; }
  [[nodiscard]] double keep_free() const override { return 0; }
  void added(Index line, bool /*write*/) override { order_.push(line); }
  void used(Index line, bool /*write*/) override { order_.push(line); }
  void removed(Index line) override { order_.remove(line); }
  void restored(Index line) override { order_.push(line); }
  void prefetch(Index line) const override { order_.prefetch(line); }
  Index victim() override { return order_.victim(); }
  void archive(Archive& archive) override { order_.archive(archive); }

 private:
  LruOrder order_;
};

}  // namespace tlmssd::firmware
