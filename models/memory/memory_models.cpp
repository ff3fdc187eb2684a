#include "models/memory/memory_model.h"

namespace tlmssd {

MemoryFamily& memory_models() {
  static MemoryFamily family;
  return family;
}

std::unique_ptr<MemoryModel> MemoryChoice::made(const MemoryContext& context) const {
  if (make) return make(context);
  const NoValues none;
  return memory_models().make(model, values != nullptr ? *values : none, context);
}

}  // namespace tlmssd
