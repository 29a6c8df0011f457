"""numpy, loaded when something is first asked of it; and numbers that need no numpy.

Loading numpy takes longer than all else that a plain `select` of a small file does, and it can do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from array import array

    import numpy as np
    from numpy.typing import NDArray

    Numbers = memoryview[Any] | array[Any] | NDArray[Any]  # wherever they lie
    Floats = memoryview[float] | array[float] | NDArray[np.float32]  # of 32 bits each
else:

    class _Numpy:
        """Stands for the module, in the modules that every run imports."""

        def __getattr__(self, name: str) -> Any:
            import numpy as np

            found = getattr(np, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
