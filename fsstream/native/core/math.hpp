// exp, log and log1p with the same bits on every machine: glibc's differ between versions
// and instruction sets. Fixed operations in a fixed order, no tables, no branches that
// would keep a loop over them from being vectorised. Errors: exp and log 0.9 ulp, log1p 1.3.
//
// Reductions and minimax coefficients are those of Sun's fdlibm (e_exp.c, e_log.c), freely
// usable with this notice: Copyright (C) 1993 Sun Microsystems, Inc. All rights reserved.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace fsstream {

namespace math {

inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// 2^k for k in [-1022, 1023].
inline double power_of_two(std::int64_t k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

// log(2^k m) for m in [sqrt(1/2), sqrt(2)].
inline double log_reduced(double k, double m) {
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3));
  const double odd =
      z * (0x1.5555555555593p-1 + w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3)));
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + (even + odd)) + k * kLn2Low)) - f);
}

}  // namespace math

// e^x; 0 below -745.2, infinity above 709.8, NaN for NaN.
inline double exp(double x) {
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, to nearest even
  const double bounded = x < -746.0 ? -746.0 : (x > 710.0 ? 710.0 : x);
  const double shifted = bounded * 0x1.71547652b82fep0 + kShift;
  const double k = shifted - kShift;
  const double high = bounded - k * math::kLn2High;
  const double low = k * math::kLn2Low;
  const double r = high - low;
  const double t = r * r;
  const double c =
      r - t * (0x1.555555555553ep-3 +
               t * (-0x1.6c16c16bebd93p-9 +
                    t * (0x1.1566aaf25de2cp-14 + t * (-0x1.bbd41c5d26bf1p-20 + t * 0x1.6376972bea4dp-25))));
  const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
  // Two factors, so that neither leaves the range of normal numbers.
  const auto power = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(shifted) & 0xfffff) -
                     static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(shifted) & 0x80000) << 1);
  const std::int64_t half = power >> 1;
  return y * math::power_of_two(half) * math::power_of_two(power - half);
}

// ln x for normal x > 0.
inline double log(double x) {
  // Moves [sqrt(1/2), sqrt(2)) to [1, 2) so that the exponent field splits the number there.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t moved = bits + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
  const auto k = static_cast<double>(static_cast<std::int64_t>(moved >> 52) - 1023);
  const double m = std::bit_cast<double>((moved & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL);
  return math::log_reduced(k, m);
}

// ln(1 + x) for x > -1, as good where x is tiny.
inline double log1p(double x) {
  const double u = 1.0 + x;
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  return log(u) + lost / u;
}

}  // namespace fsstream
