// The intrusive queue and the pool on it, against std::deque, and with items planted twice.
#include "models/base/intrusive_queue.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/base/slab.h"

namespace tlmssd {
namespace {

struct OneWay {
  int number = 0;
  OneWay* next = nullptr;
};
struct BothWays {
  int number = 0;
  BothWays* next = nullptr;
  BothWays* previous = nullptr;
};

template <class Item>
std::vector<int> numbers(const IntrusiveQueue<Item>& queue) {
  std::vector<int> result;
  for (const Item& item : queue) result.push_back(item.number);
  return result;
}

TEMPLATE_TEST_CASE("a random sequence of calls leaves the queue as it leaves a deque", "", OneWay, BothWays) {
  std::array<TestType, 40> items;
  for (int i = 0; i < 40; ++i) items[static_cast<std::size_t>(i)].number = i;
  std::vector<TestType*> out;
  for (TestType& item : items) out.push_back(&item);
  IntrusiveQueue<TestType> queue;
  std::deque<TestType*> model;
  std::mt19937 random(7);
  for (int step = 0; step < 20'000; ++step) {
    const unsigned choice = random() % 5;
    if (choice < 2 && !out.empty()) {
      TestType& item = *out.back();
      out.pop_back();
      if (choice == 0) {
        queue.push(item);
        model.push_back(&item);
      } else {
        queue.push_front(item);
        model.push_front(&item);
      }
    } else if (choice == 2 && !model.empty()) {
      REQUIRE(&queue.pop() == model.front());
      out.push_back(model.front());
      model.pop_front();
      REQUIRE(out.back()->next == nullptr);
    } else if (choice == 3 && !model.empty()) {
      if constexpr (std::is_same_v<TestType, BothWays>) {
        const auto at = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
        queue.erase(**at);
        out.push_back(*at);
        model.erase(at);
      }
    } else if (choice == 4) {
      IntrusiveQueue<TestType> moved = std::move(queue);
      queue = std::move(moved);
      REQUIRE(moved.empty());
    }
    REQUIRE(queue.size() == model.size());
    REQUIRE(queue.empty() == model.empty());
    REQUIRE(queue.front() == (model.empty() ? nullptr : model.front()));
    REQUIRE(queue.back() == (model.empty() ? nullptr : model.back()));
    REQUIRE(std::equal(queue.begin(), queue.end(), model.begin(), model.end(),
                       [](const TestType& item, const TestType* expected) { return &item == expected; }));
  }
}

TEMPLATE_TEST_CASE("an item that is in a queue cannot be put into one again", "", OneWay, BothWays) {
  TestType a{1};
  TestType b{2};
  IntrusiveQueue<TestType> queue;
  IntrusiveQueue<TestType> other;
  queue.push(a);
  REQUIRE_THROWS_AS(queue.push(a), std::logic_error);  // the only one: its link says so, too
  queue.push(b);
  for (TestType* item : {&a, &b}) {
    REQUIRE_THROWS_AS(queue.push(*item), std::logic_error);
    REQUIRE_THROWS_AS(queue.push_front(*item), std::logic_error);
    REQUIRE_THROWS_AS(other.push(*item), std::logic_error);
    REQUIRE_THROWS_AS(other.push_front(*item), std::logic_error);
  }
  REQUIRE(numbers(queue) == std::vector{1, 2});
  REQUIRE(other.empty());
  other.push(queue.pop());
  REQUIRE(numbers(queue) == std::vector{2});
  REQUIRE(numbers(other) == std::vector{1});
}

TEST_CASE("an item that is in no queue cannot be taken out of one") {
  BothWays item;
  IntrusiveQueue<BothWays> queue;
  REQUIRE_THROWS_AS(queue.erase(item), std::logic_error);
  queue.push(item);
  queue.erase(item);
  REQUIRE_THROWS_AS(queue.erase(item), std::logic_error);
  REQUIRE(queue.empty());
}

TEST_CASE("a pool hands out what was given back last, and refuses what it has already") {
  Pool<OneWay> pool;
  OneWay& a = pool.take();
  OneWay& b = pool.take([] { return std::make_unique<OneWay>(OneWay{9}); });
  REQUIRE(b.number == 9);
  REQUIRE(pool.all().size() == 2);
  pool.give(a);
  REQUIRE_THROWS_AS(pool.give(a), std::logic_error);
  pool.give(b);
  REQUIRE(&pool.take() == &b);
  REQUIRE(&pool.take() == &a);
  IntrusiveQueue<OneWay> queue;
  queue.push(a);
  REQUIRE_THROWS_AS(pool.give(a), std::logic_error);
  REQUIRE(&pool.take() != &a);
  REQUIRE(pool.all().size() == 3);
}

}  // namespace
}  // namespace tlmssd
