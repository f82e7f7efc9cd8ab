// What the kernels take by value.
#pragma once

namespace guard {

struct Strides {
  long long head, row;
};

struct Arguments {
  const void *query, *key, *value;
  void* out;
  Strides strides;
  int heads, rows, columns;
  float scale;
};

}  // namespace guard
