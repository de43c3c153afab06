// Numbers of kernels whose every operation is written out with its rounding, so that all of them give the same bits: REAL is float or double.
#pragma once

#ifndef REAL
#define REAL float
#endif

typedef REAL real;
typedef unsigned char u8;
typedef unsigned int u32;

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }
__device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

// Launches overlap: each waits for the one before where it first reads what that one writes, and only then lets the next one start, which therefore finds
// done what was put in before its predecessor. Devices before compute capability 9.0 know neither instruction, and run one launch after the other.
__device__ __forceinline__ void wait_for_launch_before() { asm volatile("// griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_next_launch_start() { asm volatile("// griddepcontrol.launch_dependents;" ::: "memory"); }
