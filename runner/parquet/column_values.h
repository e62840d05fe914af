// SPDX-License-Identifier: Apache-2.0
// Values of a column until its row group ends, with their validity. While all values are equal, which is common, only
// one is stored.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace mlrun::tables {

// Which rows have a value. Bits are stored only if both kinds occur.
class Validity {
 public:
  void add_null(size_t rows_before) {
    if (nulls_ != rows_before) set(rows_before, false);
    ++nulls_;
  }
  void add_value(size_t rows_before) {
    if (nulls_ != 0) set(rows_before, true);
  }
  // Requires: no row has a value.
  void add_first_nulls(size_t count) { nulls_ += count; }
  void clear() {
    bits_.clear();
    nulls_ = 0;
  }
  [[nodiscard]] size_t nulls() const { return nulls_; }
  // One bit per row. Requires: there are nulls.
  const std::vector<uint8_t>& bits(size_t rows) {
    if (bits_.empty()) bits_.assign(rows / 8 + 1, 0);
    return bits_;
  }

 private:
  void set(size_t row, bool valid) {
    // Until this row, all rows had a value, or none had.
    if (bits_.empty()) bits_.assign(row / 8 + 1, valid ? 0x00 : 0xff);
    if (row / 8 >= bits_.size()) bits_.push_back(0);
    const auto bit = static_cast<uint8_t>(1u << (row % 8));
    bits_[row / 8] = static_cast<uint8_t>(valid ? bits_[row / 8] | bit : bits_[row / 8] & ~bit);
  }

  std::vector<uint8_t> bits_;
  size_t nulls_ = 0;
};

template <typename T>
class ColumnValues {
 public:
  void add(T value) {
    validity_.add_value(rows_);
    if (values_.empty()) {
      if (rows_ == validity_.nulls()) first_ = value;
      if (is_first(value)) {
        ++rows_;
        return;
      }
      values_.assign(rows_, first_);
    }
    values_.push_back(value);
    ++rows_;
  }
  // Calls get(i) for each of `count` rows.
  template <typename Get>
  void add_each(size_t count, Get get) {
    size_t i = 0;
    if (nulls() != 0) {
      for (; i < count; ++i) add(get(i));
      return;
    }
    if (values_.empty()) {
      if (rows_ == 0 && count != 0) first_ = get(0);
      while (i < count && is_first(get(i))) ++i;
      rows_ += i;
      if (i == count) return;
      values_.assign(rows_, first_);
    }
    values_.resize(rows_ + count - i);
    for (T* to = values_.data() + rows_; i < count; ++i) *to++ = get(i);
    rows_ = values_.size();
  }
  // Null if has(i) is false.
  template <typename Has, typename Get>
  void add_each_if(size_t count, Has has, Get get) {
    size_t i = 0;
    if (nulls() == rows_) {
      while (i < count && !has(i)) ++i;
      validity_.add_first_nulls(i);
      rows_ += i;
    }
    if (nulls() == 0) {
      const size_t first = i;
      while (i < count && has(i)) ++i;
      add_each(i - first, [&](size_t at) { return get(first + at); });
    }
    for (; i < count; ++i) has(i) ? add(get(i)) : add_null();
  }
  void add_null() {
    validity_.add_null(rows_);
    ++rows_;
    if (!values_.empty()) values_.push_back(T{});
  }
  void clear() {
    values_.clear();
    validity_.clear();
    rows_ = 0;
  }

  [[nodiscard]] size_t rows() const { return rows_; }
  Validity& validity() { return validity_; }
  [[nodiscard]] size_t nulls() const { return validity_.nulls(); }
  // Whether all values are equal (first()), or no row has a value.
  [[nodiscard]] bool alike() const { return values_.empty(); }
  [[nodiscard]] T first() const { return first_; }
  // One per row; undefined for rows without a value.
  const std::vector<T>& values() {
    if (values_.empty()) values_.assign(rows_, first_);
    return values_;
  }

 private:
  // Compares bytes: +0 and -0, or two NaNs, may differ.
  [[nodiscard]] bool is_first(T value) const {
    using Bits = std::conditional_t<sizeof(T) == sizeof(uint64_t), uint64_t, uint32_t>;
    return std::bit_cast<Bits>(value) == std::bit_cast<Bits>(first_);
  }

  std::vector<T> values_;  // empty while all values are equal
  T first_{};
  size_t rows_ = 0;
  Validity validity_;
};

}  // namespace mlrun::tables
