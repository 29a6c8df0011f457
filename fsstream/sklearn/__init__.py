"""scikit-learn estimators; needs `pip install 'fsstream[sklearn]'`.

>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.pipeline import make_pipeline
>>> from fsstream.sklearn import HashedTextSelector
>>> words = make_pipeline(HashedTextSelector(k=2), LogisticRegression())
>>> mails = ["free money", "free offer", "see you at work", "work and money"]
>>> words.fit(mails, ["spam", "spam", "ham", "ham"]).predict(["a free meal"]).tolist()
['spam']
>>> sorted(words[0].get_feature_names_out())
['free', 'work']
"""

from __future__ import annotations

from fsstream.errors import UsageError

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError:
    raise UsageError("fsstream.sklearn needs scikit-learn", hint="pip install 'fsstream[sklearn]'") from None

from fsstream.sklearn.features import SparseRandomFeatures
from fsstream.sklearn.selectors import BudgetedSelector, FGMSelector, MissionSelector, SubstitutionSelector
from fsstream.sklearn.text import HashedTextSelector

__all__ = [
    "BudgetedSelector",
    "FGMSelector",
    "HashedTextSelector",
    "MissionSelector",
    "SparseRandomFeatures",
    "SubstitutionSelector",
]
