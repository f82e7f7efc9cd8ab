#pragma once
// Which of the lines that were recognised is the cause, and what follows from it.

#include "causes/log_scan.hpp"

namespace sagekit {

/// What the scanned log comes to. `here`: facts that win over the log's.
Explanation first_cause(const LogScan& scan, const LogFacts& here);

}  // namespace sagekit
