#pragma once
// Marks what the shared library offers; everything else is hidden.
#define SAGEKIT_API __attribute__((visibility("default")))
