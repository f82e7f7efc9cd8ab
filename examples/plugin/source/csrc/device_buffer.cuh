// Device memory that frees itself, and the one macro both kernels' host code needs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#define RETURN_IF_FAILED(call)                          \
  do {                                                  \
    const cudaError_t status = (call);                  \
    if (status != cudaSuccess) return int(status);      \
  } while (false)

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(m_data); }

  cudaError_t allocate(std::size_t count) {
    return cudaMalloc(reinterpret_cast<void**>(&m_data), count * sizeof(float));
  }
  cudaError_t copy_from(const float* host, std::size_t count) {
    return cudaMemcpy(m_data, host, count * sizeof(float), cudaMemcpyHostToDevice);
  }
  cudaError_t copy_to(float* host, std::size_t count) const {
    return cudaMemcpy(host, m_data, count * sizeof(float), cudaMemcpyDeviceToHost);
  }
  float* data() const { return m_data; }

 private:
  float* m_data = nullptr;
};
