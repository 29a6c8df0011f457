// Soft thresholding: the step that an L1 penalty takes.
#pragma once

namespace fsstream {

// Nearer to 0 by so much, and not beyond it.
inline double soft_threshold(double x, double by) { return x > by ? x - by : (x < -by ? x + by : 0.0); }

}  // namespace fsstream
