// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/links.h"

namespace mlrun::exchange {

Links::Page* Links::find(Link link, int64_t proc_id, int64_t id) {
  const auto kind = size_t(link);
  const uint64_t key = page_key(proc_id, id);
  if (last_[kind] != nullptr && last_key_[kind] == key) return last_[kind];
  const auto found = pages_[kind].find(key);
  if (found == pages_[kind].end()) return nullptr;
  last_key_[kind] = key;
  return last_[kind] = found->second.get();
}

void Links::expect(Link link, int64_t proc_id, int64_t id) {
  Page* page = find(link, proc_id, id);
  if (page == nullptr) {
    Pages& pages = pages_[size_t(link)];
    const uint64_t number = pages.size();
    page = (pages[page_key(proc_id, id)] = std::make_unique<Page>(Page{.number = number})).get();
  }
  uint16_t& count = page->count_of(id);
  if (count < kMost) {
    ++count;
  } else {
    ++not_drawn_;
  }
}

void Links::begin(Link link, int64_t proc_id, int64_t id, std::vector<uint64_t>& arrows) {
  Page* page = find(link, proc_id, id);
  if (page == nullptr) return;
  uint16_t& count = page->count_of(id);
  if (count == 0 || (count & kOpen) != 0) return;
  for (uint16_t number = 0; number < count; ++number) arrows.push_back(arrow(link, page->id_of(id), number));
  count |= kOpen;
}

void Links::end(Link link, int64_t proc_id, int64_t id, std::vector<uint64_t>& arrows) {
  Page* page = find(link, proc_id, id);
  uint16_t* count = page == nullptr ? nullptr : &page->count_of(id);
  if (count == nullptr || (*count & kMost) == 0) {  // counted as not drawn by expect() (beyond kMost) or forget_open()
    return;
  }
  --*count;
  if ((*count & kOpen) == 0) {
    ++not_drawn_;
    return;
  }
  arrows.push_back(arrow(link, page->id_of(id), *count & kMost));
  ++drawn_;
}

void Links::forget_open() {
  for (Pages& pages : pages_) {
    for (auto& [key, page] : pages) {
      for (uint16_t& count : page->counts) {
        if ((count & kOpen) == 0) continue;
        not_drawn_ += count & kMost;
        count = 0;
      }
    }
  }
}

}  // namespace mlrun::exchange
