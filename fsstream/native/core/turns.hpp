// cos with the same bits on every machine, of an angle counted in turns: cos(2 pi t).
//
// Counted in turns an angle is brought near zero by taking off the nearest integer, exactly.
#pragma once

#include <type_traits>

namespace fsstream {

// Error below 1e-7 in float, 1e-9 in double. Beyond 2^22 turns (2^51) an angle says nothing; it counts as 0.
template <class Real>
inline Real cosine_of_turns(Real t) {
  constexpr Real kLargest = std::is_same_v<Real, float> ? Real(4194304.0) : Real(2251799813685248.0);
  constexpr Real kShift = Real(1.5) * 2 * kLargest;  // adding it rounds to an integer
  const Real size = t < 0 ? -t : t;
  const Real bounded = size < kLargest ? t : Real(0);
  const Real f = bounded - ((bounded + kShift) - kShift);
  const Real c = Real(0.25) - (f < 0 ? -f : f);  // cos(2 pi f) = sin(2 pi c)
  const Real x = Real(6.283185307179586476925) * c;
  const Real z = x * x;
  // The series of the sine to x^13.
  return x + x * z *
                 (Real(-1.0 / 6) +
                  z * (Real(1.0 / 120) +
                       z * (Real(-1.0 / 5040) +
                            z * (Real(1.0 / 362880) + z * (Real(-1.0 / 39916800) + z * Real(1.0 / 6227020800.0))))));
}

}  // namespace fsstream
