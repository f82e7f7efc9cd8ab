#pragma once
// Propagation for Result<T>; std::expected of libstdc++ 12 has no monadic operations.

#define SAGEKIT_CONCAT_(a, b) a##b
#define SAGEKIT_CONCAT(a, b) SAGEKIT_CONCAT_(a, b)

/// Returns the error of a failed Status or Result.
#define TRY(expression)                                                                                     \
  do {                                                                                                      \
    if (auto try_result = (expression); !try_result) return std::unexpected(std::move(try_result).error()); \
  } while (false)

/// TRY_ASSIGN(auto x, f()): returns f's error, or goes on with x = its value.
#define TRY_ASSIGN(target, expression) TRY_ASSIGN_(SAGEKIT_CONCAT(try_value_, __LINE__), target, expression)
#define TRY_ASSIGN_(name, target, expression)                 \
  auto name = (expression);                                   \
  if (!name) return std::unexpected(std::move(name).error()); \
  target = std::move(*name)
