"""Kernels of a test."""
